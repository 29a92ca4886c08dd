/** Search documents of an earlier release are written again, and nothing else changes. */
import { expect, test } from 'vitest'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { lockRow } from '../../../testbed/locks.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { kinds } from '../../src/desk/index.ts'
import { backfillOf } from './releases.fixture.ts'

const shared = sharedService()

test('documents without the mark of this release are written again, as of the row, without a stamp', async () => {
  const { database } = shared()
  const api = await shared().newOrganization()
  const { pool } = database
  const customers = await Promise.all(
    Array.from({ length: 70 }, (_, n) =>
      makeCustomer(api, { name: `Ada ${n}`, externalId: `crm-${n}`, customAttributes: { plan: 'gold' } }),
    ),
  )
  const ticket = await makeTicket(api, { subject: '請求書のダウンロード', tags: ['vip'] })
  const before = (await api.get('/v1/changes?updatedAfter=1970-01-01T00:00:00Z&limit=100')).text
  const documents = async () => {
    const { rows } = await pool.query<{ terms: string }>(
      `select w.terms from customers_words w where w.organization_id = $1
       union all select w.terms from tickets_words w where w.organization_id = $1 order by 1`,
      [api.organizationId],
    )
    return rows.map(({ terms }) => terms)
  }
  const written = await documents()
  // As the first release wrote them: words of the name, tags, and runs as one word.
  await pool.query(`update customers_words set terms = 'ada' where organization_id = $1`, [
    api.organizationId,
  ])
  await pool.query(
    `update tickets_words set terms = '#vip 請求書のダウンロード' where organization_id = $1`,
    [api.organizationId],
  )
  const found = async (query: string) => (await api.get(`/v1/${query}`)).json.pagination.total
  expect(await found('customers?customAttribute=plan:gold')).toBe(0)
  expect(await found('tickets?tag=vip')).toBe(1)

  // While a writer holds the organization, its documents wait for the next run.
  const backfill = backfillOf(pool, kinds)
  const lock = await lockRow(database, 'organization_clocks', { organizationId: api.organizationId })
  await backfill.run()
  expect(await found('customers?customAttribute=plan:gold')).toBe(0)
  await lock.release()
  await backfill.run()
  expect(await documents()).toEqual(written)
  expect(await found('customers?customAttribute=plan:gold')).toBe(customers.length)
  expect(await found(`tickets?q=${encodeURIComponent('ダウンロード 1')}`)).toBe(1)
  expect((await api.get(`/v1/tickets/${ticket.id}`)).json.updatedAt).toBe(ticket.updatedAt)
  expect((await api.get('/v1/changes?updatedAfter=1970-01-01T00:00:00Z&limit=100')).text).toBe(before)
})

test('names that the rules of an earlier release did not find are found after the backfill', async () => {
  const { database } = shared()
  const api = await shared().newOrganization()
  await makeCustomer(api, { name: 'Müller', phone: '+4930555123456' })
  await database.pool.query(
    `update customers_words set terms = '~3 müller 4930555123456' where organization_id = $1`,
    [api.organizationId],
  )
  const found = async (q: string) => (await api.get(`/v1/customers?q=${q}`)).json.pagination.total
  expect([await found('muller'), await found('030555123456')]).toEqual([0, 0])
  await backfillOf(database.pool, kinds).run()
  expect([await found('muller'), await found('030555123456')]).toEqual([1, 1])
})
