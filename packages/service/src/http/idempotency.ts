/** Idempotency-Key on POST: the same request twice is one change and one answer (specification 13.1). */
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Database } from '../db/fair-pool.ts'
import type { ResponseToStore } from '../journal/change.ts'
import type { CallUnderClock } from '../journal/journal.ts'
import { storeResponse } from '../journal/sql-fragments.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { type Outcome, refused, type StoredResponse } from '../kernel/outcome.ts'
import { fail, ok, type Result } from '../kernel/result.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'
import { callerOf } from './authenticate.ts'
import { pathOf } from './replies.ts'

/** How long a committed answer is kept. */
export const storedForMilliseconds = 24 * 60 * 60 * 1000

/** What the response to a request is to be stored under, null when it carries no key. */
export function idempotencyOf(
  request: FastifyRequest,
  status: number,
): Result<ResponseToStore | null, Problem> {
  const key = request.headers['idempotency-key']
  if (key === undefined) return ok(null)
  if (typeof key !== 'string' || key.length < 1 || key.length > 255 || !/^[\x20-\x7e]+$/.test(key)) {
    return fail(problem('invalid_parameter', 'Idempotency-Key must be 1 to 255 printable ASCII characters.'))
  }
  return ok({
    apiKeyId: callerOf(request).apiKeyId,
    method: request.method,
    path: pathOf(request),
    key,
    requestHash: createHash('sha256')
      .update(request.rawBody ?? Buffer.alloc(0))
      .digest('hex'),
    status,
  })
}

export interface IdempotencyStore {
  /** The first committed answer to this request; null when there is none yet; a problem when it cannot be given. */
  find(organizationId: string, record: ResponseToStore): Promise<Result<StoredResponse | null, Problem>>
  /** Why no more responses of the organization can be stored; null while they can. */
  full(organizationId: string): Promise<Problem | null>
  /**
   * Keeps the answer to a request that changed nothing, about the object `subjectId`; `replayed` when another answer is
   * kept under its key by now, which is then the one to give.
   */
  store(
    organizationId: string,
    record: ResponseToStore,
    answer: { readonly subjectId: string; readonly body: string },
  ): Promise<'done' | 'replayed'>
}

/** What is kept encrypted, and the check value of the key that it is encrypted with. */
export interface Sealed {
  readonly bytes: Buffer
  readonly keyCheck: Buffer
}

/** A response as the functions of the database store it (`journal/sql-fragments.ts`): sealed where it may hold a secret. */
export function encodeResponse(
  record: ResponseToStore,
  answer: { readonly sealed: Sealed } | { readonly body: string },
): string {
  const { apiKeyId, method, path, key, requestHash, status } = record
  return JSON.stringify({
    api_key_id: apiKeyId,
    method,
    path,
    key,
    request_hash: requestHash,
    status,
    ...('sealed' in answer
      ? { sealed: answer.sealed.bytes.toString('hex'), sealed_with: answer.sealed.keyCheck.toString('hex') }
      : { body: answer.body }),
  })
}

/** Opens an answer that is kept encrypted, about this subject. */
type OpenResponse = (sealed: Buffer, organizationId: string, subjectId: string) => string

export function createIdempotencyStore(
  {
    database,
    callUnderClock,
    maxBytes,
  }: {
    readonly database: Pick<Database, 'of'>
    readonly callUnderClock: CallUnderClock
    /** Bytes that an organization may store; null for as many as it likes. */
    readonly maxBytes: number | null
  },
  clock: Clock,
  open: OpenResponse,
): IdempotencyStore {
  const statement = {
    name: 'find_idempotency_key',
    text: `select k.request_hash, k.status, k.body, k.sealed, k.subject_id from idempotency_keys k
           where k.organization_id = $1 and k.api_key_id = $2 and k.method = $3 and k.path = $4
             and k.key between $5 and $5 and k.created_at > $6 order by k.key limit 1`,
  }
  return {
    async find(organizationId, record) {
      const { apiKeyId, method, path, key, requestHash } = record
      const since = formatTimestamp(clock.now() - storedForMilliseconds)
      const { rows } = await database.of(organizationId).query<{
        request_hash: Buffer
        status: number
        body: string | null
        sealed: Buffer | null
        subject_id: string
      }>({
        ...statement,
        values: [organizationId, apiKeyId, method, path, key, since],
      })
      const [row] = rows
      if (row === undefined) return ok(null)
      if (row.request_hash.toString('hex') !== requestHash) {
        const detail = `The Idempotency-Key ${key} was used with another body. Use a new key for a new request.`
        return fail(problem('idempotency_key_reused', detail))
      }
      if (row.sealed !== null)
        return ok({ status: row.status, body: open(row.sealed, organizationId, row.subject_id) })
      if (row.body === null) {
        return fail(
          problem(
            'not_found',
            'What this request created has been removed since, and its stored response was erased with it.',
          ),
        )
      }
      return ok({ status: row.status, body: row.body })
    },

    async full(organizationId) {
      if (maxBytes === null) return null
      const { rows } = await database.of(organizationId).query<{ bytes: number }>({
        name: 'stored_bytes',
        text: 'select sum(k.stored_bytes)::float8 as bytes from kind_counters k where k.organization_id = $1',
        values: [organizationId],
      })
      return (rows[0]?.bytes ?? 0) < maxBytes ? null : problem('limit_reached', fullOf(maxBytes))
    },

    store: (organizationId, record, { subjectId, body }) =>
      storeResponse(callUnderClock, organizationId, {
        subjectId,
        now: formatTimestamp(clock.now()),
        response: encodeResponse(record, { body }),
      }),
  }
}

const fullOf = (maxBytes: number) =>
  `An organization may have ${maxBytes} bytes of objects and of responses that are stored for 24 hours together. Send the request without an Idempotency-Key, so that no response is stored, or delete customers or tickets that are not needed.`

/**
 * The first response is sent again, also to a twin that came at the same time. `run` makes the change and stores its response in the same
 * commit; or returns that the key had committed already, that there was nothing to change, or a refusal. The response to a request that changed
 * nothing is stored here: sent again, it makes no change that somebody else has made possible since. Where the key had committed, and
 * before a refusal, the response of the twin is looked for again: what the twin changed may be the very reason of the refusal. Without a
 * record, which is a request without the header, it runs and nothing is stored.
 */
export async function answerOnce(
  store: IdempotencyStore,
  { organizationId, record }: { readonly organizationId: string; readonly record: ResponseToStore | null },
  run: () => Promise<Outcome<unknown>>,
): Promise<Outcome<unknown>> {
  if (record === null) return run()
  const before = await replayed(record)
  if (before !== null) return before
  const full = await store.full(organizationId)
  if (full !== null) return refused(full)
  const outcome = await run()
  if (outcome.outcome === 'done') return outcome
  if (outcome.outcome === 'unchanged') {
    const { value: body, about } = outcome
    const stored = await store.store(organizationId, record, { subjectId: about ?? organizationId, body })
    if (stored === 'done') return outcome
  }
  return (await replayed(record)) ?? (outcome.outcome === 'refused' ? outcome : { outcome: 'replayed' })

  async function replayed(record: ResponseToStore): Promise<Outcome<never> | null> {
    const found = await store.find(organizationId, record)
    if (!found.ok) return refused(found.error)
    return found.value === null ? null : { outcome: 'replayed', stored: found.value }
  }
}
