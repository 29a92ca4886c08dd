/** Tickets that are overdue: due before now, and neither resolved nor closed. */
import { expect, test } from 'vitest'
import { at, testClock } from '../../../testbed/clock.ts'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { hour } from '../../../testbed/hooks.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { ticket } from '../../src/desk/ticket/index.ts'
import { browseStatement } from '../../src/kinds/http/browse.ts'
import { parseListQuery } from '../../src/kinds/http/list-query.ts'

const clock = testClock()
const shared = sharedService({ clock })

test('a ticket is overdue from its time on, until it is resolved or has more time', async () => {
  const api = await shared().newOrganization()
  const { id: customerId } = await makeCustomer(api)
  const make = async (dueAt: string | null, subject: string) =>
    (await makeTicket(api, { customerId, subject, dueAt })).id as string
  const soon = await make(at(clock.now() + hour), 'soon')
  clock.advance(1)
  const later = await make(at(clock.now() - 1 + 2 * hour), 'later')
  await make(null, 'whenever')
  const overdue = async (query = '') => {
    const { data, pagination } = (await api.get(`/v1/tickets?overdue=true${query}`)).json
    expect(pagination.total).toBe(data.length)
    return data.map(({ id }: { id: string }) => id)
  }
  expect(await overdue()).toEqual([])
  clock.advance(hour - 1)
  expect(await overdue()).toEqual([])
  clock.advance(1)
  expect(await overdue()).toEqual([soon])
  clock.advance(hour)
  expect(await overdue()).toEqual([later, soon])
  expect(await overdue('&q=soon')).toEqual([soon])
  expect(await overdue('&priority=urgent')).toEqual([])
  await api.patch(`/v1/tickets/${soon}`, { status: 'resolved' })
  expect(await overdue()).toEqual([later])
  await api.patch(`/v1/tickets/${later}`, { dueAt: at(clock.now() + hour) })
  expect(await overdue()).toEqual([])
})

test('they are found by the index on their time', async () => {
  const { pool } = shared().database
  const { organizationId } = await shared().newOrganization()
  await pool.query(
    `insert into tickets (organization_id, id, created_at, updated_at, body, status, customer_id, number, priority)
       select $1::uuid, md5($1::uuid::text || n)::uuid, now(), now(), '{"dueAt":"' || case when n % 500 = 0 then 2020 else 2040 end
           || '-01-01T00:00:00.000Z"}', 'open', $1::uuid, n, 'normal'
         from generate_series(1, 20000) n`,
    [organizationId],
  )
  await pool.query('analyze tickets')
  const query = parseListQuery(
    ticket,
    { organizationId, scopes: ['*'] },
    new URLSearchParams('overdue=true'),
    clock,
  )
  if (!query.ok || query.value.mode !== 'browse') throw new Error('it is a list')
  const { text, values } = browseStatement(ticket, organizationId, query.value)
  const { rows } = await pool.query(`explain ${text}`, [...values])
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toContain('tickets_due')
  expect(plan).not.toContain('Seq Scan on tickets')
})
