/** Endpoints that are subscribed to all events of a kind, or to all events. */
import { expect, test } from 'vitest'
import { at } from '../../../testbed/clock.ts'
import { deliveryJobsOn } from '../../../testbed/delivery-jobs.ts'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { receiving } from './receiving.fixture.ts'

type It = Awaited<ReturnType<typeof receiving>>

const typesOf = async (it: It, id: string) => (await it.log(id)).map(({ eventType }) => eventType).toSorted()

test('an endpoint gets what its patterns match, each event once, and shows them as they were given', async () => {
  await using it = await receiving()
  const ofTickets = await it.endpoint({ events: ['ticket.*'] })
  const all = await it.endpoint({ events: ['*', 'ticket.created', 'ticket.*'] })
  expect(all.events).toEqual(['*', 'ticket.created', 'ticket.*'])
  const { id } = await makeTicket(it.api)
  await it.api.patch(`/v1/tickets/${id}`, { subject: 'B' })
  await it.api.delete(`/v1/tickets/${id}`)
  await it.engine.runDue()
  const tickets = ['ticket.created', 'ticket.deleted', 'ticket.updated']
  expect(await typesOf(it, ofTickets.id)).toEqual(tickets)
  expect(await typesOf(it, all.id)).toEqual(['customer.created', ...tickets])
  // The others would have had the ticket, which is gone.
  expect(it.bodies.map(({ type }) => type).toSorted()).toEqual([
    'customer.created',
    'ticket.deleted',
    'ticket.deleted',
  ])
})

test('a recovery, a large commit and events about endpoints follow patterns; a ping of another endpoint does not', async () => {
  await using it = await receiving()
  const jobs = deliveryJobsOn(it.service, it.clock)
  const all = await it.endpoint({ events: ['*'] })
  const other = await it.endpoint({ events: ['customer.*'] })
  await it.change(all.id, { status: 'disabled' })
  await makeCustomer(it.api)
  await it.api.post(`/v1/webhooks/${other.id}/ping`, undefined)
  await it.engine.runDue()
  await it.change(all.id, { status: 'active' })
  const since = at(it.clock.now() - 60_000)
  expect(
    (await it.api.post(`/v1/webhooks/${all.id}/recover`, { since, includeBeforeCreation: true })).status,
  ).toBe(202)
  await jobs.runDue()
  expect(await typesOf(it, all.id)).toEqual(['customer.created'])
  const items = Array.from({ length: 600 }, (_, n) => ({ name: `customer ${n}` }))
  expect((await it.api.post('/v1/customers/batch', { items })).status).toBe(200)
  expect(await it.log(other.id, '&status=pending')).toHaveLength(0)
  await jobs.runDue()
  const { total } = (await it.api.get(`/v1/webhooks/${all.id}/deliveries`)).json.pagination
  expect(total).toBe(601)
})
