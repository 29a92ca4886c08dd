/** `GET /v1/changes`: every kind that a key may read, in one order under one cursor. */
import { describe, expect, test } from 'vitest'
import { makeCustomer, makeTeammate, makeTicket } from '../../../testbed/desk.ts'
import type { Checkpoint } from '../../../testbed/drain.ts'
import { follow } from '../../../testbed/follower.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const shared = sharedService()
const begin = '/v1/changes?updatedAfter=1970-01-01T00:00:00Z'

interface Shown {
  readonly object: string
  readonly id: string
  readonly resource?: string
  readonly updatedAt?: string
  readonly removedAt?: string
}

/** The stream from its start, or from a cursor, to its end. */
async function drained(api: Api, from = begin, limit = 3) {
  const records: Shown[] = []
  for (let next = `${from}&limit=${limit}`; ; ) {
    const { status, json } = await api.get(next)
    expect(status).toBe(200)
    records.push(...json.data)
    const { nextCursor, hasMore, checkpoint } = json.pagination
    if (!hasMore) return { records, cursor: nextCursor as string, checkpoint, pagination: json.pagination }
    expect(checkpoint).toBeUndefined()
    next = `/v1/changes?cursor=${nextCursor}&limit=${limit}`
  }
}

async function fill(api: Api) {
  const customer = await makeCustomer(api)
  const conversation = (await api.post('/v1/conversations', { customerId: customer.id, channel: 'email' }))
    .json
  await api.post('/v1/messages', {
    conversationId: conversation.id,
    direction: 'inbound',
    author: { type: 'customer' },
    body: 'Hello',
  })
  const ticket = await makeTicket(api, { customerId: customer.id })
  await makeTeammate(api)
  return { customer, conversation, ticket }
}

test('is the streams of all kinds in the one order, and proves each of them', async () => {
  const api = await shared().newOrganization()
  await fill(api)
  const { records, checkpoint, pagination } = await drained(api)
  expect(records.map(({ object }) => object)).toEqual(
    ['customer', 'conversation', 'message', 'ticket', 'teammate'].toSorted(
      (a, b) => place(records, a) - place(records, b),
    ),
  )
  const places = records.map((record) => `${record.updatedAt} ${record.id}`)
  expect(places).toEqual(places.toSorted())
  expect(pagination).toMatchObject({ total: 5, offset: 0, hasMore: false })
  for (const kind of ['customer', 'conversation', 'message', 'note', 'ticket', 'booking', 'teammate']) {
    const alone = await api.get(`/v1/${kind}s?updatedAfter=1970-01-01T00:00:00Z`)
    expect(checkpoint[kind]).toEqual(alone.json.pagination.checkpoint)
    for (const row of alone.json.data) expect(records).toContainEqual(row)
  }
  expect(Object.keys(checkpoint)).toHaveLength(7)
})

function place(records: readonly Shown[], object: string): number {
  return records.findIndex((record) => record.object === object)
}

test('goes on from a cursor with changes, removals and what they move, at every page size', async () => {
  const api = await shared().newOrganization()
  const { customer, conversation, ticket } = await fill(api)
  const { cursor } = await drained(api)
  await api.delete(`/v1/customers/${customer.id}`)
  const later = await makeCustomer(api)
  for (const limit of [1, 2, 100]) {
    const { records, checkpoint } = await drained(api, `/v1/changes?cursor=${cursor}`, limit)
    const told = records.map(({ object, resource, id }) => [object, resource, id])
    expect(told.toSorted()).toEqual(
      [
        ['removed', 'customer', customer.id],
        ['removed', 'ticket', ticket.id],
        ['conversation', undefined, conversation.id],
        ['message', undefined, expect.any(String)],
        ['customer', undefined, later.id],
      ].toSorted(),
    )
    expect(records.at(-1)?.id).toBe(later.id)
    expect(checkpoint).toMatchObject({ customer: { count: 1 }, ticket: { count: 0 }, message: { count: 1 } })
  }
  // A client that holds nothing is not told of removals from before its first sync.
  expect((await drained(api)).records.filter(({ object }) => object === 'removed')).toEqual([])
})

test('a follower of it holds an exact copy of each kind while everything changes', async () => {
  const api = await shared().newOrganization()
  const follower = follow<string>(async (cursor) => {
    const { json } = await api.get(
      cursor === null ? `${begin}&limit=7` : `/v1/changes?cursor=${cursor}&limit=7`,
    )
    const { nextCursor, checkpoint } = json.pagination
    const records = json.data.map((row: Shown) => ({
      id: row.id,
      at: row.updatedAt ?? row.removedAt ?? '',
      removed: row.object === 'removed',
      body: JSON.stringify(row),
    }))
    return { records, next: nextCursor, checkpoint: checkpoint === undefined ? null : joined(checkpoint) }
  })
  const write = async (writer: number) => {
    for (let n = 0; n < 6; n++) {
      const { customer } = await fill(api)
      if ((n + writer) % 2 === 0) await api.delete(`/v1/customers/${customer.id}`)
    }
  }
  let writing = true
  const writers = Promise.all([0, 1, 2].map(write)).finally(() => {
    writing = false
  })
  while (writing) await follower.poll()
  await writers
  await follower.drain()
  expect(follower.faults).toEqual([])
  expect(follower.copy.size).toBeGreaterThan(40)
})

/** One checkpoint over all kinds: digests are sums. */
function joined(kinds: Readonly<Record<string, Checkpoint>>): Checkpoint {
  const parts = Object.values(kinds)
  const sum = (digests: readonly string[]) =>
    BigInt.asUintN(
      64,
      digests.reduce((total, digest) => total + BigInt(`0x${digest}`), 0n),
    )
      .toString(16)
      .padStart(16, '0')
  return {
    count: parts.reduce((total, { count }) => total + count, 0),
    digest: sum(parts.map(({ digest }) => digest)),
    contentDigest: sum(parts.map(({ contentDigest }) => contentDigest)),
  }
}

describe('scopes', () => {
  test('decide which kinds a sync begins with, and its cursor keeps to them', async () => {
    const api = await shared().newOrganization()
    await fill(api)
    const key = (...scopes: string[]) => shared().newKey(api.organizationId, scopes)
    const narrow = await key('customers:read', 'tickets:read')
    const { records, cursor, checkpoint } = await drained(narrow)
    expect(records.map(({ object }) => object).toSorted()).toEqual(['customer', 'ticket'])
    expect(Object.keys(checkpoint).toSorted()).toEqual(['customer', 'ticket'])
    // A scope gained later changes nothing of a sync that goes on.
    await makeTeammate(api)
    expect((await drained(api, `/v1/changes?cursor=${cursor}`)).records).toEqual([])
    const poorer = await key('customers:read')
    const refused = await poorer.get(`/v1/changes?cursor=${cursor}`)
    expect([refused.status, refused.json.code]).toEqual([403, 'insufficient_scope'])
    expect(refused.json.detail).toContain('tickets:read')
  })

  test('none at all is 403, no key is 401', async () => {
    const api = await shared().newOrganization()
    const writer = await shared().newKey(api.organizationId, ['customers:write', 'webhooks:read'])
    expect((await writer.get(begin)).json.code).toBe('insufficient_scope')
    expect((await shared().withToken(null).get(begin)).status).toBe(401)
  })
})

test('cursors of it, of a kind and of another organization do not pass for each other', async () => {
  const api = await shared().newOrganization()
  const { cursor } = await drained(api)
  const ofKind = (await api.get('/v1/customers?updatedAfter=1970-01-01T00:00:00Z')).json.pagination.nextCursor
  const stranger = await shared().newOrganization()
  for (const answer of [
    await api.get(`/v1/customers?cursor=${cursor}`),
    await api.get(`/v1/changes?cursor=${ofKind}`),
    await stranger.get(`/v1/changes?cursor=${cursor}`),
    await api.get(`/v1/changes?cursor=${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}`),
  ]) {
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_cursor'])
  }
})

test('needs a start, and takes no filters', async () => {
  const api = await shared().newOrganization()
  for (const [path, code] of [
    ['/v1/changes', 'invalid_parameter'],
    ['/v1/changes?limit=5', 'invalid_parameter'],
    [`${begin}&colour=red`, 'invalid_parameter'],
    [`${begin}&tag=vip`, 'filter_not_allowed_in_sync'],
    [`${begin}&offset=1`, 'filter_not_allowed_in_sync'],
  ] as const) {
    expect((await api.get(path)).json.code).toBe(code)
  }
  expect((await api.get(`${begin}&offset=0`)).status).toBe(200)
})
