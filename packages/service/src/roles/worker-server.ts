/**
 * Small HTTP servers: a worker's `/healthz`, `/readyz` and `/metrics` in role `worker`; and `/metrics` on
 * DESKWIRE_METRICS_PORT.
 */
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { createPing } from '../db/pool.ts'
import { kinds } from '../desk/index.ts'
import { createHealth, healthApi } from '../http/own-routes.ts'
import { registerRoutes } from '../http/route.ts'
import { createServer } from '../http/server.ts'
import { systemClock } from '../kernel/timestamps.ts'
import { outdatedRows } from '../kinds/model/backfill.ts'
import { createBacklogMetrics, createOutdatedMetrics } from '../metrics/database.ts'
import { metricsText } from '../metrics/registry.ts'
import { metricsApi } from '../metrics/route.ts'
import type { Running } from './listen.ts'
import { addressOf, listen, type Where } from './listen.ts'
import type { ServedDatabase } from './prepare.ts'
import type { RunningWorker, RunningWorkers } from './worker.ts'

type Listening = Running & { readonly address: string }

/** The text of `/metrics` in role `worker`, for all its databases. */
export function workerMetrics({
  each,
  registers,
}: Pick<RunningWorkers, 'each' | 'registers'>): () => Promise<string> {
  const shown = new Set<RunningWorker>()
  return metricsText(
    () => {
      for (const worker of each) if (worker !== null && !shown.has(worker)) show(worker)
      return registers
    },
    async () => [],
    systemClock,
  )

  function show(worker: RunningWorker): void {
    const { pool, clock, register } = worker
    shown.add(worker)
    createBacklogMetrics(register, pool, clock)
    createOutdatedMetrics(register, clock, () => outdatedRows(pool, kinds))
  }
}

/** `metrics` null: without `/metrics`. Resolves when it listens. @throws ListenError */
export function startWorkerServer(
  where: Where,
  databases: readonly ServedDatabase[],
  metrics: (() => Promise<string>) | null,
  log: Logger,
): Promise<Listening> {
  const server = createServer(log)
  const checked = databases.map(({ name, pool, isReady }) => ({
    name,
    isReady,
    answers: createPing(pool, systemClock),
  }))
  registerRoutes(server, healthApi.routes, createHealth(checked))
  if (metrics !== null) registerRoutes(server, metricsApi.routes, { text: metrics })
  return listening(server, where, 'DESKWIRE_PORT')
}

/** Serves `/metrics` on its own port. Resolves when it listens. @throws ListenError */
export function startMetricsServer(
  where: Where,
  metrics: () => Promise<string>,
  log: Logger,
): Promise<Listening> {
  const server = createServer(log)
  registerRoutes(server, metricsApi.routes, { text: metrics })
  return listening(server, where, 'DESKWIRE_METRICS_PORT')
}

async function listening(server: FastifyInstance, where: Where, variable: string): Promise<Listening> {
  await listen(server, where, variable)
  return { address: addressOf(server.server.address()), stop: () => server.close() }
}
