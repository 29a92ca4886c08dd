/** Answers that the routes of all resources give. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { IdempotencyRecord } from '../journal/change.ts'
import type { Problem } from '../kernel/errors.ts'
import { callerOf } from './authenticate.ts'
import { type IdempotencyStore, idempotencyOf } from './idempotency.ts'
import type { Page } from './page.ts'
import { sendProblem } from './problem-reply.ts'

/** JSON that is ready to be sent. */
export function sendJson(reply: FastifyReply, body: string | Buffer): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(body)
}

/** JSON with a token or a secret, which is shown this once: nothing on its way may keep it (specification 1.2). */
export function sendShownOnce(reply: FastifyReply, body: string): FastifyReply {
  return sendJson(reply.header('cache-control', 'no-store'), body)
}

/** Records, joined by commas, in the envelope of a list (specification 6.1). */
export function sendList(
  reply: FastifyReply,
  records: string,
  pagination: Record<string, unknown>,
): FastifyReply {
  return sendJson(reply, joined(['{"data":[', records, `],"pagination":${JSON.stringify(pagination)}}`]))
}

/**
 * The parts as one piece of UTF-8. As a string it would be put together twice: to be measured, and again behind the
 * head of the answer (measured: a tenth of the processor time of a page of 45 KB).
 */
function joined(parts: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0))
  let at = 0
  for (const part of parts) at += bytes.write(part, at)
  return bytes
}

/** A page of rows that were counted: `recordOf` says how each is shown. */
export function sendPage<Row>(
  reply: FastifyReply,
  { rows, total }: { readonly rows: readonly Row[]; readonly total: number },
  page: Page,
  recordOf: (row: Row) => object,
): FastifyReply {
  const records = rows.map((row) => JSON.stringify(recordOf(row))).join(',')
  return sendList(reply, records, { total, ...page, hasMore: page.offset + rows.length < total })
}

/** The query as it was sent, repeats included. */
export function searchParameters(request: FastifyRequest): URLSearchParams {
  return new URLSearchParams(request.url.split('?').slice(1).join('?'))
}

/** A refusal: nothing was committed, and nothing is kept. */
export interface Uncommitted {
  readonly uncommitted: () => FastifyReply
}

/** The answer of a request that had nothing to change. `about`: an object that it speaks of, null for none. */
export interface Unchanged {
  readonly unchanged: string
  readonly about: string | null
}

/**
 * A POST under its Idempotency-Key, when it has one: the first answer is given again, also to a twin that came at the
 * same time. `run` makes the change, keeping its answer under the record in the same commit, and answers; or says that
 * the key had committed already, that there was nothing to change, or that it refuses. An answer that nothing was changed
 * for is kept here: given again, it makes no change that somebody else's has made possible since. Where the key had
 * committed, and before a refusal, the twin's answer is looked for again: what the twin has changed may be the very reason
 * of the refusal.
 */
export async function answerOnce(
  request: FastifyRequest,
  reply: FastifyReply,
  options: {
    readonly store: IdempotencyStore
    /** The status of the answer that is kept. */
    readonly status: number
    readonly run: (
      record: IdempotencyRecord | null,
    ) => Promise<FastifyReply | Uncommitted | Unchanged | 'replayed'>
    /** Sends an answer that is kept, by what the caller may see now; the status is set. */
    readonly send: (reply: FastifyReply, body: string) => FastifyReply
    /** Why the caller is not given the kept answer now; null when it is. For answers that hold what is shown once. */
    readonly withhold?: (body: string) => Promise<Problem | null>
  },
): Promise<FastifyReply> {
  const { store, status, run, send, withhold } = options
  const parsed = idempotencyOf(request, status)
  if (!parsed.ok) return sendProblem(reply, parsed.error)
  const record = parsed.value
  const { organizationId } = callerOf(request)

  /** Whether there was an answer to give again. */
  async function replayed(): Promise<boolean> {
    if (record === null) return false
    const found = await store.find(organizationId, record)
    if (!found.ok) {
      sendProblem(reply, found.error)
      return true
    }
    if (found.value === null) return false
    const first = found.value
    const refusal = (await withhold?.(first.body)) ?? null
    if (refusal === null) send(reply.code(first.status).header('idempotent-replayed', 'true'), first.body)
    else sendProblem(reply, refusal)
    return true
  }

  /** Whether it is the answer that is kept now. */
  async function kept({ unchanged: body, about }: Unchanged): Promise<boolean> {
    if (record === null) return true
    return (await store.keep(organizationId, record, { subjectId: about ?? organizationId, body })) === 'done'
  }

  if (await replayed()) return reply
  const answered: unknown = await run(record)
  if (isUnchanged(answered) && (await kept(answered))) return send(reply.code(status), answered.unchanged)
  // An answer that is awaited has been sent, and is nothing any more.
  if (answered !== 'replayed' && !isUncommitted(answered) && !isUnchanged(answered)) return reply
  if (await replayed()) return reply
  if (isUncommitted(answered)) return answered.uncommitted()
  throw new Error('an idempotency key committed, but its record cannot be found')
}

function isUncommitted(answered: unknown): answered is Uncommitted {
  return typeof answered === 'object' && answered !== null && 'uncommitted' in answered
}

function isUnchanged(answered: unknown): answered is Unchanged {
  return typeof answered === 'object' && answered !== null && 'unchanged' in answered
}
