import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import {
  applyRecords,
  beginning,
  checkpointOf,
  drain,
  type SyncRecord,
  syncPage,
} from '../../../testbed/drain.ts'
import { testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { lastStamp } from '../../../testbed/stored.ts'

const shared = sharedService()
const ids = (records: readonly SyncRecord[]) => records.map(({ id }) => id)

describe('updatedAfter', () => {
  test('is exclusive', async () => {
    const api = await shared().newOrganization()
    const [a, b] = [await makeCustomer(api), await makeCustomer(api)]
    expect(ids((await drain(api, '/v1/customers', `updatedAfter=${a.updatedAt}`)).records)).toEqual([b.id])
    expect((await drain(api, '/v1/customers', `updatedAfter=${b.updatedAt}`)).records).toEqual([])
    const justBefore = new Date(Date.parse(a.updatedAt) - 1).toISOString()
    expect(ids((await drain(api, '/v1/customers', `updatedAfter=${justBefore}`)).records)).toEqual([
      a.id,
      b.id,
    ])
  })

  test('may have any offset, and finer than a millisecond rounds down', async () => {
    const api = await shared().newOrganization()
    const [a, b] = [await makeCustomer(api), await makeCustomer(api)]
    const shifted = new Date(Date.parse(a.updatedAt) + 5.5 * 3_600_000).toISOString().replace('Z', '%2B05:30')
    expect(ids((await drain(api, '/v1/customers', `updatedAfter=${shifted}`)).records)).toEqual([b.id])
    const finer = new Date(Date.parse(a.updatedAt) - 1).toISOString().replace('Z', '9999Z')
    expect(ids((await drain(api, '/v1/customers', `updatedAfter=${finer}`)).records)).toEqual([a.id, b.id])
  })

  test("later than the organization's clock is read as that clock: what comes next is not lost", async () => {
    const api = await shared().newOrganization()
    await makeCustomer(api)
    for (const later of [
      '2999-01-01T00:00:00Z',
      '9999-12-31T23:59:59.999Z',
      new Date(Date.now() + 60_000).toISOString(),
    ]) {
      const page = await syncPage(api, '/v1/customers', `updatedAfter=${later}`)
      expect(page).toMatchObject({ data: [], pagination: { hasMore: false } })
      const next = await makeCustomer(api)
      expect((await syncPage(api, '/v1/customers', `cursor=${page.pagination.nextCursor}`)).data).toEqual([
        next,
      ])
    }
  })

  test('of the earliest time there is works like any other', async () => {
    const api = await shared().newOrganization()
    const a = await makeCustomer(api)
    expect((await drain(api, '/v1/customers', 'updatedAfter=0001-01-01T00:00:00Z')).records).toEqual([a])
  })

  test('of the last record of a drained sync resumes it without loss, rows and removals alike', async () => {
    const api = await shared().newOrganization()
    const copy = new Map<string, SyncRecord>()
    let watermark = '1970-01-01T00:00:00Z'
    const { id: customerId } = await makeCustomer(api)
    for (let round = 0; round < 6; round++) {
      const made = await makeTicket(api, { customerId })
      const gone = await makeTicket(api, { customerId })
      if (round % 2 === 0) await api.delete(`/v1/tickets/${gone.id}`)
      if (round > 2) await api.patch(`/v1/tickets/${made.id}`, { subject: `${round}` })
      const { records, last } = await drain(api, '/v1/tickets', `updatedAfter=${watermark}`, 2)
      applyRecords(copy, records)
      const final = records.at(-1)
      watermark = final?.updatedAt ?? final?.removedAt ?? watermark
      expect(checkpointOf(copy.values())).toEqual(last.pagination.checkpoint)
    }
    expect(copy.size).toBe(9)
  })
})

describe('the checkpoint', () => {
  test('is on the last page only, and is that of what exists', async () => {
    const api = await shared().newOrganization()
    const empty = await syncPage(api, '/v1/customers', beginning)
    expect(empty.pagination.checkpoint).toEqual(checkpointOf([]))
    for (let n = 0; n < 5; n++) await makeCustomer(api)
    const [first] = (await api.get('/v1/customers')).json.data
    await api.patch(`/v1/customers/${first.id}`, { name: 'B' })
    const page = await syncPage(api, '/v1/customers', beginning, 4)
    expect(page.pagination).toMatchObject({ hasMore: true })
    expect(page.pagination).not.toHaveProperty('checkpoint')
    const { last } = await drain(api, '/v1/customers', `cursor=${page.pagination.nextCursor}`, 4)
    expect(last.pagination.checkpoint).toEqual(checkpointOf((await api.get('/v1/customers')).json.data))
  })

  test('follows creations, changes, removals and cascades, wherever the sync started', async () => {
    const api = await shared().newOrganization()
    const customers = []
    for (let n = 0; n < 4; n++) customers.push(await makeCustomer(api))
    await Promise.all(
      customers.flatMap(({ id: customerId }) => [
        makeTicket(api, { customerId }),
        makeTicket(api, { customerId }),
      ]),
    )
    const expectExact = async () => {
      for (const path of ['/v1/customers', '/v1/tickets']) {
        const rows = (await api.get(path)).json.data
        for (const start of [beginning, `updatedAfter=${await lastStamp(shared(), api.organizationId)}`]) {
          const { last } = await drain(api, path, start)
          expect(last.pagination.checkpoint).toEqual(checkpointOf(rows))
          expect(last.pagination.total).toBe(rows.length)
        }
      }
    }
    await expectExact()
    await Promise.all(customers.map(({ id }, n) => api.patch(`/v1/customers/${id}`, { name: `${n}` })))
    await expectExact()
    await Promise.all([
      api.delete(`/v1/customers/${customers[0].id}`),
      api.delete(`/v1/customers/${customers[2].id}`),
    ])
    await expectExact()
    for (const { id } of [customers[1], customers[3]]) await api.delete(`/v1/customers/${id}`)
    await expectExact()
    expect((await syncPage(api, '/v1/tickets', beginning)).pagination.checkpoint).toEqual(checkpointOf([]))
  })
})

test('a clock ahead of every write does not let a watermark run ahead of them', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  await makeCustomer(api)
  clock.advance(3_600_000)
  // The client's clock says so; nothing was written since.
  const page = await syncPage(api, '/v1/customers', `updatedAfter=${new Date(clock.now()).toISOString()}`)
  clock.advance(-1_800_000)
  const made = await makeCustomer(api)
  expect((await syncPage(api, '/v1/customers', `cursor=${page.pagination.nextCursor}`)).data).toEqual([made])
})
