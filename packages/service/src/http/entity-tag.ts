/** Conditional requests for objects (specification 13.2; RFC 9110, section 13). The tag is the `updatedAt`. */
import { type Problem, problem } from '../kernel/errors.ts'

export function entityTag(updatedAt: string): string {
  return `"${updatedAt}"`
}

/** Whether If-None-Match names this version. A weak tag counts too. */
export function matchesIfNoneMatch(header: string | undefined, updatedAt: string): boolean {
  if (header === undefined) return false
  return listed(header).some((tag) => tag === '*' || tag.replace(/^W\//, '') === entityTag(updatedAt))
}

/** Null when If-Match allows the request. */
export function checkIfMatch(header: string | undefined, updatedAt: string): Problem | null {
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
