/** Which deliveries a commit creates: for each event one to each endpoint of its organization that is active and subscribed. */
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { deliveriesOf, hour, makeWebhook } from '../../../testbed/hooks.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const clock = testClock()
const shared = sharedService({ clock })

test('each event has one delivery to each endpoint that is active and subscribed, whose queue is then due', async () => {
  const api = await shared().newOrganization()
  const changed = { events: ['ticket.updated', 'ticket.status_changed'] }
  const { id: both } = await makeWebhook(api, changed)
  const { id: one } = await makeWebhook(api, { events: ['ticket.status_changed', 'customer.updated'] })
  const { id: disabled } = await makeWebhook(api, changed)
  expect((await api.patch(`/v1/webhooks/${disabled}`, { status: 'disabled' })).status).toBe(200)
  await makeWebhook(await shared().newOrganization(), changed)
  const { id: ticket } = await makeTicket(api)
  expect((await api.patch(`/v1/tickets/${ticket}`, { status: 'pending' })).status).toBe(200)

  const made = async (id: string) =>
    Object.fromEntries((await deliveriesOf(api, id)).map(({ eventType, eventId }) => [eventType, eventId]))
  const [ofBoth, ofOne] = [await made(both), await made(one)]
  expect(Object.keys(ofBoth).sort()).toEqual(changed.events.toSorted())
  expect(ofOne).toEqual({ 'ticket.status_changed': ofBoth['ticket.status_changed'] })
  expect((await api.get('/v1/deliveries')).json.pagination.total).toBe(3)

  const { pool } = shared().database
  const due = await pool.query<{ due: boolean }>(
    'select q.due_at is not null as due from endpoint_queues q where q.webhook_id = any($1)',
    [[both, one]],
  )
  expect(due.rows).toEqual([{ due: true }, { due: true }])
})

test('a delivery is due now though the stamps are ahead, as the clock was set back', async () => {
  const api = await shared().newOrganization()
  const { id } = await makeWebhook(api)
  await makeCustomer(api)
  clock.advance(-hour)
  await makeCustomer(api)
  const { rows } = await shared().database.pool.query<{ due: Date }>(
    'select d.next_attempt_at as due from deliveries d where d.webhook_id = $1 order by d.next_attempt_at limit 1',
    [id],
  )
  expect(rows[0]?.due.getTime()).toBe(clock.now())
})
