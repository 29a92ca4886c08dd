/**
 * Stored responses of requests with an Idempotency-Key, in the table `idempotency_keys` (specification 13.1). The
 * commit of a change stores its response; here it is found, and the response to a request that changed nothing is
 * stored.
 */
import type { Database } from '../db/fair-pool.ts'
import type { SchemaFunction } from '../db/migration.ts'
import { readSql, schemaObject } from '../db/sql-file.ts'
import type { ResponseToStore } from '../journal/change.ts'
import { lockClockFunction, replayedFunction, storeResponseFunction } from '../journal/functions.ts'
import type { CallUnderClock } from '../journal/journal.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { fail, ok, type Result, type StoredResponse } from '../kernel/outcome.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'

export const storedForMilliseconds = 24 * 60 * 60 * 1000

/** A request with an Idempotency-Key, and the status of its response. */
interface KeyedRequest {
  readonly apiKeyId: string
  readonly method: string
  readonly path: string
  readonly key: string
  /** SHA-256 of the body, as hex. */
  readonly requestHash: string
  readonly status: number
}

export interface KeyedResponse extends ResponseToStore {
  readonly columns: {
    readonly api_key_id: string
    readonly method: string
    readonly path: string
    readonly key: string
    readonly request_hash: string
    readonly status: number
  }
}

export function responseTo({ apiKeyId, requestHash, ...request }: KeyedRequest): KeyedResponse {
  const { method, path, key } = request
  return {
    requestKey: `${apiKeyId} ${method} ${path} ${key}`,
    columns: { api_key_id: apiKeyId, request_hash: requestHash, ...request },
  }
}

export interface IdempotencyStore {
  /** Null when there is none; a problem when it cannot be sent again. */
  find(organizationId: string, record: KeyedResponse): Promise<Result<StoredResponse | null, Problem>>
  /** Why no more responses of the organization can be stored; null while they can. */
  full(organizationId: string): Promise<Problem | null>
  /**
   * The response of a request that changed nothing, about `subjectId`; `replayed`: its key has another one by now,
   * which is to be sent.
   */
  store(
    organizationId: string,
    record: KeyedResponse,
    response: { readonly subjectId: string; readonly body: string },
  ): Promise<'done' | 'replayed'>
}

/** Encrypted bytes, and the check value of their key. */
export interface Sealed {
  readonly bytes: Buffer
  readonly keyCheck: Buffer
}

/**
 * A response as the database's functions store it (`journal/store-response.sql`): encrypted if it may contain a secret.
 */
export function encodeResponse(
  { columns }: ResponseToStore,
  response: { readonly sealed: Sealed } | { readonly body: string },
): string {
  return JSON.stringify({
    ...columns,
    ...('sealed' in response
      ? {
          sealed: response.sealed.bytes.toString('hex'),
          sealed_with: response.sealed.keyCheck.toString('hex'),
        }
      : { body: response.body }),
  })
}

type OpenResponse = (sealed: Buffer, organizationId: string, subjectId: string) => string

export const storeLoneResponseFunction: SchemaFunction = schemaObject(
  readSql(import.meta.url, './store-lone-response.sql'),
  [lockClockFunction, replayedFunction, storeResponseFunction],
)

export function createIdempotencyStore(
  {
    database,
    callUnderClock,
    maxBytes,
  }: {
    readonly database: Pick<Database, 'of'>
    readonly callUnderClock: CallUnderClock
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
      const { api_key_id, method, path, key, request_hash } = record.columns
      const since = formatTimestamp(clock.now() - storedForMilliseconds)
      const { rows } = await database.of(organizationId).query<{
        request_hash: Buffer
        status: number
        body: string | null
        sealed: Buffer | null
        subject_id: string
      }>({
        ...statement,
        values: [organizationId, api_key_id, method, path, key, since],
      })
      const [row] = rows
      if (row === undefined) return ok(null)
      if (row.request_hash.toString('hex') !== request_hash) {
        const detail = `The Idempotency-Key ${key} was used with another body. Use a new key for a new request.`
        return fail(problem('idempotency_key_reused', detail))
      }
      if (row.sealed !== null)
        return ok({ status: row.status, body: open(row.sealed, organizationId, row.subject_id) })
      if (row.body === null) {
        return fail(
          problem(
            'not_found',
            'The object that this request created was removed since, and its stored response was erased with it.',
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

    store(organizationId, record, { subjectId, body }) {
      const now = formatTimestamp(clock.now())
      const values = [organizationId, subjectId, now, encodeResponse(record, { body })] as const
      return callUnderClock<'done' | 'replayed'>(storeLoneResponseFunction, values)
    },
  }
}

const fullOf = (maxBytes: number) =>
  `An organization may have ${maxBytes} bytes of objects and of responses that are stored for 24 hours together. Send the request without an Idempotency-Key, so that no response is stored, or delete customers or tickets that are not needed.`
