/** Operations on keys (specification 3.4). Each is decided again when another change committed first. */
import { readJson } from '@deskwire/sdk/json'
import type { Caller } from '../auth/authenticator.ts'
import { grants, lacking, managingScope } from '../auth/scopes.ts'
import { hashToken, newToken } from '../auth/token.ts'
import { announced, type Directory } from '../databases/directory.ts'
import type { Database } from '../db/fair-pool.ts'
import { encodeResponse, type Sealed } from '../idempotency/stored-responses.ts'
import type { ResponseToStore } from '../journal/change.ts'
import type { CallUnderClock } from '../journal/journal.ts'
import { noSuch, type Problem, problem, validationFailed } from '../kernel/errors.ts'
import { text, timestamp, wordList } from '../kernel/fields/fields.ts'
import { parseCreation, parsePatch, type Shape } from '../kernel/fields/validate.ts'
import { newId, parseId } from '../kernel/ids.ts'
import { done, type Outcome, outcomeOf, refused, retryOnConflict } from '../kernel/outcome.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'
import { type KeyRecord, type KeyRow, keyFields, keyRecord } from './api-key.ts'
import {
  countKeys,
  createKeyFunction,
  dropPreviousFunction,
  findKey,
  revokeFunction,
  rotateKeyFunction,
  updateFunction,
} from './store.ts'

/** Whether a key with these scopes may manage keys. */
export function manages(scopes: readonly string[]): boolean {
  return grants(scopes, managingScope)
}

/** 403 when a key with `held` would grant a scope that it lacks; otherwise null. */
export function refuseGrant(held: readonly string[], wanted: readonly string[]): Problem | null {
  return refuseLacking(held, wanted, 'A key can grant only scopes that it holds')
}

/** 403 when a key with `held` would change or revoke another that holds more; otherwise null. */
function refuseKeyChange(held: readonly string[], target: Pick<KeyRow, 'scopes'>): Problem | null {
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
function refuseExpiry(expiresAt: string | null, now: number): Problem | null {
  if (expiresAt === null || Date.parse(expiresAt) > now) return null
  const detail = `must be in the future: it is ${formatTimestamp(now)} now`
  return validationFailed([{ pointer: '/expiresAt', code: 'invalid_value', detail }])
}

/** 409 for a change that would revive an expired key. */
function expiredAlready(row: Pick<KeyRow, 'expires_at'>): Problem {
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
function laterThan(before: Date, now: number): number {
  return Math.max(now, before.getTime() + 1)
}

export const keyLimit = 1_000
/** How long a replaced token still works, in milliseconds (specification 3.4). */
const tokenOverlap = 24 * 60 * 60 * 1_000

interface KeyServices {
  readonly database: Pick<Database, 'of'>
  readonly callUnderClock: CallUnderClock
  readonly clock: Clock
  readonly scopes: readonly string[]
  /** Encrypts a response that holds a token. */
  readonly seal: (answer: string, organizationId: string, apiKeyId: string) => Promise<Sealed>
  /** Wakes workers: endpoints were disabled. */
  readonly wake: () => void
  /** Records tokens before they are created. Null: this database has the directory itself, or there is none. */
  readonly directory?: Pick<Directory, 'note' | 'forgetTokens'> | null
}

/** The token is shown only once. */
type WithToken = KeyRecord & { readonly token: string }

/** `caller_changed`: the calling key was changed since the request was authenticated. */
type Changed = 'done' | 'conflict' | 'caller_changed'

interface Draft {
  readonly name: string
  readonly scopes: readonly string[]
  readonly expiresAt: string | null
}

export type Keys = ReturnType<typeof createKeys>

export function createKeys(services: KeyServices) {
  const { database, callUnderClock, clock, seal, wake, directory = null } = services
  const shape = keyShape(services.scopes)

  return {
    read,

    async create(caller: Caller, body: unknown, record: ResponseToStore | null): Promise<Outcome<WithToken>> {
      const parsed = parseCreation(shape, body)
      if (!parsed.ok) return refused(parsed.error)
      const draft = parsed.value as unknown as Draft
      const now = clock.now()
      const refusal = refuseExpiry(draft.expiresAt, now) ?? refuseGrant(caller.scopes, draft.scopes)
      if (refusal !== null) return refused(refusal)
      const { organizationId } = caller
      const token = newToken()
      const row = newKeyRow(newId(clock), draft, token, now)
      const answer = { ...keyRecord(organizationId, row), token }
      const response = await toStore(caller, row.id, record, answer)
      if (directory !== null && (await countKeys(database.of(organizationId), organizationId)) >= keyLimit)
        return refused(tooManyKeys)
      const hash = stored(token)
      const { name, scopes, expires_at } = row
      const created = await announced(directory, { organizationId, hash }, () =>
        callUnderClock<'done' | 'limit_reached' | 'replayed' | 'caller_changed'>(createKeyFunction, [
          organizationId,
          row.id,
          formatTimestamp(now),
          caller.apiKeyId,
          caller.scopes,
          JSON.stringify({ name, scopes, expires_at }),
          hash,
          row.last4,
          keyLimit,
          response,
        ]),
      )
      return outcomeOf(created, answer, problems)
    },

    change: (caller: Caller, id: string, body: unknown): Promise<Outcome<KeyRecord>> =>
      decideAndCommit(caller, id, async (row) => {
        const before: Draft = {
          name: row.name,
          scopes: row.scopes,
          expiresAt: row.expires_at?.toISOString() ?? null,
        }
        const parsed = parsePatch(shape, { ...before }, body)
        if (!parsed.ok) return refused(parsed.error)
        const { draft, sent } = parsed.value
        const now = clock.now()
        const after = decideChange(caller.scopes, row, { draft: draft as unknown as Draft, sent }, now)
        if ('code' in after) return refused(after)
        const shown = keyRecord(caller.organizationId, after)
        if (after === row) return done(shown)
        const { name, scopes, expires_at, updated_at } = after
        const changed = await callUnderClock<Changed | 'last_managing_key'>(updateFunction, [
          ...versionOf(caller, row, now),
          JSON.stringify({ name, scopes, expires_at, updated_at }),
          manages(scopes),
        ])
        return outcomeOf(changed, shown, problems)
      }),

    rotate: (caller: Caller, id: string, record: ResponseToStore | null): Promise<Outcome<WithToken>> =>
      decideAndCommit(caller, id, async (row) => {
        const now = clock.now()
        const refusal =
          refuseKeyChange(caller.scopes, row) ?? (hasExpired(row, now) ? expiredAlready(row) : null)
        if (refusal !== null) return refused(refusal)
        const token = newToken()
        const expiresAt = now + tokenOverlap
        const updatedAt = laterThan(row.updated_at, now)
        const after = {
          ...row,
          last4: token.slice(-4),
          previous_token_expires_at: new Date(expiresAt),
          updated_at: new Date(updatedAt),
        }
        const { organizationId } = caller
        const answer = { ...keyRecord(organizationId, after), token }
        const response = await toStore(caller, row.id, record, answer)
        const hash = stored(token)
        const rotated = await announced(directory, { organizationId, hash }, () =>
          callUnderClock<Changed | 'replayed'>(rotateKeyFunction, [
            ...versionOf(caller, row, now),
            formatTimestamp(updatedAt),
            hash,
            after.last4,
            formatTimestamp(expiresAt),
            response,
          ]),
        )
        return outcomeOf(rotated, answer, problems)
      }),

    /** Refuses to show the caller the stored response with the token again; null: it may see it. */
    async withhold(
      { organizationId, scopes }: Caller,
      call: 'create' | 'rotate',
      stored: string,
    ): Promise<Problem | null> {
      const response = readJson(stored) as WithToken
      // The token has its key's current scopes, which may exceed those at its creation.
      const row = await read(organizationId, response.id)
      const refusal = row === null ? null : refuseKeyChange(scopes, row)
      return refusal ?? (call === 'create' ? refuseGrant(scopes, response.scopes) : null)
    },

    dropPrevious: (caller: Caller, id: string): Promise<Outcome<null>> =>
      decideAndCommit(caller, id, async (row) => {
        const refusal = refuseKeyChange(caller.scopes, row)
        if (refusal !== null) return refused(refusal)
        const now = clock.now()
        const updatedAt = formatTimestamp(laterThan(row.updated_at, now))
        const values = [...versionOf(caller, row, now), updatedAt] as const
        return outcomeOf(await callUnderClock<Changed>(dropPreviousFunction, values), null, problems)
      }),

    /** Revokes the key at once and disables the endpoints it registered. */
    remove: (caller: Caller, id: string): Promise<Outcome<null>> =>
      decideAndCommit(caller, id, async (row) => {
        const refusal = refuseKeyChange(caller.scopes, row)
        if (refusal !== null) return refused(refusal)
        const values = versionOf(caller, row, clock.now())
        const revoked = await callUnderClock<Changed | 'last_managing_key'>(revokeFunction, values)
        if (revoked === 'done') wake()
        return outcomeOf(revoked, null, problems)
      }),
  }

  /** `sent`: an id as a client sent it; null: no such key. */
  async function read(organizationId: string, sent: string): Promise<KeyRow | null> {
    const id = parseId(sent)
    return id === null ? null : findKey(database.of(organizationId), organizationId, id, clock.now())
  }

  /** Decides again when `decide` returns null because another change committed first. */
  async function decideAndCommit<T>(
    caller: Caller,
    id: string,
    decide: (row: KeyRow) => Promise<Outcome<T> | null>,
  ): Promise<Outcome<T>> {
    const outcome = await retryOnConflict(async () => {
      const row = await read(caller.organizationId, id)
      return row === null ? refused(noSuchKey(id)) : decide(row)
    })
    return outcome ?? refused(problem('unavailable', 'The key keeps changing. Send it again.'))
  }

  async function toStore(
    { organizationId }: Caller,
    apiKeyId: string,
    record: ResponseToStore | null,
    answer: WithToken,
  ): Promise<string | null> {
    if (record === null) return null
    return encodeResponse(record, { sealed: await seal(JSON.stringify(answer), organizationId, apiKeyId) })
  }
}

export function noSuchKey(id: string): Problem {
  return noSuch('API key', id, 'It may have been revoked; check the id.')
}

const tooManyKeys = problem(
  'limit_reached',
  `An organization has at most ${keyLimit} keys. DELETE those that have expired.`,
)

const lastManagingKey = problem(
  'last_managing_key',
  'No other living key of the organization has api_keys:manage or *. Make one before this one loses it.',
)

const problems = {
  limit_reached: tooManyKeys,
  caller_changed: callerChanged,
  last_managing_key: lastManagingKey,
}

/** As the database stores a token. */
function stored(token: string): Buffer {
  return Buffer.from(hashToken(token), 'hex')
}

/** The arguments that identify the key and the version that was decided on, and the caller. */
function versionOf({ organizationId, apiKeyId, scopes }: Caller, { id, updated_at }: KeyRow, now: number) {
  const decidedOn = formatTimestamp(updated_at.getTime())
  return [organizationId, id, formatTimestamp(now), decidedOn, apiKeyId, scopes] as const
}

function newKeyRow(id: string, { name, scopes, expiresAt }: Draft, token: string, now: number): KeyRow {
  return {
    id,
    name,
    scopes,
    expires_at: expiresAt === null ? null : new Date(expiresAt),
    expiry_settled_at: null,
    last4: token.slice(-4),
    previous_token_expires_at: null,
    last_used_at: null,
    created_at: new Date(now),
    updated_at: new Date(now),
  }
}

/** Creation and change accept the same. `scopes`: all scopes. */
export function keyShape(scopes: readonly string[]): Shape {
  const fields = {
    name: text({ required: true, min: 1, max: 255, description: 'Its purpose, for people.' }),
    scopes: wordList(scopes, {
      description: 'The calls that it may make. A key can grant only scopes that it holds itself.',
    }),
    expiresAt: timestamp({ description: 'When it ceases to work, a time to come; null for never.' }),
  }
  return { name: 'key', fields, shown: Object.keys(keyFields(scopes)) }
}
