/** The workers of several databases in one process, and what has piled up in one of them. */
import { expect, test } from 'vitest'
import { BacklogPace } from '../../src/delivery/backlog-pace.ts'
import { ConcurrencyLimiter } from '../../src/delivery/concurrency.ts'
import { deliveryTuning } from '../../src/delivery/tuning.ts'
import { kinds } from '../../src/desk/index.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { createWorker, type Sending } from '../../src/roles/worker.ts'
import { deliverySettings } from '../harness/delivery-settings.ts'
import { makeCustomer } from '../harness/desk.ts'
import { makeWebhook, minute } from '../harness/hooks.ts'
import { eventually } from '../harness/locks.ts'
import { plant } from '../harness/planted.ts'
import { type TestService, testService } from '../harness/service.ts'

const claim = deliveryTuning.drain.claimSizes.heavy

test('a backlog has a pace beside what is delivered at that moment of another database', async () => {
  const rate = 200
  const sent: { readonly path: string; readonly at: number }[] = []
  const pace = { rateAtFirst: rate, rateAtLeast: rate, rateAtMost: rate, othersFor: minute }
  const sending = {
    limiter: new ConcurrencyLimiter(),
    backlogs: new BacklogPace({ ...deliveryTuning.backlogs, ...pace }),
    sender: {
      send: async ({ url }) => {
        sent.push({ path: new URL(url).pathname, at: performance.now() })
        return { kind: 'answered', status: 200, responseBody: '', durationMs: 1 }
      },
      close() {},
    },
  } as Partial<Sending> as Sending
  await using one = await testService()
  await using two = await testService()
  const workerOf = ({ database: { pool }, app }: TestService) =>
    createWorker({
      pool,
      clock: systemClock,
      log: app.server.log,
      kinds,
      settings: deliverySettings,
      sending,
    })
  const [first, second] = [workerOf(one), workerOf(two)]
  let began = 0
  try {
    await makeWebhook(one.api, { url: 'https://127.0.0.1:1/other' })
    await makeCustomer(one.api)
    first.engine.wake()
    await eventually('another has a delivery of the moment', () => sent.length === 1)
    await plant(two.database.pool, {
      organizationId: two.api.organizationId,
      encryptionKey: deliverySettings.encryptionKey,
      urls: ['https://127.0.0.1:1/backlog'],
      backlog: 3 * claim,
      now: Date.now(),
    })
    await two.database.pool.query('update lanes set tier = 1 where due_at is not null')
    began = performance.now()
    second.engine.wake()
    await eventually('all were sent', () => sent.length === 1 + 3 * claim)
  } finally {
    await Promise.all([first.close(), second.close()])
  }
  // A claim goes out at the beginning of its time.
  expect((sent.at(-1)?.at ?? 0) - began).toBeGreaterThan((0.9 * 2 * claim * 1_000) / rate)
})
