/** `GET /v1/{kind}/export`: everything of a kind as lines, in the order of the stream, with a proof at its end. */
import { expect, test } from 'vitest'
import { makeCustomer } from '../../../testbed/desk.ts'
import { checkpointOf } from '../../../testbed/follower.ts'
import { rawRequest } from '../../../testbed/raw-request.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { newToken } from '../../src/auth/token.ts'
import { unshared } from '../../src/db/fair-pool.ts'
import { ticket } from '../../src/desk/ticket/index.ts'
import { createFeed } from '../../src/journal/feed.ts'
import { exportLines } from '../../src/kinds/http/bulk-routes.ts'

const shared = sharedService()

async function exported(api: Api, plural = 'customers') {
  const answer = await api.get(`/v1/${plural}/export`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
  expect(answer.text.endsWith('\n')).toBe(true)
  const lines = answer.text.slice(0, -1).split('\n')
  return { rows: lines.slice(0, -1), end: JSON.parse(lines.at(-1) as string) }
}

test('of several pages is every row, as GET answers it, in order, and its checkpoint', async () => {
  const api = await shared().newOrganization()
  for (let n = 0; n < 3; n++) {
    const items = Array.from({ length: 1_000 }, (_, i) => ({ name: `${n} ${i}\n "${'é'.repeat(5)}"` }))
    await api.post('/v1/customers/batch', { items })
  }
  const { rows, end } = await exported(api)
  expect(rows).toHaveLength(3_000)
  const positions = rows.map((row) => JSON.parse(row)).map(({ updatedAt, id }) => `${updatedAt} ${id}`)
  expect(positions).toEqual(positions.toSorted())
  expect(rows[1_234]).toBe((await api.get(`/v1/customers/${JSON.parse(rows[1_234]!).id}`)).text)
  expect(end).toEqual({
    object: 'export_end',
    nextCursor: expect.any(String),
    checkpoint: checkpointOf(rows),
  })
})

test('its cursor goes on from there', async () => {
  const api = await shared().newOrganization()
  const removed = await makeCustomer(api)
  await api.delete(`/v1/customers/${removed.id}`)
  const kept = await makeCustomer(api)
  const { rows, end } = await exported(api)
  // What was removed before is not replayed to whoever holds nothing.
  expect(rows.map((row) => JSON.parse(row).id)).toEqual([kept.id])
  const after = await makeCustomer(api)
  await api.delete(`/v1/customers/${kept.id}`)
  const { data, pagination } = (await api.get(`/v1/customers?cursor=${end.nextCursor}`)).json
  expect(data.map(({ object, id }: { object: string; id: string }) => [object, id])).toEqual([
    ['customer', after.id],
    ['removed', kept.id],
  ])
  expect(pagination.hasMore).toBe(false)
})

test('is read and sent in pieces of a megabyte, however large the objects are', async () => {
  const api = await shared().newOrganization()
  const { id: customerId } = await makeCustomer(api)
  const tickets = Array.from({ length: 30 }, (_, n) => ({
    customerId,
    subject: `${n}`,
    description: '語'.repeat(64_000),
  }))
  await api.post('/v1/tickets/batch', { items: tickets })
  const feed = createFeed(unshared(shared().database.pool), ticket.table, 'lines')
  const pieces: string[] = []
  const made = await exportLines(feed, { ...api, organizationCreatedAt: 1 })
  if (!made.ok) throw new Error(made.error.detail)
  for await (const piece of made.value) pieces.push(piece)
  const sizes = pieces.map((piece) => Buffer.byteLength(piece))
  expect(sizes.length).toBeGreaterThan(4)
  // The last object of a piece may reach over it.
  expect(Math.max(...sizes)).toBeLessThan((1 + 1 / 4) * 1024 * 1024)
  expect(pieces.join('')).toBe((await api.get('/v1/tickets/export')).text)
})

test('of nothing is the end alone', async () => {
  const api = await shared().newOrganization()
  const { rows, end } = await exported(api, 'bookings')
  expect(rows).toEqual([])
  expect(end.checkpoint).toEqual(checkpointOf([]))
})

test('takes no parameters, and needs the read scope', async () => {
  const api = await shared().newOrganization()
  const filtered = await api.get('/v1/customers/export?tag=vip')
  expect([filtered.status, filtered.json.code]).toEqual([400, 'invalid_parameter'])
  const writer = await shared().newKey(api.organizationId, ['customers:write'])
  expect((await writer.get('/v1/customers/export')).status).toBe(403)
})

test('HEAD of what may be large reads nothing of it, and does not wait; it refuses what GET refuses', async () => {
  const api = await shared().newOrganization()
  const cursor = (await api.get('/v1/tickets?updatedAfter=1970-01-01T00:00:00Z')).json.pagination.nextCursor
  const head = (path: string) =>
    rawRequest(shared().url + path, 'HEAD', { authorization: `Bearer ${api.token}` })
  const client = await shared().database.pool.connect()
  try {
    await client.query('begin; lock table tickets in access exclusive mode')
    for (const path of [
      '/v1/tickets/export',
      '/v1/tickets',
      '/v1/tickets?q=engine',
      `/v1/tickets?cursor=${cursor}&wait=50`,
      '/v1/changes?updatedAfter=1970-01-01T00:00:00Z&wait=50',
      '/v1/tickets/digests',
    ]) {
      const { status, headers, text } = await head(path)
      expect([path, status, text]).toEqual([path, 200, ''])
      expect(headers.get('content-type')).toMatch(/^application\/(x-nd)?json/)
      // The length of a body that nobody has made is not known.
      expect(headers.get('content-length')).toBeNull()
    }
  } finally {
    await client.query('rollback')
    client.release()
  }
  expect((await head('/v1/tickets/export?tag=vip')).status).toBe(400)
  expect((await head('/v1/tickets?limit=none')).status).toBe(400)
  const unknown = { authorization: `Bearer ${newToken()}` }
  expect((await rawRequest(`${shared().url}/v1/tickets/export`, 'HEAD', unknown)).status).toBe(401)
})
