/** fastify + BullMQ on Redis + undici: deliveries are jobs, an attempt is what its job returns. */
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import {
  type Attempt,
  attempts,
  concurrency,
  createSender,
  type Delivery,
  readArguments,
  retryDelays,
  serveEvents,
  untilTerminated,
} from './program.ts'

const given = readArguments()
// Commands of one turn of the event loop go to Redis together, and share its fsync.
const connection = new Redis({ path: given.store, maxRetriesPerRequest: null, enableAutoPipelining: true })
const name = 'deliveries'

if (given.role === 'api') {
  // Finished and failed jobs stay: they are the delivery log.
  const opts = { attempts, backoff: { type: 'custom' } }
  const queue = new Queue<Delivery, Attempt>(name, { connection })
  await serveEvents(
    given.endpoints,
    (deliveries) => queue.addBulk(deliveries.map((data) => ({ name: 'deliver', data, opts }))),
    async () => {
      await queue.close()
      await connection.quit()
    },
  )
} else {
  // All events are on disk before their 202. Attempts of the last second before a crash are sent again, as with
  // Deskwire.
  await connection.config('SET', 'appendfsync', 'everysec')
  const sender = createSender(given)
  const worker = new Worker<Delivery, Attempt>(name, ({ data }) => sender.send(data), {
    connection,
    concurrency,
    // Longer than an attempt, which waits at most 10 s for each step, so no lock has to be renewed.
    lockDuration: 60_000,
    skipLockRenewal: true,
    settings: { backoffStrategy: (made) => retryDelays[made - 1] ?? 0 },
  })
  worker.on('error', (error) => process.stderr.write(`bullmq: ${error.message}\n`))
  untilTerminated(async () => {
    await worker.close()
    await sender.close()
    await connection.quit()
  })
  await worker.waitUntilReady()
  process.stdout.write('delivering\n')
}
