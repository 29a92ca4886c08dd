import type { FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import { problem } from '../kernel/errors.ts'
import { sendProblem } from './problem-reply.ts'

/** `/healthz`: the process answers. `/readyz`: it answers and its database does. Neither needs a key. */
export function registerHealth(server: FastifyInstance, pool: Pool): void {
  server.get('/healthz', async () => ({ status: 'ok' }))
  server.get('/readyz', async (_request, reply) => {
    try {
      await pool.query('select i.epoch from installation i where i.singleton')
      return { status: 'ready' }
    } catch {
      return sendProblem(reply, problem('unavailable', 'The database does not answer.'))
    }
  })
}
