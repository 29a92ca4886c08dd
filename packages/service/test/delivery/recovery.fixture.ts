/** An endpoint with a worker whose receiver answers by script, and what recoveries bring to it. */

import { expect } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { dataOf, deliveriesOf, makeWebhook } from '../../../testbed/hooks.ts'
import { tables } from '../../../testbed/journal.ts'
import { inRounds } from '../../../testbed/run-due.ts'
import { type TestService, testService } from '../../../testbed/service.ts'
import { unshared } from '../../src/db/fair-pool.ts'
import type { Queryable } from '../../src/db/pool.ts'
import { createReports } from '../../src/delivery/endpoint/report-endpoints.ts'
import { createDeliveryJobs } from '../../src/delivery/queue/delivery-jobs.ts'
import type { Clock } from '../../src/kernel/timestamps.ts'

export const at = (milliseconds: number) => new Date(milliseconds).toISOString()

/** An organization with one endpoint, and a worker whose receiver answers by script. */
export async function desk(
  events: readonly string[] = ['customer.created', 'customer.updated', 'customer.deleted'],
) {
  const clock = testClock()
  const service = await testService({ clock })
  const { api } = service
  const { id } = await makeWebhook(api, { events })
  const worker = testEngine(service, clock)
  const deliveryJobs = deliveryJobsOn(service, clock)
  const path = `/v1/webhooks/${id}`
  return {
    clock,
    service,
    api,
    id: id as string,
    path,
    ...worker,
    deliveryJobs,
    log: (query = '') => deliveriesOf(api, id, query),
    disable: () => api.patch(path, { status: 'disabled' }),
    enable: () => api.patch(path, { status: 'active' }),
    recover: (body: object, headers: Record<string, string> = {}) =>
      api.post(`${path}/recover`, body, headers),
    read: async (recoveryId: string) => (await api.get(`${path}/recoveries/${recoveryId}`)).json,
    /** All that workers have to do now. */
    async work() {
      await deliveryJobs.runDue()
      await worker.engine.runDue()
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

/** `runDue` returns how many pieces were done. */
export function deliveryJobsOn(
  { database, app }: TestService,
  clock: Clock,
  connection: Queryable = database.pool,
) {
  let pieces = 0
  const make = () =>
    createDeliveryJobs({
      database: unshared(connection),
      tables,
      maxAttempts: 6,
      clock,
      log: app.server.log,
      onDeliveries: () => pieces++,
    })
  return inRounds(make, () => pieces)
}

/** `runDue` returns how many states were reported. */
export function reportsOn(
  { database, app }: TestService,
  clock: Clock,
  connection: Queryable = database.pool,
) {
  let reported = 0
  const make = () =>
    createReports({
      database: unshared(connection),
      tables,
      clock,
      schedule: deliverySettings.schedule,
      retention: deliverySettings.logRetention,
      log: app.server.log,
      onDeliveries: () => reported++,
    })
  return inRounds(make, () => reported)
}

export type Desk = Awaited<ReturnType<typeof desk>>

/** The names of the customers that arrived from the request on, in the order of their events. */
export const namesFrom = (it: Desk, first: number) =>
  it.sent
    .slice(first)
    .toSorted((a, b) => (JSON.parse(a.body).createdAt < JSON.parse(b.body).createdAt ? -1 : 1))
    .map((sent) => JSON.parse(dataOf(sent)).name)

/** Recovers the window, which must be accepted, and does all that follows; the recovery as it is then. */
export async function recovered(it: Desk, window: object) {
  const answer = await it.recover(window)
  expect(answer.status, answer.text).toBe(202)
  await it.work()
  return it.read(answer.json.id)
}
