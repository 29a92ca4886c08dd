/** `deskwire import` of an export: an organization moves to another, whole, as often as it is run. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  makeBooking,
  makeConversation,
  makeCustomer,
  makeMessage,
  makeNote,
  makeTeammate,
  makeTicket,
} from '../../../testbed/desk.ts'
import { forward, startHttpServer } from '../../../testbed/loopback.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'
import { Sum } from '../../src/import/transfer/content.ts'
import { runHere } from '../run-here.ts'
import { fileOf } from './files.ts'

const shared = sharedService()
const at = ({ token }: Api, url = shared().url) => ['--url', url, '--key', token]

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'deskwire-transfer-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

async function exported(api: Api): Promise<string> {
  const path = directory()
  const { code, stderr } = await runHere(['mirror', 'run', '--to', `ndjson:${path}`, ...at(api)])
  expect([code, stderr]).toEqual([0, expect.any(String)])
  return path
}

const changes = async (api: Api) =>
  (await api.get('/v1/changes?updatedAfter=1970-01-01T00:00:00Z&limit=100')).json.data

/** By file, over what is neither an id nor a time: written anew here, not as the importer does. */
function digests(path: string) {
  const files = readdirSync(path).filter((name) => /^\w+\.ndjson$/.test(name))
  const shown = (name: string, value: unknown) => (/^(id|.*Id|.*At)$/.test(name) ? undefined : value)
  return Object.fromEntries(
    files.map((file) => {
      const rows = readFileSync(join(path, file), 'utf8').trimEnd().split('\n')
      const texts = rows.map((text) => {
        const row: Record<string, unknown> = text === '' ? {} : JSON.parse(text)
        return JSON.stringify(Object.fromEntries(Object.entries(row).sort()), shown)
      })
      return [file, [rows.length, createHash('sha256').update(texts.sort().join('\n')).digest('hex')]]
    }),
  )
}

/** A desk with everything that a move could lose. */
async function fullDesk(): Promise<Api> {
  const api = await shared().newOrganization()
  const grace = await makeTeammate(api, { name: 'Grace', email: 'grace@example.com' })
  const left = await makeTeammate(api, { name: 'Grace' })
  const ada = await makeCustomer(api, {
    name: 'Ada',
    email: 'ada@example.com',
    externalId: 'crm-1',
    tags: ['vip'],
    customAttributes: { 'size:number': 1, plan: 'gold', vip: true, ...JSON.parse('{"__proto__":0.1}') },
  })
  const bob = await makeCustomer(api, {
    externalId: 'null',
    name: 'Bob',
    phone: '+4930123456',
    locale: 'de',
    timezone: 'Europe/Berlin',
  })
  const gone = await makeCustomer(api, { name: 'Gone' })
  const assigneeId = left.id
  const open = await makeConversation(api, {
    customerId: ada.id,
    assigneeId,
    externalId: 'c-1',
    subject: 'Ü 🙂',
  })
  const resolved = await makeConversation(api, { customerId: bob.id, channel: 'chat', handledBy: 'ai' })
  const orphan = await makeConversation(api, { customerId: gone.id, channel: 'sms' })
  const author = { type: 'teammate', id: grace.id, name: 'Grace' }
  await makeMessage(api, { conversationId: open.id, sentAt: '2020-01-01T00:00:00Z', externalId: 'm-1' })
  await makeMessage(api, {
    conversationId: resolved.id,
    direction: 'outbound',
    author,
    body: '<p>x</p>',
    contentType: 'html',
  })
  const attachments = [
    { fileName: 'a.png', contentType: 'image/png', sizeBytes: 1, url: 'https://example.com/a.png' },
  ]
  await makeMessage(api, { conversationId: orphan.id, body: null, attachments })
  for (const _ of [1, 2]) await makeNote(api, { conversationId: open.id, author, body: 'Twice' })
  const note = await makeNote(api, { conversationId: orphan.id, author: { type: 'ai' } })
  await api.patch(`/v1/notes/${note.id}`, { body: 'Edited' })
  for (const action of ['escalate', 'resolve'])
    await api.post(`/v1/conversations/${resolved.id}/${action}`, {})
  await api.post(`/v1/conversations/${resolved.id}/summarize`, { summary: 'It was x.' })
  await makeTicket(api, {
    customerId: ada.id,
    conversationId: open.id,
    assigneeId,
    dueAt: '2031-01-01T00:00:00Z',
  })
  for (const status of ['pending', 'on_hold', 'resolved', 'closed'])
    await makeTicket(api, { customerId: bob.id, status, priority: 'urgent', type: 'task', description: 'D' })
  await api.delete(`/v1/tickets/${(await makeTicket(api, { customerId: ada.id })).id}`)
  await makeTicket(api, { customerId: ada.id, subject: 'After a gap in the numbers' })
  const booking = async (body: object, ...actions: [string, object][]) => {
    const { id } = await makeBooking(api, { customerId: bob.id, ...body })
    for (const [action, input] of actions)
      expect((await api.post(`/v1/bookings/${id}/${action}`, input)).status).toBe(200)
  }
  const past = { startAt: '2020-01-01T09:00:00Z', endAt: '2020-01-01T10:00:00Z', status: 'confirmed' }
  await booking({ location: { type: 'video', value: 'https://example.com' }, notes: 'N', assigneeId })
  await booking({}, ['reschedule', { startAt: '2031-01-01T09:00:00Z' }], ['confirm', {}])
  await booking({}, ['cancel', { by: 'customer', reason: 'Ill' }])
  await booking({}, ['reject', { reason: 'Full' }])
  await booking(past, ['complete', {}])
  await booking(past, ['no-show', {}])
  await booking({ customerId: gone.id, conversationId: orphan.id })
  await api.patch(`/v1/teammates/${left.id}`, { active: false })
  await api.delete(`/v1/customers/${gone.id}`)
  return api
}

test('an organization moves to another, whole and without events, and a repetition changes nothing', async () => {
  const from = await fullDesk()
  const path = await exported(from)
  const to = await shared().newOrganization()
  expect(await runHere(['import', path, '--dry-run'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\d+ rows checked, 0 would be rejected\n$/),
  })
  const first = await runHere(['import', path, ...at(to)])
  expect([first.code, first.stderr]).toEqual([0, ''])
  expect(first.stdout).toMatch(
    /^teammates: 2 of 2 rows there, 2 created now; exact, content digest [0-9a-f]{16}$/m,
  )
  expect(first.stdout).toMatch(/^All of it is there, in [\d.]+ s\.$/m)
  expect(digests(await exported(to))).toEqual(digests(path))
  expect(await storedEvents(shared(), to.organizationId)).toEqual([])

  const before = await changes(to)
  const again = JSON.parse((await runHere(['import', path, '--json', ...at(to)])).stdout)
  expect(again).toMatchObject({ path, exact: true })
  for (const kind of Object.values(again.kinds))
    expect(kind).toMatchObject({ created: 0, rejected: 0, others: 0 })
  expect(await changes(to)).toEqual(before)

  const numbers = async (api: Api) => (await makeTicket(api)).number
  expect(await numbers(to)).toBe(await numbers(from))
})

test('what interrupts a move is made up for by another run, and what changed since is named', async () => {
  const from = await fullDesk()
  const path = await exported(from)
  const to = await shared().newOrganization()
  let calls = 0
  await using between = await startHttpServer(async (request, response) => {
    if (request.method !== 'GET' && calls++ >= failing) {
      const problem = { type: 't', title: 't', status: 403, code: 'insufficient_scope', detail: 'No.' }
      return void response
        .writeHead(403, { 'content-type': 'application/problem+json' })
        .end(JSON.stringify(problem))
    }
    const { status, type, text } = await forward(request, shared().url)
    response.writeHead(status, { 'content-type': type }).end(text)
  })
  let failing = 0
  for (failing = 0; failing < 9; failing++) {
    calls = 0
    const stopped = await runHere(['import', path, ...at(to, between.url)])
    if (stopped.code === 0) break
    expect([stopped.code, stopped.stderr]).toEqual([
      1,
      expect.stringMatching(/run the same command again to go on/),
    ])
  }
  expect(failing).toBeGreaterThan(0)
  expect(await runHere(['import', path, ...at(to)])).toMatchObject({ code: 0, stderr: '' })
  expect(digests(await exported(to))).toEqual(digests(path))

  const [note] = (await from.get('/v1/notes')).json.data
  await from.patch(`/v1/notes/${note.id}`, { body: 'Changed since' })
  await makeCustomer(to, { name: 'Of B alone' })
  const later = await exported(from)
  const ran = await runHere(['import', later, '--json', ...at(to)])
  expect(ran.code).toBe(3)
  const { exact, kinds } = JSON.parse(ran.stdout)
  expect([exact, kinds.notes, kinds.customers]).toMatchObject([
    false,
    { rows: 3, found: 3, created: 0, missing: [], different: [expect.any(Number)] },
    { created: 0, others: 1, missing: [], different: [] },
  ])
})

test('teammates who are alike in all but their ids keep their work apart', async () => {
  const from = await shared().newOrganization()
  const items = Array.from({ length: 8 }, () => ({ name: 'Grace' }))
  const { data } = (await from.post('/v1/teammates/batch', { items })).json
  const customerId = (await makeCustomer(from)).id
  for (const { id } of data) await makeTicket(from, { customerId, assigneeId: id, subject: `of ${id}` })
  for (const { id } of data.slice(0, 4)) await from.patch(`/v1/teammates/${id}`, { active: false })
  const path = await exported(from)
  const to = await shared().newOrganization()
  const subjects = async () => {
    const tickets: Record<string, string>[] = (await to.get('/v1/tickets?limit=100')).json.data
    return Map.groupBy(tickets, ({ assigneeId }) => assigneeId).size
  }
  for (const _ of [1, 2, 3]) {
    expect(await runHere(['import', path, ...at(to)])).toMatchObject({ code: 0, stderr: '' })
    expect(await subjects()).toBe(8)
  }
  const teammates: { active: boolean }[] = (await to.get('/v1/teammates')).json.data
  expect(teammates.filter(({ active }) => active)).toHaveLength(4)
})

test('a row that cannot move is listed with those that need it, and all others move', async () => {
  const from = await shared().newOrganization()
  const [ada, bob] = [
    await makeCustomer(from, { name: 'Ada', email: 'ada@example.com' }),
    await makeCustomer(from),
  ]
  for (const { id } of [ada, bob]) await makeTicket(from, { customerId: id })
  const to = await shared().newOrganization()
  await makeCustomer(to, { name: 'Another', email: 'ada@example.com' })
  const path = await exported(from)
  const ran = await runHere(['import', path, ...at(to)])
  expect(ran.code).toBe(3)
  expect(ran.stderr.split('\n')).toEqual([
    expect.stringMatching(/^line 1: customers: Another customer has this email/),
    `line 1: tickets: customerId: the customer ${ada.id} was not imported`,
    '',
  ])
  expect(ran.stdout).toMatch(
    /^tickets: 1 of 2 rows there, 1 created now; .*\n {2}missing: line 1 of its file$/m,
  )
  const rejects = readFileSync(join(path, 'tickets.rejects.ndjson'), 'utf8')
  expect(JSON.parse(rejects)).toMatchObject({ customerId: ada.id, error: expect.any(String) })
  expect((await to.get('/v1/tickets')).json.data).toHaveLength(1)
})

test('files of deskwire export move too, each row in its last version; one that is not whole is refused', async () => {
  const from = await shared().newOrganization()
  const ada = await makeCustomer(from, { name: 'Ada' })
  const renamed = (await from.patch(`/v1/customers/${ada.id}`, { name: 'Ada Lovelace' })).json
  const sum = new Sum()
  sum.take(`${renamed.id}:${renamed.updatedAt}`)
  const removed = {
    object: 'removed',
    id: ada.organizationId,
    resource: 'customer',
    removedAt: ada.updatedAt,
  }
  const { count, digest } = sum
  const end = { object: 'export_end', nextCursor: 'c', checkpoint: { count, digest } }
  const text = (...rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  const rows = [ada, { ...ada, id: ada.organizationId }, renamed, removed]
  const path = fileOf(text(...rows, end), 'customers.ndjson')
  const to = await shared().newOrganization()
  expect(await runHere(['import', path, ...at(to)])).toMatchObject({ code: 0, stderr: '' })
  expect((await to.get('/v1/customers')).json.data).toMatchObject([
    { name: 'Ada Lovelace', externalId: `deskwire-${ada.id}`, createdAt: ada.createdAt },
  ])
  const own = directory()
  await runHere(['export', 'customers', '--out', join(own, 'customers.ndjson'), ...at(from)])
  const second = await shared().newOrganization()
  expect(await runHere(['import', own, ...at(second)])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(
      '\nNot in the export: teammates, conversations, messages, notes, tickets, bookings.\n',
    ),
  })
  expect((await second.get('/v1/customers')).json.data).toMatchObject([{ name: 'Ada Lovelace' }])

  const manifest = (content: object | null) => join(fileOf(JSON.stringify(content), 'manifest.json'), '..')
  const whole = { object: 'export', files: {}, checkpoint: {} }
  const refusals: [words: string[], code: number, message: RegExp][] = [
    [[path, ...at(from)], 1, /^deskwire: the export is of the organization .*: give the key of another one$/],
    [[path, '--kind', 'customers', ...at(to)], 2, /--kind does not go with .*, which is an export$/],
    ...[null, {}, { ...whole, files: { customer: 1 } }, { ...whole, checkpoint: null }].map(
      (content): [string[], number, RegExp] => [
        [manifest(content), ...at(to)],
        2,
        /manifest\.json is not of an export/,
      ],
    ),
    [[manifest({ ...whole, files: { invoice: 'i.ndjson' } }), ...at(to)], 2, /this version knows no invoice/],
    [[manifest({ ...whole, files: { customer: 'c.parquet' } }), ...at(to)], 2, /is an export as Parquet/],
    [
      [manifest({ ...whole, selection: { exclude: ['customers.email'] } }), ...at(to)],
      2,
      /fields were left out/,
    ],
    [[directory(), ...at(to)], 2, /holds no export: there is neither a manifest\.json/],
    [
      [fileOf(text(ada, end), 'customers.ndjson'), ...at(to)],
      1,
      /has not the rows that were exported: 1 with/,
    ],
    [
      [join(fileOf(text(ada), 'customers.ndjson'), '..'), ...at(to)],
      1,
      /was cut off: its last line is no export_end/,
    ],
  ]
  for (const [words, code, message] of refusals) {
    const { stderr, ...ran } = await runHere(['import', ...words])
    expect([ran.code, stderr.trimEnd()]).toEqual([code, expect.stringMatching(message)])
  }
})
