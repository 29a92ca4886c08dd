import type { FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import { problem } from '../kernel/errors.ts'
import { sendProblem } from './problem-reply.ts'

/**
 * `/healthz`: the process answers. `/readyz`: it answers and its database does. Neither needs a key.
 *
 * `degraded` says, as a sentence that anybody may read, what does not work beside the API though its database answers; null when
 * all does. It is told with a 200: whoever balances load by `/readyz` would take away the API as well, which works.
 */
export function registerHealth(
  server: FastifyInstance,
  pool: Pool,
  degraded: () => string | null = () => null,
): void {
  server.get('/healthz', async () => ({ status: 'ok' }))
  server.get('/readyz', async (_request, reply) => {
    try {
      await pool.query('select i.epoch from installation i where i.singleton')
      const reason = degraded()
      return reason === null ? { status: 'ready' } : { status: 'ready', degraded: reason }
    } catch {
      return sendProblem(reply, problem('unavailable', 'The database does not answer.'))
    }
  })
}
