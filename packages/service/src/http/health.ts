import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import type { Clock } from '../kernel/clock.ts'
import { problem } from '../kernel/errors.ts'
import { remembered } from '../kernel/remembered.ts'
import { sendProblem } from './problem-reply.ts'

/** How long it may be believed that the database answers, or does not, in milliseconds. */
const goodFor = 1_000
/** How long the database may take to answer, in milliseconds: one that vanished in silence never does. */
const answersWithin = 2_000

/**
 * `/healthz`: the process answers. `/readyz`: it answers and its database does. Neither needs a key, so whoever asks, and
 * however often, the database is asked once a second at most, and over one connection.
 *
 * `degraded` says, as a sentence that anybody may read, what does not work beside the API though its database answers; null when
 * all does. It is told with a 200: whoever balances load by `/readyz` would take away the API as well, which works.
 */
export function registerHealth(
  server: FastifyInstance,
  options: { readonly pool: Pool; readonly clock: Clock; readonly degraded?: () => string | null },
): void {
  const { pool, clock, degraded = () => null } = options
  const ask = remembered(() => pool.query('select i.epoch from installation i where i.singleton'), {
    clock,
    goodFor,
  })
  const answers = async () => {
    const over = new AbortController()
    const late = delay(answersWithin, false, { signal: over.signal }).catch(() => false)
    const inTime = await Promise.race([
      ask().then(
        () => true,
        () => false,
      ),
      late,
    ])
    over.abort()
    return inTime
  }
  server.get('/healthz', async () => ({ status: 'ok' }))
  server.get('/readyz', async (_request, reply) => {
    if (!(await answers())) return sendProblem(reply, problem('unavailable', 'The database does not answer.'))
    const reason = degraded()
    return reason === null ? { status: 'ready' } : { status: 'ready', degraded: reason }
  })
}
