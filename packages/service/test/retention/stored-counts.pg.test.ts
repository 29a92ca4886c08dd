/** How much an organization stores: told of the largest by rank, and in the log of who comes near a limit. */
import pino from 'pino'
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { makeWebhook } from '../../../testbed/hooks.ts'
import { testService } from '../../../testbed/service.ts'
import { logOptions } from '../../src/kernel/log.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { createMaintenance, largestStores } from '../../src/retention/maintenance.ts'

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
