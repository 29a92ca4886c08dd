/** What is under way when its caller loses its standing: reads show nothing that came later, and writes that waited change nothing. */

import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { constants, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { deskDecide } from '../../../testbed/decide.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { withoutWorkers } from '../../../testbed/journal.ts'
import { asToken, makeKey } from '../../../testbed/keys.ts'
import { lockRow, waitingBackends } from '../../../testbed/locks.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { recheckAfter } from '../../src/auth/authenticator.ts'
import { createJournal } from '../../src/journal/journal.ts'
import { createNotifier } from '../../src/journal/notifier.ts'
import { stopwatch, systemClock } from '../../src/kernel/timestamps.ts'
import { deleteOrganization } from '../../src/organization/deletion.ts'
import { suspendOrganization } from '../../src/organization/suspension.ts'
import { schemaOf } from '../../src/schema.ts'

const shared = sharedService()

interface Loss {
  readonly name: string
  /** Who reads, with a key or a session that ends. */
  readonly reader: (api: Api) => Promise<{ readonly reader: Api; readonly lose: () => Promise<unknown> }>
  readonly told: readonly [status: number, code: string]
}

async function withKey(api: Api) {
  const { id, token } = await makeKey(api, { scopes: ['customers:read', 'customers:write', 'tickets:read'] })
  return { id: id as string, reader: asToken(shared(), api, token) }
}

const losses: readonly Loss[] = [
  {
    name: 'a revoked key',
    async reader(api) {
      const { id, reader } = await withKey(api)
      return { reader, lose: () => api.delete(`/v1/api-keys/${id}`) }
    },
    told: [401, 'unauthorized'],
  },
  {
    name: 'a key without the scope any more',
    async reader(api) {
      const { id, reader } = await withKey(api)
      return { reader, lose: () => api.patch(`/v1/api-keys/${id}`, { scopes: ['bookings:read'] }) }
    },
    told: [403, 'insufficient_scope'],
  },
  {
    name: 'a session that was ended',
    async reader(api) {
      const link = (
        await api.post('/v1/console-links', { scopes: ['customers:read', 'customers:write', 'tickets:read'] })
      ).json
      const exchanged = await shared()
        .withToken(null)
        .post('/v1/console-links/exchange', { link: link.url.split('#link=')[1] })
      const reader = asToken(shared(), api, exchanged.json.token)
      return { reader, lose: () => reader.delete(`/v1/console-links/${link.id}`) }
    },
    told: [401, 'unauthorized'],
  },
  {
    name: 'a suspended organization',
    async reader(api) {
      const { reader } = await withKey(api)
      const { pool } = shared().database
      return { reader, lose: () => suspendOrganization(pool, systemClock, api.organizationId) }
    },
    told: [403, 'insufficient_scope'],
  },
  {
    name: 'a deleted organization',
    async reader(api) {
      const { reader } = await withKey(api)
      const { pool } = shared().database
      return { reader, lose: () => deleteOrganization(pool, systemClock, api.organizationId) }
    },
    told: [401, 'unauthorized'],
  },
]

/** A change that no key asks for: it is committed whatever keys may do, and its readers are notified. */
async function commitRow({ organizationId }: Api): Promise<void> {
  const { pool } = shared().database
  const { commitFunction } = schemaOf()
  const notifier = createNotifier(pool, (error) => expect.unreachable(error.message))
  const journal = createJournal({ ...withoutWorkers, pool, clock: systemClock, commitFunction, notifier })
  const change = await deskDecide(systemClock).customer.create(organizationId, { name: 'Committed later' })
  expect(await journal.commit(organizationId, change)).toMatchObject({ outcome: 'done' })
}

/** Waits until a figure of the service says that requests were let in, and then until their standing is not taken for granted any more. */
async function letIn(figure: string, value: number): Promise<void> {
  const line = `\n${figure}{process="api"} ${value}\n`
  await eventually(line, async () => (await shared().withToken(null).get('/metrics')).text.includes(line))
  const elapsed = stopwatch()
  await eventually('their keys are to be looked at again', () => elapsed() > recheckAfter)
}

let bodies = 0

describe.each(losses)('$name', ({ reader: readerOf, told, name }) => {
  test.each(['/v1/customers', '/v1/changes'])(
    'ends a wait at %s without what was committed later',
    async (path) => {
      const api = await shared().newOrganization()
      const { reader, lose } = await readerOf(api)
      const { json } = await reader.get(`${path}?updatedAfter=1970-01-01T00:00:00Z`)
      const waiting = reader.get(`${path}?cursor=${json.pagination.nextCursor}&wait=50`)
      await eventually('it waits', () => shared().app.readers.waiting === 1)
      await lose()
      if (name === 'a deleted organization') shared().app.readers.notify(null)
      else await commitRow(api)
      const { status, json: answer } = await waiting
      expect([status, answer.code]).toEqual(told)
    },
  )

  test('changes nothing by a request whose body came later', async () => {
    const api = await shared().newOrganization()
    const { reader, lose } = await readerOf(api)
    const { port } = new URL(shared().url)
    const socket = connect(Number(port), '127.0.0.1')
    // Large enough to be counted: how much memory is held says that the request was let in, and that its body is waited for.
    // Of a length of its own: the figure may be a second old, and that of an earlier test.
    const body = JSON.stringify({ name: 'Too late' }).padEnd(20_000 + ++bodies)
    socket.write(
      `POST /v1/customers HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${reader.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    )
    await letIn('deskwire_http_memory_bytes', body.length)
    await lose()
    socket.write(body.slice(5))
    let text = ''
    for await (const piece of socket) text += piece
    expect(text.split(' ')[1]).toBe(String(told[0]))
    const { rows } = await shared().database.pool.query(
      'select 1 from customers c where c.organization_id = $1',
      [api.organizationId],
    )
    expect(rows).toEqual([])
  })
})

test.each([losses[0], losses[3]] as readonly Loss[])(
  'breaks an export off for $name, compressed or not',
  async ({ reader: readerOf, told }) => {
    const api = await shared().newOrganization()
    const { reader, lose } = await readerOf(api)
    for (let n = 0; n < 2; n++) await fillMegabytes(api)
    const answers = await Promise.all(['identity', 'gzip'].map((coding) => beginExport(reader, coding)))
    await eventually('rows have come', () => answers.every((answer) => answer.readableLength > 1_000))
    // What was not read when the connection is cut is lost.
    const begun = answers.map((answer) => ({ answer, piece: answer.read() as Buffer }))
    await lose()
    for (const { answer, piece } of begun) {
      const { text, isWhole } = await readOn(answer, piece)
      expect(isWhole).toBe(false)
      expect(text).toContain('"object":"ticket"')
      expect(text).not.toContain('export_end')
    }
    expect([(await reader.get('/v1/tickets/export')).status]).toEqual([told[0]])
  },
)

test('a change that waited for another of its row is decided with the standing that its key has then', async () => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api)
  const { id: keyId, reader } = await withKey(api)
  const { pool } = shared().database
  await using lock = await lockRow(shared().database, 'organization_clocks', api)
  const first = api.patch(`/v1/customers/${id}`, { name: 'First' })
  await waitingBackends(shared().database, 1)
  const second = reader.patch(`/v1/customers/${id}`, { name: 'Second' })
  const third = reader.delete(`/v1/customers/${id}`)
  await letIn('deskwire_http_requests_under_way', 3)
  await pool.query('delete from api_keys where organization_id = $1 and id = $2', [api.organizationId, keyId])
  await lock.release()
  expect((await first).status).toBe(200)
  expect([(await second).status, (await third).status]).toEqual([401, 401])
  expect((await api.get(`/v1/customers/${id}`)).json.name).toBe('First')
})

const ideograph = () => String.fromCharCode(0x4e00 + Math.floor(Math.random() * 20_000))
/** No coding makes much less of it, nor of it again: gzip looks back 32 KiB. */
const description = Array.from({ length: 64_000 }, ideograph).join('')

/** Twelve megabytes. */
async function fillMegabytes(api: Api): Promise<void> {
  const { id: customerId } = await makeCustomer(api)
  const items = Array.from({ length: 60 }, (_, n) => ({
    customerId,
    subject: `${n}`,
    description,
  }))
  const answer = await api.post('/v1/tickets/batch', { items })
  expect(answer.status, answer.text.slice(0, 500)).toBe(200)
}

/** An export of which nothing is read yet. */
function beginExport(api: Api, coding: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${api.token}`, 'accept-encoding': coding }
    request(`${shared().url}/v1/tickets/export`, { headers, agent: false }, resolve).on('error', reject).end()
  })
}

async function readOn(answer: IncomingMessage, first: Buffer): Promise<{ text: string; isWhole: boolean }> {
  const pieces = [first]
  try {
    for await (const piece of answer) pieces.push(piece as Buffer)
  } catch {
    // It was cut.
  }
  const bytes = Buffer.concat(pieces)
  const isPacked = answer.headers['content-encoding'] === 'gzip'
  const unpacked = isPacked ? gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }) : bytes
  return { text: unpacked.toString(), isWhole: answer.complete }
}
