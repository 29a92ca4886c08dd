/** Which changes of a key are allowed: pure decisions over rows (specification 3.5). */

import { grants, lacking, managingScope } from '../auth/scopes.ts'
import { type Problem, problem, validationFailed } from '../kernel/errors.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { KeyRow } from './api-key.ts'

export function manages(scopes: readonly string[]): boolean {
  return grants(scopes, managingScope)
}

/** 403 when a key with `held` would grant a scope that it lacks; otherwise null. */
export function refuseGrant(held: readonly string[], wanted: readonly string[]): Problem | null {
  return refuseLacking(held, wanted, 'A key can grant only scopes that it holds')
}

/** 403 when a key with `held` would change or revoke another that holds more; otherwise null. */
export function refuseKeyChange(held: readonly string[], target: Pick<KeyRow, 'scopes'>): Problem | null {
  return refuseLacking(held, target.scopes, 'That key holds what this one does not')
}

function refuseLacking(held: readonly string[], wanted: readonly string[], why: string): Problem | null {
  const missing = lacking(held, wanted)
  if (missing.length === 0) return null
  return problem('insufficient_scope', `${why}: this needs a key with ${missing.join(', ')} as well.`)
}

/** A repeat authenticates again, with the key as it then is. */
export const callerChanged = problem(
  'unavailable',
  'The key that this request came with was changed or revoked meanwhile; nothing was done. Send it again.',
)

/** A key whose expiry was processed stays expired. `now` in milliseconds. */
export function hasExpired(row: Pick<KeyRow, 'expires_at' | 'expiry_settled_at'>, now: number): boolean {
  return row.expiry_settled_at !== null || (row.expires_at !== null && row.expires_at.getTime() <= now)
}

/** 422 when the expiry is not in the future. */
export function refuseExpiry(expiresAt: string | null, now: number): Problem | null {
  if (expiresAt === null || Date.parse(expiresAt) > now) return null
  const detail = `must be in the future: it is ${formatTimestamp(now)} now`
  return validationFailed([{ pointer: '/expiresAt', code: 'invalid_value', detail }])
}

/** 409 for a change that would revive an expired key. */
export function expiredAlready(row: Pick<KeyRow, 'expires_at'>): Problem {
  const when = row.expires_at === null ? '' : ` at ${formatTimestamp(row.expires_at.getTime())}`
  return problem(
    'invalid_transition',
    `The key has expired${when} and stays so. Make a new one, and DELETE this one.`,
  )
}

/** The row after a change (the same object when nothing changes), or a refusal. `sent`: the fields in the body. */
export function decideChange(
  held: readonly string[],
  row: KeyRow,
  change: {
    readonly draft: {
      readonly name: string
      readonly scopes: readonly string[]
      readonly expiresAt: string | null
    }
    readonly sent: ReadonlySet<string>
  },
  now: number,
): KeyRow | Problem {
  const { draft, sent } = change
  const refusal = refuseKeyChange(held, row) ?? refuseGrant(held, draft.scopes)
  if (refusal !== null) return refusal
  const expiresAt = draft.expiresAt === null ? null : new Date(draft.expiresAt)
  const moves = expiresAt?.getTime() !== row.expires_at?.getTime()
  if (sent.has('expiresAt') && moves) {
    if (hasExpired(row, now)) return expiredAlready(row)
    const past = refuseExpiry(draft.expiresAt, now)
    if (past !== null) return past
  }
  const isSame = !moves && draft.name === row.name && draft.scopes.join(' ') === row.scopes.join(' ')
  if (isSame) return row
  return {
    ...row,
    name: draft.name,
    scopes: draft.scopes,
    expires_at: expiresAt,
    updated_at: new Date(laterThan(row.updated_at, now)),
  }
}

/** A later `updatedAt` than `before`, even if the clock has not moved. */
export function laterThan(before: Date, now: number): number {
  return Math.max(now, before.getTime() + 1)
}
