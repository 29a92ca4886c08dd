/** Endpoints that are paused: what is kept for them, what is sent once they are active, and what the log says. */
import { expect, test } from 'vitest'
import { at } from '../../../testbed/clock.ts'
import { deliveryJobsOn } from '../../../testbed/delivery-jobs.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { day, hour, minute, retry } from '../../../testbed/hooks.ts'
import { tables } from '../../../testbed/journal.ts'
import { answer } from '../../../testbed/receiver.ts'
import { unshared } from '../../src/db/fair-pool.ts'
import { createEndpointQueues } from '../../src/delivery/queue/endpoint-queues.ts'
import { receiving } from './receiving.fixture.ts'

type It = Awaited<ReturnType<typeof receiving>>

const pause = (it: It, id: string) => it.change(id, { status: 'paused' })
const resume = (it: It, id: string) => it.change(id, { status: 'active' })
const statuses = async (it: It, id: string) => (await it.log(id)).map(({ status }) => status)

async function queueOf(it: It) {
  const { rows } = await it.service.database.pool.query(
    "select l.due_at = 'infinity' as held, l.lease_id is not null as leased from endpoint_queues l",
  )
  return rows[0]
}

test('a paused endpoint keeps its deliveries, and gets them in full once it is active', async () => {
  await using it = await receiving()
  const { id } = await it.endpoint()
  const paused = await pause(it, id)
  expect(paused.json).toMatchObject({ status: 'paused', disabledReason: null, disabledAt: null })
  expect(Object.keys(paused.json)).not.toContain('paused')
  for (let n = 0; n < 20; n++) await makeCustomer(it.api)
  await it.engine.runDue()
  await it.api.post(`/v1/webhooks/${id}/ping`, undefined)
  await it.engine.runDue()
  expect(it.bodies).toEqual([])
  expect(await statuses(it, id)).toEqual(Array(21).fill('pending'))
  expect((await it.api.get('/v1/webhooks?status=paused')).json.data).toMatchObject([{ id, status: 'paused' }])
  for (const other of ['active', 'disabled'])
    expect((await it.api.get(`/v1/webhooks?status=${other}`)).json.data).toEqual([])
  expect((await resume(it, id)).json.status).toBe('active')
  await it.engine.runDue()
  expect(await statuses(it, id)).toEqual(Array(21).fill('succeeded'))
  expect((await it.log(id))[5].attemptCount).toBe(1)
})

test('commits and sweeps leave the queue of a paused endpoint alone', async () => {
  await using it = await receiving()
  const { id } = await it.endpoint()
  await pause(it, id)
  await makeCustomer(it.api)
  await it.engine.runDue()
  expect(await queueOf(it)).toEqual({ held: true, leased: false })
  await makeCustomer(it.api)
  expect(await queueOf(it)).toEqual({ held: true, leased: false })
  const queues = createEndpointQueues(unshared(it.service.database.pool), tables)
  expect(await queues.sweep(it.clock.now(), minute)).toBe(0)
  expect(await queueOf(it)).toEqual({ held: true, leased: false })
  // Whatever else makes it due finds it paused again.
  await it.change(id, { description: 'other' })
  expect(await queueOf(it)).toEqual({ held: false, leased: false })
  await it.engine.runDue()
  expect(await queueOf(it)).toEqual({ held: true, leased: false })
  expect(it.bodies).toEqual([])
})

test('retries keep their times and attempts while it is paused; those that are overdue go out at once', async () => {
  await using it = await receiving()
  it.receiver.will(answer(500))
  const { id } = await it.endpoint()
  await makeCustomer(it.api)
  await it.engine.runDue()
  const [failed] = await it.log(id)
  await pause(it, id)
  expect((await it.read(id)).disablesAt).toBeNull()
  it.clock.advance(4 * day)
  await it.engine.runDue()
  expect(await it.log(id)).toMatchObject([
    { status: 'pending', attemptCount: 1, nextAttemptAt: failed.nextAttemptAt },
  ])
  it.receiver.will(answer(200))
  const resumed = await resume(it, id)
  expect(resumed.json).toMatchObject({ status: 'active', failingSince: null })
  await it.engine.runDue()
  expect(await it.log(id)).toMatchObject([{ status: 'succeeded', attemptCount: 2 }])
})

test('what is paused until shortly before the end of the log fails there, is counted, and can be recovered', async () => {
  await using it = await receiving()
  const { id } = await it.endpoint()
  await pause(it, id)
  await makeCustomer(it.api)
  it.clock.advance(29 * day - hour)
  await it.service.app.maintenance.run()
  await makeCustomer(it.api)
  expect(await statuses(it, id)).toEqual(['pending', 'pending'])
  it.clock.advance(2 * hour)
  await it.service.app.maintenance.run()
  expect(await it.log(id)).toMatchObject([
    { status: 'pending' },
    { status: 'failed', attemptCount: 0, lastError: { code: 'paused_too_long' } },
  ])
  const { total } = (await it.api.get(`/v1/webhooks/${id}/stats?step=1h`)).json
  expect(total.failed).toEqual({ paused_too_long: 1 })
  await resume(it, id)
  const { missedSince: since } = await it.read(id)
  expect((await it.api.post(`/v1/webhooks/${id}/recover`, { since })).status).toBe(202)
  await deliveryJobsOn(it.service, it.clock).runDue()
  await it.engine.runDue()
  expect(await statuses(it, id)).toEqual(['succeeded', 'succeeded'])
})

test('disabling a paused endpoint fails what was kept; a disabled one can be enabled as paused', async () => {
  await using it = await receiving()
  const { id } = await it.endpoint()
  await pause(it, id)
  await makeCustomer(it.api)
  expect((await it.change(id, { status: 'disabled' })).json).toMatchObject({
    status: 'disabled',
    disabledReason: 'manual',
  })
  await it.engine.runDue()
  expect(await it.log(id)).toMatchObject([{ status: 'failed', lastError: { code: 'endpoint_disabled' } }])
  expect((await pause(it, id)).json).toMatchObject({ status: 'paused', disabledReason: null })
  const [failed] = await it.log(id)
  expect((await retry(it.api, failed)).status).toBe(202)
  await it.engine.runDue()
  expect(await statuses(it, id)).toEqual(['pending'])
  await resume(it, id)
  await it.engine.runDue()
  expect(await statuses(it, id)).toEqual(['succeeded'])
})

test('a recovery of a paused endpoint waits for it', async () => {
  await using it = await receiving()
  const jobs = deliveryJobsOn(it.service, it.clock)
  await makeCustomer(it.api)
  const { id } = await it.endpoint()
  await pause(it, id)
  const since = at(it.clock.now() - minute)
  await it.api.post(`/v1/webhooks/${id}/recover`, { since, includeBeforeCreation: true })
  await jobs.runDue()
  expect(await statuses(it, id)).toEqual([])
  await resume(it, id)
  it.clock.advance(minute)
  await jobs.runDue()
  await it.engine.runDue()
  expect(await statuses(it, id)).toEqual(['succeeded'])
})
