/** An endpoint with a worker whose receiver answers by script, and what recoveries bring to it. */

import { expect } from 'vitest'
import { deliveryJobsOn } from '../../../testbed/delivery-jobs.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { dataOf } from '../../../testbed/hooks.ts'
import { deskWithEndpoint } from './desk.fixture.ts'

/** An organization with one endpoint, and a worker whose receiver answers by script. */
export async function desk(
  events: readonly string[] = ['customer.created', 'customer.updated', 'customer.deleted'],
) {
  const it = await deskWithEndpoint({ events })
  const { clock, service, api, path } = it
  const worker = testEngine(service, clock)
  const deliveryJobs = deliveryJobsOn(service, clock)
  return {
    ...it,
    ...worker,
    deliveryJobs,
    disable: () => api.patch(path, { status: 'disabled' }),
    enable: () => api.patch(path, { status: 'active' }),
    recover: (body: object, headers: Record<string, string> = {}) =>
      api.post(`${path}/recover`, body, headers),
    recovery: async (recoveryId: string) => (await api.get(`${path}/recoveries/${recoveryId}`)).json,
    /** All that workers have to do now. */
    async work() {
      await deliveryJobs.runDue()
      await worker.engine.runDue()
    },
  }
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
  return it.recovery(answer.json.id)
}
