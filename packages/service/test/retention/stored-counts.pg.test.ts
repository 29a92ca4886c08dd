/** How much an organization stores: counted from before, told of the largest by rank, and in the log of who comes near a limit. */
import pino from 'pino'
import { expect, test } from 'vitest'
import { applyWithin, migrate } from '../../src/db/migrate.ts'
import { kinds } from '../../src/desk/index.ts'
import { createContentRecount } from '../../src/journal/content-recount.ts'
import { newId } from '../../src/kernel/ids.ts'
import { logOptions } from '../../src/kernel/log.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { createMaintenance } from '../../src/retention/maintenance.ts'
import { largestStores } from '../../src/retention/storage.ts'
import { schemaOf } from '../../src/schema.ts'
import { testClock } from '../harness/clock.ts'
import { testDatabase } from '../harness/database.ts'
import { deliverySettings } from '../harness/delivery-settings.ts'
import { makeCustomer, makeTicket } from '../harness/desk.ts'
import { createEarlierOrganization } from '../harness/earlier-organization.ts'
import { makeWebhook } from '../harness/hooks.ts'
import { testService } from '../harness/service.ts'

test('what was stored before it was counted is counted after the upgrade, with content digests', async () => {
  const schema = schemaOf()
  const before = schema.migrations
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .filter(({ id }) => id < '20261122-40-stored-counts')
  await using database = await testDatabase({ template: null })
  const { pool } = database
  await applyWithin(pool, before)
  const organizations = [
    await createEarlierOrganization(pool, 'One'),
    await createEarlierOrganization(pool, 'Other'),
  ]
  const expected: unknown[] = []
  for (const [n, { organizationId }] of organizations.entries()) {
    for (const [kind, table] of [
      ['teammate', 'teammates'],
      ['booking', 'bookings'],
    ] as const) {
      const bodies = ['x', 'ä'.repeat(3_000), `${kind}${n}`]
      for (const [place, body] of [...bodies, 'gone', 'gone too'].entries()) {
        const removed = place >= bodies.length
        await pool.query(
          `insert into ${table} (organization_id, id, created_at, updated_at, removed_at, body)
             values ($1, $2, $3, $3, case when $4 then $3::timestamptz end, $5)`,
          [organizationId, newId(systemClock), new Date(), removed, body],
        )
      }
      await pool.query(
        'insert into kind_counters (organization_id, kind, live_count, digest, last_number) values ($1, $2, $3, 0, 0)',
        [organizationId, kind, bodies.length],
      )
      const bytes = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0)
      expected.push({ organizationId, kind, bytes, removed: 2 })
    }
  }
  await migrate(pool, schema)
  const log = pino({ level: 'silent' })
  await createContentRecount({ pool, tables: kinds.map(({ table }) => table), log }).run()
  const { rows } = await pool.query(
    `select k.organization_id as "organizationId", k.kind, k.stored_bytes::int as bytes, k.removed_count::int as removed
       from kind_counters k`,
  )
  expect(rows).toHaveLength(expected.length)
  expect(rows).toEqual(expect.arrayContaining(expected))
})

test('gauges tell of the largest by rank, and have no series of an organization', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { pool } = service.database
  const bytesOf = (...objects: object[]) =>
    objects.reduce((sum, object) => sum + Buffer.byteLength(JSON.stringify(object)), 0)
  const small = await service.newOrganization()
  const inSmall = await makeCustomer(small, { name: 'x'.repeat(200) })
  const large = [await makeCustomer(service.api), await makeCustomer(service.api)]
  const gone = await makeTicket(service.api, { customerId: large[0].id })
  await service.api.delete(`/v1/tickets/${gone.id}`)
  const gauges = async () => {
    const { text } = await service.withToken(null).get('/metrics')
    const lines = text.matchAll(/^deskwire_organization_(\w+)_largest\{(?:.*,)?rank="(\d+)".*\} (\d+)$/gm)
    const found: Record<string, number[]> = {}
    for (const [, measure = '', rank, value] of lines) {
      found[measure] ??= []
      found[measure][Number(rank) - 1] = Number(value)
    }
    return found
  }
  const ranked = (...values: number[]) => [...values, ...Array(10 - values.length).fill(0)]
  const first = await gauges()
  expect(first.rows).toEqual(ranked(2, 1))
  expect(first.bytes).toEqual(ranked(bytesOf(...large), bytesOf(inSmall)))
  expect(first.removed).toEqual(ranked(1))
  expect(first.log).toHaveLength(10)

  // However many organizations there are; asked again no sooner than a minute later.
  for (let n = 0; n < 12; n++) await makeCustomer(await service.newOrganization())
  expect((await gauges()).rows).toEqual(ranked(2, 1))
  clock.advance(61_000)
  expect((await gauges()).rows).toEqual([2, ...Array(9).fill(1)])
  const { text } = await service.withToken(null).get('/metrics')
  expect(text).not.toContain(service.api.organizationId)
  expect((await largestStores(pool)).rows).toHaveLength(10)
})

test('the log of an organization is estimated, and nothing of it is counted', async () => {
  await using service = await testService()
  const { pool } = service.database
  const other = await service.newOrganization()
  await makeWebhook(service.api)
  for (let n = 0; n < 30; n++) await makeCustomer(service.api)
  for (let n = 0; n < 10; n++) await makeCustomer(other)
  for (const table of ['events', 'deliveries', 'attempts']) await pool.query(`analyze ${table}`)
  // An event and a delivery each here, events alone there.
  expect((await largestStores(pool)).log).toEqual([60, 10])
  // What came since is told of when the statistics are renewed.
  for (let n = 0; n < 5; n++) await makeCustomer(other)
  expect((await largestStores(pool)).log).toEqual([60, 10])
  await pool.query('analyze events')
  expect((await largestStores(pool)).log).toEqual([60, 15])
})

test('maintenance tells of those that come near a limit, and of nobody where there is none', async () => {
  await using service = await testService()
  const { pool } = service.database
  const near = await service.newOrganization()
  for (let n = 0; n < 4; n++) await makeCustomer(near)
  for (let n = 0; n < 3; n++) await makeCustomer(service.api)
  const run = async (storage?: { rows: number | null; bytes: number | null }) => {
    const lines: { organizationId?: string }[] = []
    const log = pino(logOptions, { write: (line) => lines.push(JSON.parse(line)) })
    const { logRetention } = deliverySettings
    const maintenance = createMaintenance({
      pool,
      clock: systemClock,
      log,
      logRetention,
      ...(storage && { storage }),
    })
    await maintenance.run()
    return lines
  }
  expect(await run()).toEqual([])
  expect(await run({ rows: 5, bytes: null })).toMatchObject([
    { level: 'warn', organizationId: near.organizationId, rows: 4, maxRows: 5, maxBytes: null },
  ])
  const told = await run({ rows: null, bytes: 100 })
  expect(told.map(({ organizationId }) => organizationId)).toEqual([
    near.organizationId,
    service.api.organizationId,
  ])
  expect(await run({ rows: 6, bytes: 1_000_000 })).toEqual([])
})
