/** ETag, If-None-Match and If-Match of stream objects (RFC 9110, section 13; specification 13.2): the tag is the `updatedAt`. */
import { type Problem, problem } from '../kernel/errors.ts'

/** The entity tag of a version. */
export function entityTag(updatedAt: string): string {
  return `"${updatedAt}"`
}

/** Whether If-None-Match names this version. Weak tags compare alike. */
export function holdsVersion(header: string | undefined, updatedAt: string): boolean {
  if (header === undefined) return false
  return listed(header).some((tag) => tag === '*' || tag.replace(/^W\//, '') === entityTag(updatedAt))
}

/** The refusal when If-Match names other versions than this; null when it allows the request. */
export function unmetPrecondition(header: string | undefined, updatedAt: string): Problem | null {
  if (header === undefined) return null
  if (listed(header).some((tag) => tag === '*' || tag === entityTag(updatedAt))) return null
  return problem(
    'version_mismatch',
    `If-Match does not name the current version, which is ${entityTag(updatedAt)}. Read the object again, then send the change with its current ETag.`,
  )
}

function listed(header: string): string[] {
  return header.split(',').map((tag) => tag.trim())
}
