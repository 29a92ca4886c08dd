import { Pool } from 'pg'
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { day } from '../../../testbed/hooks.ts'
import { interposed } from '../../../testbed/interpose.ts'
import { lockRow } from '../../../testbed/locks.ts'
import { testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'
import { checkMaintenance } from '../../src/doctor/database.ts'
import { logWeeks, weeksText } from '../../src/retention/log-weeks.ts'
import { createMaintenance } from '../../src/retention/maintenance.ts'

const shared = sharedService()

test('stored payloads of removed objects are erased, their removal records and all others stay', async () => {
  const service = shared()
  const api = await service.newOrganization()
  const ticket = await makeTicket(api)
  await api.patch(`/v1/tickets/${ticket.id}`, { status: 'open' })
  const kept = await makeTicket(api)
  await api.delete(`/v1/customers/${ticket.customerId}`)
  const before = await storedEvents(service, api.organizationId)
  const gone = [ticket.id, ticket.customerId]

  await service.app.maintenance.run()

  const after = await storedEvents(service, api.organizationId)
  expect(after).toEqual(
    before.map((event) =>
      gone.includes(event.subjectId) && !event.type.endsWith('.deleted') ? { ...event, body: null } : event,
    ),
  )
  expect(
    after
      .filter(({ body }) => body === null)
      .map(({ type }) => type)
      .sort(),
  ).toEqual(['customer.created', 'ticket.created', 'ticket.status_changed', 'ticket.updated'])
  expect((await api.get(`/v1/tickets/${kept.id}`)).json).toEqual(kept)
  const { data } = (await api.get(`/v1/tickets?updatedAfter=${ticket.updatedAt}`)).json
  expect(data.map(({ id }: { id: string }) => id)).toEqual([kept.id, ticket.id])
})

test('nothing of a removed object is left in the database but its removal records', async () => {
  const service = shared()
  const api = await service.newOrganization()
  const secret = 'Xanthippe'
  const { id } = (
    await api.post('/v1/customers', { name: secret, tags: [secret] }, { 'idempotency-key': 'k' })
  ).json
  await makeTicket(api, { customerId: id, subject: secret, description: secret })
  await api.patch(`/v1/customers/${id}`, { company: secret, externalId: secret })
  await api.delete(`/v1/customers/${id}`)
  await service.app.maintenance.run()
  const { pool } = service.database
  const stored = await pool.query<{ table: string }>(
    `select c.table_name as table from information_schema.columns c
       where c.table_schema = 'public' and c.column_name = 'organization_id'`,
  )
  for (const { table } of stored.rows) {
    const { rows } = await pool.query(
      `select 1 from ${table} t where t.organization_id = $1 and lower(t::text) like '%xanthippe%'`,
      [api.organizationId],
    )
    expect(rows, table).toEqual([])
  }
})

test('a request whose answer was erased is told so, and makes nothing anew', async () => {
  const service = shared()
  const api = await service.newOrganization()
  const post = (name: string) => api.post('/v1/customers', { name }, { 'idempotency-key': 'k' })
  const { id } = (await post('Ada')).json
  await api.delete(`/v1/customers/${id}`)
  await service.app.maintenance.run()
  const replayed = await post('Ada')
  expect([replayed.status, replayed.json.code]).toEqual([404, 'not_found'])
  expect(replayed.json.detail).toContain('removed')
  expect((await post('Grace')).json.code).toBe('idempotency_key_reused')
  expect((await api.get('/v1/customers')).json.pagination.total).toBe(0)
})

test('what is due is done however much it is, and doing it again does nothing more', async () => {
  const service = shared()
  const api = await service.newOrganization()
  const { id: customerId } = await makeCustomer(api)
  await Promise.all(Array.from({ length: 60 }, () => makeTicket(api, { customerId })))
  // As if many more had been removed: each is a row of work.
  await service.database.pool.query(
    `insert into erasures (organization_id, what, subject_id, removed_id, removed_at)
       select $1, 'object', n.id, n.id, '2020-01-01' from (select gen_random_uuid() as id from generate_series(1, 1200)) n`,
    [api.organizationId],
  )
  await api.delete(`/v1/customers/${customerId}`)
  await service.app.maintenance.run()
  // What was removed just now is looked at once more, as an attempt may be under way.
  const { rows } = await service.database.pool.query('select 1 from erasures where organization_id = $1', [
    api.organizationId,
  ])
  expect(rows).toHaveLength(61)
  const once = await storedEvents(service, api.organizationId)
  expect(once.filter(({ body }) => body === null)).toHaveLength(61)
  await service.app.maintenance.run()
  expect(await storedEvents(service, api.organizationId)).toEqual(once)
})

test('stored responses are forgotten after 24 hours, not before', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const keys = async () => {
    await service.app.maintenance.run()
    const { rows } = await service.database.pool.query('select k.key from idempotency_keys k order by k.key')
    return rows.map(({ key }) => key)
  }
  await service.api.post('/v1/customers', { name: 'a' }, { 'idempotency-key': 'first' })
  clock.advance(60_000)
  await (await service.newOrganization()).post(
    '/v1/customers',
    { name: 'a' },
    { 'idempotency-key': 'second' },
  )
  clock.advance(24 * 3_600_000 - 60_001)
  expect(await keys()).toEqual(['first', 'second'])
  clock.advance(1)
  expect(await keys()).toEqual(['second'])
  clock.advance(60_000)
  expect(await keys()).toEqual([])
})

test('a locked row fails one step of its own organization; all else is done, and the rest when it is free', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { database } = service
  const [one, other] = [service.api, await service.newOrganization()]
  await service.app.maintenance.run()
  for (const api of [one, other]) {
    const { id } = (await api.post('/v1/customers', { name: 'Ada' }, { 'idempotency-key': 'made' })).json
    await api.delete(`/v1/customers/${id}`)
  }
  clock.advance(90 * day)
  const impatient = new Pool({ ...database.connection, options: '-c lock_timeout=250', max: 1 })
  const steps: [string, boolean][] = []
  const maintain = async () => {
    steps.length = 0
    const { run } = createMaintenance({
      pool: impatient,
      clock,
      log: service.app.server.log,
      logRetention: 80 * day,
      onStep: (step, hasFailed) => steps.push([step, hasFailed]),
    })
    await run()
    return steps.filter(([, hasFailed]) => hasFailed).map(([step]) => step)
  }
  const erased = async () => {
    const events = await Promise.all([one, other].map((api) => storedEvents(service, api.organizationId)))
    return events.map((its) => its.find(({ type }) => type === 'customer.created')?.body === null)
  }
  try {
    const { rows } = await database.pool.query<{ id: string }>(
      `select e.id from events e where e.organization_id = $1 and e.type = 'customer.created'`,
      [one.organizationId],
    )
    await using _lock = await lockRow(database, 'events', {
      organizationId: one.organizationId,
      id: rows[0]!.id,
    })
    expect(await maintain()).toEqual(['erase_payloads'])
    expect(await erased()).toEqual([false, true])
    expect((await database.pool.query('select 1 from idempotency_keys')).rows).toEqual([])
    expect(weeksText(await logWeeks(database.pool))).not.toContain('deliveries of 2026-02-23')
    expect(await checkMaintenance(database.pool, clock, 80 * day)).toMatchObject({
      verdict: 'warning',
      found: expect.stringContaining('payloads of removed objects'),
    })
    await _lock.release()
    expect(await maintain()).toEqual([])
    expect(await erased()).toEqual([true, true])
    expect(await checkMaintenance(database.pool, clock, 80 * day)).toMatchObject({ verdict: 'ok' })
  } finally {
    await impatient.end()
  }
})

test('stopped in the middle, it ends after the statement under way, and the next run does the rest', async () => {
  await using service = await testService()
  const { pool } = service.database
  await pool.query(
    `insert into erasures (organization_id, what, subject_id, removed_id, removed_at)
       select $1, 'object', n.id, n.id, '2020-01-01' from (select gen_random_uuid() as id from generate_series(1, 1200)) n`,
    [service.api.organizationId],
  )
  const left = async () => (await pool.query('select 1 from erasures')).rows.length
  const reached = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  let after = 0
  const beside = interposed(service.database, async (text) => {
    after++
    if (!text.startsWith('delete from erasures')) return
    reached.resolve()
    after = 0
    await goOn.promise
  })
  const maintenance = createMaintenance({
    pool: beside.pool,
    clock: testClock(),
    log: service.app.server.log,
    logRetention: deliverySettings.logRetention,
  })
  maintenance.start()
  await reached.promise
  const stopped = maintenance.stop()
  goOn.resolve()
  await stopped
  expect([after, await left()]).toEqual([0, 700])
  await service.app.maintenance.run()
  expect(await left()).toBe(0)
})
