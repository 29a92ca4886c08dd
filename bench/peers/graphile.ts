/** fastify + graphile-worker on PostgreSQL + undici: deliveries are jobs, an attempt is a row. */
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { Pool } from 'pg'
import {
  attempts,
  concurrency,
  createSender,
  type Delivery,
  readArguments,
  serveEvents,
  untilTerminated,
} from './program.ts'
import { createRecorder, prepareAttempts } from './recorder.ts'

declare global {
  namespace GraphileWorker {
    interface Tasks {
      deliver: Delivery
    }
  }
}

const given = readArguments()
const report = (error: Error) => process.stderr.write(`graphile-worker: ${error.message}\n`)
const logger = new Logger(() => (level, message) => {
  // Its warning about the pool's size is for jobs that hold a connection: here statements share the pool.
  if (level === 'error') process.stderr.write(`graphile-worker: ${message}\n`)
})
/** graphile-worker requires a handler for idle and for used connections. */
function hearErrors(pool: Pool): void {
  pool.on('error', report)
  pool.on('connect', (client) => client.on('error', report))
}

if (given.role === 'api') {
  const pgPool = new Pool({ connectionString: given.store, max: 10 })
  hearErrors(pgPool)
  const utils = await makeWorkerUtils({ pgPool, logger })
  await utils.migrate()
  await prepareAttempts(pgPool)
  await serveEvents(
    given.endpoints,
    (deliveries) =>
      utils.addJobs(deliveries.map((payload) => ({ identifier: 'deliver', payload, maxAttempts: attempts }))),
    async () => {
      await utils.release()
      await pgPool.end()
    },
  )
} else {
  // What the worker loses in a crash of the database is sent again, as with Deskwire.
  const pgPool = new Pool({
    connectionString: given.store,
    max: 10,
    options: '-c synchronous_commit=off',
  })
  hearErrors(pgPool)
  const sender = createSender(given)
  const record = createRecorder(pgPool)
  const runner = await run({
    pgPool,
    logger,
    noHandleSignals: true,
    preset: {
      worker: {
        concurrentJobs: concurrency,
        localQueue: { size: 4 * concurrency },
        completeJobBatchDelay: 5,
        failJobBatchDelay: 5,
      },
    },
    taskList: {
      async deliver(delivery) {
        const { status, milliseconds } = await sender.send(delivery)
        await record({ event: delivery.event, endpoint: delivery.endpoint, status, milliseconds })
      },
    },
  })
  untilTerminated(async () => {
    await runner.stop()
    await sender.close()
    await pgPool.end()
  })
  process.stdout.write('delivering\n')
}
