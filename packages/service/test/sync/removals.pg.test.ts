import { describe, expect, test } from 'vitest'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import {
  applyRecords,
  beginning,
  checkpointOf,
  drain,
  type SyncRecord,
  syncPage,
} from '../../../testbed/drain.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const shared = sharedService()

async function makeMany(api: Api, count: number): Promise<string[]> {
  const made: string[] = []
  for (let n = 0; n < count; n++) made.push((await makeCustomer(api, { name: `${n}` })).id)
  return made
}

const remove = async (api: Api, id: string | undefined) =>
  expect((await api.delete(`/v1/customers/${id}`)).status).toBe(204)
const told = (records: readonly SyncRecord[]) => records.map(({ id, object }) => `${object} ${id}`)

describe('a first sync', () => {
  test('does not replay what was removed before it', async () => {
    const api = await shared().newOrganization()
    const [a, b, c] = await makeMany(api, 3)
    await remove(api, b)
    for (const limit of [1, 100]) {
      const { records, last } = await drain(api, '/v1/customers', beginning, limit)
      expect(told(records)).toEqual([`customer ${a}`, `customer ${c}`])
      // Nor does it afterwards.
      expect((await syncPage(api, '/v1/customers', `cursor=${last.pagination.nextCursor}`)).data).toEqual([])
    }
  })

  test('reports every removal from its start on, also between its pages, each once and in its place', async () => {
    const api = await shared().newOrganization()
    const [a, b, c, d, e] = await makeMany(api, 5)
    await remove(api, a)
    const first = await syncPage(api, '/v1/customers', beginning, 2)
    expect(told(first.data)).toEqual([`customer ${b}`, `customer ${c}`])
    // One that was reported already, and one that was not yet.
    await remove(api, b)
    await remove(api, e)
    const { records, last } = await drain(api, '/v1/customers', `cursor=${first.pagination.nextCursor}`, 2)
    expect(told(records)).toEqual([`customer ${d}`, `removed ${b}`, `removed ${e}`])
    const copy = new Map<string, SyncRecord>()
    applyRecords(copy, [...first.data, ...records])
    expect([...copy.keys()]).toEqual([c, d])
    expect(checkpointOf(copy.values())).toEqual(last.pagination.checkpoint)
    await remove(api, c)
    const resumed = await syncPage(api, '/v1/customers', `cursor=${last.pagination.nextCursor}`)
    expect(told(resumed.data)).toEqual([`removed ${c}`])
  })

  test('that finds nothing reports what is removed later', async () => {
    const api = await shared().newOrganization()
    const [old] = await makeMany(api, 1)
    await remove(api, old)
    const { nextCursor } = (await syncPage(api, '/v1/customers', beginning)).pagination
    const [a, b] = await makeMany(api, 2)
    await remove(api, a)
    expect(told((await drain(api, '/v1/customers', `cursor=${nextCursor}`, 1)).records)).toEqual([
      `customer ${b}`,
      `removed ${a}`,
    ])
  })

  test('starts with every watermark earlier than the organization, and with none that is not', async () => {
    const api = await shared().newOrganization()
    const { rows } = await shared().database.pool.query<{ created_at: Date }>(
      'select o.created_at from organizations o where o.organization_id = $1',
      [api.organizationId],
    )
    const created = rows[0]?.created_at.getTime() ?? 0
    const [a, b] = await makeMany(api, 2)
    await remove(api, a)
    const at = async (time: number) =>
      told((await drain(api, '/v1/customers', `updatedAfter=${new Date(time).toISOString()}`)).records)
    expect(await at(created - 1)).toEqual([`customer ${b}`])
    expect(await at(created)).toEqual([`customer ${b}`, `removed ${a}`])
  })
})

describe('a sync from a later watermark', () => {
  test('reports every removal recorded after it, whoever held what', async () => {
    const api = await shared().newOrganization()
    const [a, b] = await makeMany(api, 2)
    const since = (await api.get(`/v1/customers/${a}`)).json.updatedAt
    const [c] = await makeMany(api, 1)
    await remove(api, a)
    await remove(api, c)
    const { records } = await drain(api, '/v1/customers', `updatedAfter=${since}`, 1)
    expect(told(records)).toEqual([`customer ${b}`, `removed ${a}`, `removed ${c}`])
    const removed = records.at(-1)
    expect((await drain(api, '/v1/customers', `updatedAfter=${removed?.removedAt}`)).records).toEqual([])
    expect(
      told((await drain(api, '/v1/customers', `updatedAfter=${records.at(-2)?.removedAt}`)).records),
    ).toEqual([`removed ${c}`])
  })
})

test('a removal record is these very bytes, and nothing else has object removed', async () => {
  const api = await shared().newOrganization()
  const ticket = await makeTicket(api)
  await api.delete(`/v1/customers/${ticket.customerId}`)
  for (const [path, id, kind] of [
    ['/v1/customers', ticket.customerId, 'customer'],
    ['/v1/tickets', ticket.id, 'ticket'],
  ] as const) {
    const { text, json } = await api.get(`${path}?updatedAfter=${ticket.updatedAt}`)
    const [{ removedAt }] = json.data
    expect(removedAt).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
    expect(
      text.startsWith(
        `{"data":[{"object":"removed","id":"${id}","resource":"${kind}","removedAt":"${removedAt}"}],`,
      ),
    ).toBe(true)
  }
})

test('only a sync has removals: browsing shows what exists', async () => {
  const api = await shared().newOrganization()
  const [a, b] = await makeMany(api, 2)
  await remove(api, a)
  for (const query of ['', '?limit=100', '?createdAfter=1970-01-01T00:00:00Z']) {
    expect(told((await api.get(`/v1/customers${query}`)).json.data)).toEqual([`customer ${b}`])
  }
})
