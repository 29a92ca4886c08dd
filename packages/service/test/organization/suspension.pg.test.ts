/** A suspended organization's keys are refused and its deliveries wait, and nothing of it is lost. */

import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { deliveryJobsOn } from '../../../testbed/delivery-jobs.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { lifeless, testEngine } from '../../../testbed/engine.ts'
import { heldSend } from '../../../testbed/held-send.ts'
import { day, deliveriesOf, hour, makeWebhook, readWebhook } from '../../../testbed/hooks.ts'
import { makeKey } from '../../../testbed/keys.ts'
import { waitingBackends } from '../../../testbed/locks.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { listOrganizations } from '../../src/organization/organization.ts'
import { resumeOrganization, suspendOrganization } from '../../src/organization/suspension.ts'

const clock = testClock()
const shared = sharedService({ clock })
const suspend = (api: Api) => suspendOrganization(shared().database.pool, clock, api.organizationId)
const resume = (api: Api) => resumeOrganization(shared().database.pool, clock, api.organizationId)
const endpoint_queues = async (api: Api) =>
  (
    await shared().database.pool.query(
      'select l.due_at, l.lease_id from endpoint_queues l where l.organization_id = $1',
      [api.organizationId],
    )
  ).rows
/** What is pending, without asking the API, which would refuse. */
const statuses = async (api: Api) =>
  (
    await shared().database.pool.query(
      'select d.status, d.attempt_count from deliveries d where d.organization_id = $1 order by d.status desc',
      [api.organizationId],
    )
  ).rows

test('its keys get 403 with a reason of its own, on every route; a revoked one gets 401, and a neighbour is served', async () => {
  const api = await shared().newOrganization()
  const neighbour = await shared().newOrganization()
  const key = await makeKey(api)
  await api.delete(`/v1/api-keys/${key.id}`)
  const { updatedAt } = (await api.get('/v1/organization')).json
  expect(await suspend(api)).toBe('done')
  for (const path of ['/v1/customers', '/v1/organization', '/v1/changes', '/v1/webhooks'])
    expect((await api.get(path)).json).toMatchObject({
      status: 403,
      code: 'insufficient_scope',
      detail: expect.stringMatching(/^This organization is suspended: .* the key is not revoked\.$/),
    })
  const refused = await api.post('/v1/customers', { name: 'Ada' })
  expect(refused.json).toMatchObject({ status: 403, code: 'insufficient_scope' })
  expect((await shared().withToken(key.token).get('/v1/customers')).status).toBe(401)
  expect((await neighbour.get('/v1/customers')).status).toBe(200)

  expect(await resume(api)).toBe('done')
  expect((await api.get('/v1/customers')).json.pagination.total).toBe(0)
  expect((await api.get('/v1/organization')).json.updatedAt).toBe(updatedAt)
})

test('it is suspended once and resumed once; an unknown one is said to be', async () => {
  const api = await shared().newOrganization()
  const nobody = { organizationId: '01980000-0000-7000-8000-000000000009' } as Api
  const standing = async () =>
    (await listOrganizations(shared().database.pool, api.organizationId)).map(({ status }) => status)
  expect(await resume(api)).toBe('unchanged')
  expect([await suspend(api), await suspend(api)]).toEqual(['done', 'unchanged'])
  expect(await standing()).toEqual(['suspended'])
  expect([await resume(api), await resume(api)]).toEqual(['done', 'unchanged'])
  expect(await standing()).toEqual(['active'])
  expect([await suspend(nobody), await resume(nobody)]).toEqual(['unknown', 'unknown'])
})

test('what is pending waits, in nobody’s way, and goes out in order when it is resumed', async () => {
  const api = await shared().newOrganization()
  const { id } = await makeWebhook(api)
  const { engine, queues, sent } = testEngine(shared(), clock)
  const customers = [await makeCustomer(api)]
  clock.advance(1)
  customers.push(await makeCustomer(api))
  await suspend(api)
  clock.advance(31 * day)
  expect(await engine.runDue()).toBe(1)
  expect(sent).toEqual([])
  // Nobody looks at it again, and nothing takes it for forgotten.
  expect(await endpoint_queues(api)).toEqual([{ due_at: Infinity, lease_id: null }])
  expect(await queues.sweep(clock.now(), hour)).toBe(0)
  expect(await engine.runDue()).toBe(0)
  expect((await statuses(api)).map(({ status }) => status)).toEqual(['pending', 'pending'])

  await resume(api)
  await engine.runDue()
  expect(sent.map(({ body }) => JSON.parse(body).data.id)).toEqual(customers.map((customer) => customer.id))
  expect((await readWebhook(api, id)).status).toBe('active')
  expect((await statuses(api)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
})

test('an attempt under way is completed, and nothing after it begins', async () => {
  const api = await shared().newOrganization()
  await makeWebhook(api)
  const held = heldSend()
  const { engine } = testEngine(shared(), clock, { send: held.send, concurrency: lifeless })
  await makeCustomer(api)
  const round = engine.runDue()
  const attempt = await held.made(1)
  await makeCustomer(api)
  await suspend(api)
  // The drain is told that there is more, and finds out.
  engine.wakeAll()
  attempt.answer(200)
  await round
  expect(held.attempts).toHaveLength(1)
  expect(await statuses(api)).toEqual([
    { status: 'succeeded', attempt_count: 1 },
    { status: 'pending', attempt_count: 0 },
  ])
  expect(await endpoint_queues(api)).toEqual([{ due_at: Infinity, lease_id: null }])
  await resume(api)
})

test('a suspension counts for no endpoint as time in which it failed', async () => {
  const api = await shared().newOrganization()
  const { id } = await makeWebhook(api)
  const { engine, answer } = testEngine(shared(), clock)
  answer(500)
  await makeCustomer(api)
  await engine.runDue()
  const since = Date.parse((await readWebhook(api, id)).failingSince)
  clock.advance(hour)
  await suspend(api)
  clock.advance(10 * day)
  await engine.runDue()
  await resume(api)
  await engine.runDue()
  const after = await readWebhook(api, id)
  expect(after.status).toBe('active')
  expect(Date.parse(after.failingSince)).toBe(since + 10 * day)
  expect(await deliveriesOf(api, id)).toMatchObject([{ status: 'pending', attemptCount: 2 }])
  answer(200)
  clock.advance(hour)
  await engine.runDue()
  expect((await deliveriesOf(api, id))[0].status).toBe('succeeded')
})

test('resumed while a worker lets go of its queue, the queue is looked at', async () => {
  const api = await shared().newOrganization()
  await makeWebhook(api)
  await makeCustomer(api)
  await suspend(api)
  const resumed: string[] = []
  // At the very moment: what holds the queue waits for the resumption, and sees it.
  const { engine, sent } = testEngine(shared(), clock, {
    through: (queues) => ({
      ...queues,
      async hold(endpoint) {
        const client = await shared().database.pool.connect()
        await client.query('begin')
        await client.query('update organizations set suspended_at = null where organization_id = $1', [
          api.organizationId,
        ])
        const holding = queues.hold(endpoint)
        await waitingBackends(shared().database, 1)
        await client.query('update endpoint_queues set due_at = $2 where organization_id = $1', [
          api.organizationId,
          new Date(clock.now()),
        ])
        await client.query('commit')
        client.release()
        await holding
        resumed.push(endpoint.webhookId)
      },
    }),
  })
  await engine.runDue()
  clock.advance(1)
  await engine.runDue()
  expect(resumed).toHaveLength(1)
  expect(sent).toHaveLength(1)
})

test('what a large commit has left to be made waits too', async () => {
  const api = await shared().newOrganization()
  for (let n = 0; n < 2; n++) await makeWebhook(api)
  const items = Array.from({ length: 501 }, (_, n) => ({ name: `many ${n}` }))
  expect((await api.post('/v1/customers/batch', { items })).status).toBe(200)
  await suspend(api)
  const deliveryJobs = deliveryJobsOn(shared(), clock)
  expect(await deliveryJobs.runDue()).toBe(0)
  await resume(api)
  await deliveryJobs.runDue()
  expect(await statuses(api)).toHaveLength(1_002)
})
