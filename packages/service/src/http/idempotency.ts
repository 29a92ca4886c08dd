/** Idempotency-Key on POST: repetitions make one change and get one response (specification 13.1). */
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { type IdempotencyStore, type KeyedResponse, responseTo } from '../idempotency/stored-responses.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { fail, type Outcome, ok, type Result, refused } from '../kernel/outcome.ts'
import { pathOf } from './replies.ts'

/** What to store the response under; null without a key. `apiKeyId`: the caller's. */
export function idempotencyOf(
  request: FastifyRequest,
  status: number,
  apiKeyId: string,
): Result<KeyedResponse | null, Problem> {
  const key = request.headers['idempotency-key']
  if (key === undefined) return ok(null)
  if (typeof key !== 'string' || key.length < 1 || key.length > 255 || !/^[\x20-\x7e]+$/.test(key)) {
    return fail(problem('invalid_parameter', 'Idempotency-Key must be 1 to 255 printable ASCII characters.'))
  }
  const hash = createHash('sha256').update(request.rawBody ?? Buffer.alloc(0))
  return ok(
    responseTo({
      apiKeyId,
      method: request.method,
      path: pathOf(request),
      key,
      requestHash: hash.digest('hex'),
      status,
    }),
  )
}

/**
 * Runs a request once; a repetition gets the first response, also a simultaneous one. The commit of `run` stores the
 * response; that of a request that changed nothing is stored here. After a lost race or a refusal the response is
 * looked up again, as the twin's change may be why it was refused. Without a `record`, nothing is stored.
 */
export async function runOnce(
  store: IdempotencyStore,
  { organizationId, record }: { readonly organizationId: string; readonly record: KeyedResponse | null },
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

  async function replayed(record: KeyedResponse): Promise<Outcome<never> | null> {
    const found = await store.find(organizationId, record)
    if (!found.ok) return refused(found.error)
    return found.value === null ? null : { outcome: 'replayed', stored: found.value }
  }
}
