/** `GET /v1/{kind}/digests`: what stands in ranges of ids, at exactly the place in the stream that it names. */

import { isDeepStrictEqual } from 'node:util'
import {
  type Change,
  type Customer,
  changesUpTo,
  comparedRows,
  createClient,
  findDifferences,
} from '@deskwire/sdk'
import { describe, expect, test } from 'vitest'
import { makeCustomer } from '../../../testbed/desk.ts'
import { beginning, drain } from '../../../testbed/drain.ts'
import { checkpointOf } from '../../../testbed/follower.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { unshared } from '../../src/db/fair-pool.ts'
import { customer } from '../../src/desk/customer/index.ts'
import { kinds } from '../../src/desk/index.ts'
import { allIds, createRangeDigestReader } from '../../src/journal/range-digests.ts'
import { digestRoute } from '../../src/kinds/http/digest-routes.ts'
import { newObject, unchangedDesk } from '../http/writable.fixture.ts'

const shared = sharedService()

interface Part {
  readonly after: string
  readonly before: string
  readonly count: number
  readonly digest: string
  readonly contentDigest: string
  readonly ids?: readonly string[]
  readonly contentDigests?: readonly string[]
}

async function digests(
  api: Api,
  plural: string,
  query = '',
): Promise<{ asOf: string; cursor: string; data: Part[] }> {
  const { status, text, json } = await api.get(`/v1/${plural}/digests?${query}`)
  expect(status, text).toBe(200)
  return json
}

/** What these bodies come to in the ranges of an answer. */
function expected(parts: readonly Part[], bodies: readonly string[]) {
  return parts.map(({ after, before }) => {
    const own = bodies.filter((body) => {
      const { id } = JSON.parse(body)
      return id > after && id <= before
    })
    return { after, before, ...checkpointOf(own) }
  })
}

describe.each(kinds)('$plural', (kind) => {
  test('have the digests of what GET answers in each range, and their cursor goes on from there', async () => {
    const api = await shared().newOrganization()
    const desk = await unchangedDesk(api, 'Word')
    const bodies: string[] = []
    for (let n = 0; n < 12; n++) {
      bodies.push((await api.post(`/v1/${kind.plural}`, newObject(kind, desk, `n${n}`))).text)
    }
    const there = (await drain(api, `/v1/${kind.plural}`, beginning)).last
    const all = await digests(api, kind.plural, 'parts=1')
    expect(all.data).toEqual([{ ...allIds, ...there.pagination.checkpoint }])
    const ids = bodies.map((body) => JSON.parse(body).id).sort()
    const range = `after=${ids[1]}&before=${ids[9]}`
    const { data, asOf, cursor } = await digests(api, kind.plural, `${range}&parts=7&idsUpTo=100`)
    const found = data.map(({ ids: _, contentDigests: __, ...part }) => part)
    expect(found).toEqual(expected(found, bodies))
    expect(data.flatMap((part) => part.ids ?? ['not told'])).toEqual(ids.slice(2, 10))
    const sorted = bodies.toSorted((a, b) => (JSON.parse(a).id < JSON.parse(b).id ? -1 : 1))
    expect(data.flatMap((part) => part.contentDigests ?? ['not told'])).toEqual(
      sorted.slice(2, 10).map((body) => checkpointOf([body]).contentDigest),
    )
    expect(data[0]?.after).toBe(ids[1])
    expect(data.at(-1)?.before).toBe(ids[9])
    expect(asOf).toBe(JSON.parse(bodies.at(-1) as string).updatedAt)
    const later = await api.post(`/v1/${kind.plural}`, newObject(kind, desk, 'later'))
    const next = (await api.get(`/v1/${kind.plural}?cursor=${cursor}`)).json
    expect(next.data).toEqual([later.json])
  })
})

test('ids are told of ranges that have few enough, where they are asked for', async () => {
  const api = await shared().newOrganization()
  const made: string[] = []
  for (let n = 0; n < 5; n++) made.push((await makeCustomer(api)).id)
  made.sort()
  const range = `after=${allIds.after}&before=${made[3]}`
  expect((await digests(api, 'customers', `parts=1&idsUpTo=4&${range}`)).data[0]?.ids).toEqual(
    made.slice(0, 4),
  )
  expect((await digests(api, 'customers', `parts=1&idsUpTo=3&${range}`)).data[0]).not.toHaveProperty('ids')
  expect((await digests(api, 'customers', `parts=1&idsUpTo=3&${range}`)).data[0]).not.toHaveProperty(
    'contentDigests',
  )
  for (const part of (await digests(api, 'customers')).data) expect(part).not.toHaveProperty('ids')
  expect((await digests(api, 'customers')).data).toHaveLength(16)
  const above = `after=${made[4]}&parts=1&idsUpTo=1`
  expect((await digests(api, 'customers', above)).data).toEqual([
    { after: made[4], before: allIds.before, ...checkpointOf([]), ids: [], contentDigests: [] },
  ])
})

test.each([
  'parts=0',
  'parts=257',
  'parts=-1',
  'parts=1.5',
  'parts=',
  'idsUpTo=101',
  'idsUpTo=x',
  'after=1',
  'before=zz',
  `after=${allIds.before}`,
  `after=${allIds.before}&before=${allIds.after}`,
  'limit=10',
  'updatedAfter=1970-01-01T00:00:00Z',
  'tag=vip',
  'parts=2&parts=3',
])('%s is refused by name', async (query) => {
  const { api } = shared()
  const { status, json } = await api.get(`/v1/tickets/digests?${query}`)
  expect([status, json.code]).toEqual([400, 'invalid_parameter'])
})

test('one that takes too long is ended', async () => {
  const { pool } = shared().database
  const { organizationId } = shared().api
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('lock table customers in access exclusive mode')
    const reader = createRangeDigestReader(unshared(pool), customer.table, 50)
    expect(await reader.read(organizationId, [allIds], 0)).toBe('too_long')
  } finally {
    await client.query('rollback')
    client.release()
  }
  const call = {
    caller: { organizationId },
    request: { method: 'GET' },
    query: () => ({ ok: true, value: { ...allIds, parts: 1, idsUpTo: 0 } }),
  }
  const answered = await digestRoute(customer).handle(
    { digests: { read: async () => 'too_long' } },
    call as never,
  )
  expect(answered).toMatchObject({ outcome: 'refused', error: { code: 'unavailable' } })
})

/** A copy of the customers in memory, kept by the SDK's calls alone. */
function copyOf(api: Api) {
  const client = createClient({ baseUrl: `${shared().url}/v1`, apiKey: api.token })
  const rows = new Map<string, Customer>()
  let cursor: string | undefined
  const take = (change: Change<Customer>) => {
    if (change.type === 'upsert') rows.set(change.row.id, change.row)
    else rows.delete(change.id)
  }
  const sync = () => client.customers.sync({ limit: 100, ...(cursor && { cursor }) })
  const copy = comparedRows(rows, async (to) => {
    for await (const change of changesUpTo(sync(), to.asOf)) take(change)
    cursor = to.cursor
  })
  return {
    client,
    rows,
    copy,
    async follow() {
      for await (const page of sync()) {
        for (const change of page.changes) take(change)
        cursor = page.cursor
      }
    },
    async differences() {
      const found = []
      for await (const one of findDifferences(client.customers, copy)) found.push(one)
      return found
    },
  }
}

async function manyCustomers(api: Api, count: number) {
  const items = Array.from({ length: count }, (_, n) => ({ name: `Customer ${n}` }))
  const { json } = await api.post('/v1/customers/batch', { items })
  return (json.data as { id: string }[]).map(({ id }) => id)
}

test('while writers run, a range differs from the copy only by what the stream has after the cursor', async () => {
  const api = await shared().newOrganization()
  const ids = await manyCustomers(api, 400)
  const { client, copy, follow, differences } = copyOf(api)
  const span = { after: ids.toSorted()[0] as string, before: ids.toSorted().at(-1) as string }
  let going = true
  const pick = () => ids[Math.floor(Math.random() * ids.length)]
  const writers = Promise.all(
    [
      async (n: number) => void (await api.patch(`/v1/customers/${pick()}`, { name: `changed ${n}` })),
      async (n: number) => void ids.push((await makeCustomer(api, { name: `new ${n}` })).id),
      async () => void (await api.delete(`/v1/customers/${pick()}`)),
    ].map(async (write) => {
      for (let n = 0; going; n++) await write(n)
    }),
  )
  let [same, different] = [0, 0]
  const { id: restless } = await makeCustomer(api)
  try {
    for (let n = 0; n < 12; n++) {
      await api.patch(`/v1/customers/${restless}`, { name: `before ${n}` })
      const answer = await client.customers.digests({ parts: 64, ...(n % 2 === 0 ? span : {}) })
      // What stood there then is in the stream no more: its range differs, however quick the copy is.
      await api.patch(`/v1/customers/${restless}`, { name: `after ${n}` })
      await copy.advance(answer)
      const held = await copy.digests(answer.data)
      const later = new Set<string>()
      for await (const { changes } of client.customers.sync({ cursor: answer.cursor, limit: 100 })) {
        for (const change of changes) later.add(change.type === 'upsert' ? change.row.id : change.id)
      }
      for (const [place, { after, before, ...served }] of answer.data.entries()) {
        const isSame = isDeepStrictEqual(served, held[place])
        const hasLater = [...later].some((id) => id > after && id <= before)
        expect(isSame || hasLater).toBe(true)
        if (served.count > 0 && isSame) same++
        if (!isSame) different++
      }
    }
    expect(await differences()).toEqual([])
  } finally {
    going = false
    await writers
  }
  // Both were seen.
  expect(same).toBeGreaterThan(10)
  expect(different).toBeGreaterThan(0)
  const last = await client.customers.digests({ parts: 64, ...span })
  await copy.advance(last)
  expect(await copy.digests(last.data)).toEqual(
    last.data.map(({ after: _, before: __, ...served }) => served),
  )
  await follow()
  expect(await differences()).toEqual([])
})

test('whatever a copy lacks, holds beyond or holds otherwise is found while writers run', async () => {
  const api = await shared().newOrganization()
  const ids = await manyCustomers(api, 1_000)
  const { rows, follow, differences } = copyOf(api)
  await follow()
  let going = true
  // Others than those that are tampered with.
  const others = ids.slice(500)
  const writer = (async () => {
    for (let n = 0; going; n++)
      await api.patch(`/v1/customers/${others[n % others.length]}`, { name: `w ${n}` })
  })()
  const [missing, changed, stale] = [ids.slice(0, 7), ids.slice(100, 160), ids.slice(300, 303)]
  for (const id of missing) rows.delete(id)
  for (const id of changed) rows.set(id, { ...(rows.get(id) as Customer), company: 'Mangled' })
  for (const id of stale)
    rows.set(id, { ...(rows.get(id) as Customer), updatedAt: '2020-01-01T00:00:00.000Z' })
  const invented = [
    '00000000-0000-7000-8000-000000000001',
    '01980000-0000-7000-8000-000000000002',
    'ffffffff-0000-7000-8000-000000000003',
  ]
  for (const id of invented) rows.set(id, { ...(rows.get(ids[400] as string) as Customer), id })
  const found = await differences().finally(() => {
    going = false
  })
  await writer
  const told = found.map(({ type, id }) => `${type} ${id}`).sort()
  const expectedOnes = [
    ...missing.map((id) => `missing ${id}`),
    ...[...changed, ...stale].map((id) => `changed ${id}`),
    ...invented.map((id) => `extra ${id}`),
  ]
  expect(told).toEqual(expectedOnes.sort())
  for (const one of found) {
    if (one.type === 'extra') rows.delete(one.id)
    else rows.set(one.id, one.row)
  }
  await follow()
  expect(await differences()).toEqual([])
})
