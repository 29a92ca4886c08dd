/** A worker's own small server, when it runs alone: `/healthz`, `/readyz` and `/metrics`. */
import type { Logger } from 'pino'
import { registerHealth } from '../http/health.ts'
import { createServer } from '../http/server.ts'
import { registerMetrics } from '../metrics/expose.ts'
import { createStandingMetrics } from '../metrics/standing.ts'
import { addressOf, listen } from './api.ts'
import type { Running } from './running.ts'
import type { RunningWorker } from './worker.ts'

/** Resolves when it listens. @throws ListenError when it cannot. */
export async function startWorkerServer(
  where: { readonly host: string; readonly port: number },
  { pool, clock, register }: RunningWorker,
  log: Logger,
): Promise<Running & { readonly address: string }> {
  const server = createServer(log)
  registerHealth(server, pool)
  createStandingMetrics(register, pool, clock)
  registerMetrics(server, register, async () => [])
  await listen(server, where, 'DESKWIRE_WORKER_PORT')
  return { address: addressOf(server.server.address()), stop: () => server.close() }
}
