/** A person erased under load: nothing made up of them is left in a table, a copy, a queue or a stored response. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@deskwire/sdk'
import { expect, onTestFinished, test } from 'vitest'
import { tablesOf } from '../../service/src/backup/tables.ts'
import { kinds } from '../../service/src/desk/index.ts'
import { audit } from '../../testbed/audit.ts'
import { testClock } from '../../testbed/clock.ts'
import { testEngine } from '../../testbed/engine.ts'
import { follow } from '../../testbed/follower.ts'
import { hour, makeWebhook, minute } from '../../testbed/hooks.ts'
import { httpReader } from '../../testbed/http-follower.ts'
import { type Api, type TestService, testService } from '../../testbed/service.ts'
import { Mirror } from '../src/index.ts'
import { MemoryStore } from '../src/stores/memory.ts'
import { SqliteStore } from '../src/stores/sqlite.ts'

/** In every text of the person's. */
const trace = 'Zarathustra'

const plurals = [
  'customers',
  'conversations',
  'messages',
  'notes',
  'tickets',
  'bookings',
  'teammates',
] as const
const numbered = (n: number) => ({ 'idempotency-key': `${n} of the day` })

async function rowsWith({ database }: TestService, text: string): Promise<string[]> {
  const found: string[] = []
  for (const { name } of await tablesOf(database.pool)) {
    const { rows } = await database.pool.query<{ row: string }>(
      `select t::text as row from ${name} t where t::text ilike $1`,
      [`%${text}%`],
    )
    found.push(...rows.map(({ row }) => `${name}: ${row}`))
  }
  return found
}

/** Everything that refers to a person, each with the trace, and each response stored. */
async function household(api: Api): Promise<{ id: string; conversationId: string }> {
  let keys = 0
  const made = async (path: string, body: object) => {
    const answer = await api.post(path, body, numbered(keys++))
    expect([path, answer.status]).toEqual([path, answer.status < 300 ? answer.status : answer.text])
    return answer.json
  }
  const { id } = await made('/v1/customers', {
    name: trace,
    email: `${trace}@example.com`,
    customAttributes: { a: trace },
  })
  const of = { customerId: id }
  const conversation = await made('/v1/conversations', {
    ...of,
    channel: 'chat',
    subject: trace,
    tags: [trace],
  })
  const on = { conversationId: conversation.id }
  const inbound = { ...on, direction: 'inbound', author: { type: 'customer', name: trace } }
  for (let n = 0; n < 3; n++) await made('/v1/messages', { ...inbound, body: `${trace} ${n}` })
  await made('/v1/messages/batch', { items: Array(40).fill({ ...inbound, body: trace }) })
  await made('/v1/notes', { ...on, author: { type: 'teammate', name: trace }, body: trace })
  await made('/v1/tickets', { ...of, ...on, subject: trace, description: trace })
  const time = { startAt: '2026-04-01T09:00:00Z', endAt: '2026-04-01T10:00:00Z', timezone: 'UTC' }
  await made('/v1/bookings', {
    ...of,
    ...time,
    title: trace,
    notes: trace,
    location: { type: 'other', value: trace },
  })
  await made(`/v1/conversations/${conversation.id}/resolve`, {})
  await made(`/v1/conversations/${conversation.id}/summarize`, { summary: trace })
  return { id, conversationId: conversation.id }
}

test('an erase under load leaves nothing of the person, and every copy is proven', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  const client = createClient({ baseUrl: `${service.url}/v1`, apiKey: api.token })
  const store = new MemoryStore()
  const mirror = new Mirror({ client, store })
  const directory = mkdtempSync(join(tmpdir(), 'erase-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const inFile = new Mirror({ client, store: new SqliteStore({ file: join(directory, 'copy.db') }) })
  const bytes = () => readdirSync(directory).map((name) => readFileSync(join(directory, name), 'latin1'))
  const followers = plurals.map((kind) =>
    follow(httpReader({ url: () => service.url, token: api.token, kind, limit: 7 })),
  )
  const catchUp = async () => {
    await mirror.catchUp()
    await inFile.catchUp()
    for (const follower of followers) await follower.drain()
  }
  // The receiver sends back what it gets: some of it fails, and is tried again.
  let attempts = 0
  let held: PromiseWithResolvers<void> | null = null
  const { engine } = testEngine(service, clock, {
    async send({ body }) {
      const answer = { status: attempts++ % 3 === 0 ? 500 : 200, responseBody: body.slice(0, 1_000) }
      await held?.promise
      return { kind: 'answered', ...answer, durationMs: 5 }
    },
  })
  await makeWebhook(api, { events: kinds.flatMap(({ events }) => Object.keys(events)) })
  const person = await household(api)
  const other = (await api.post('/v1/customers', { name: 'Other' }, {})).json
  const aside = (await api.post('/v1/conversations', { customerId: other.id, channel: 'chat' })).json
  // Of another person, in the conversation of this one: it stays, without the conversation.
  const kept = (
    await api.post('/v1/tickets', {
      customerId: other.id,
      conversationId: person.conversationId,
      subject: 'Kept',
    })
  ).json
  await engine.runDue()
  await catchUp()
  expect((await rowsWith(service, trace)).length).toBeGreaterThan(100)
  expect(store.rowsOf('messages')).toBeDefined()
  expect(bytes().join()).toContain(trace)

  // Attempts are under way, with answers that come after the erase.
  held = Promise.withResolvers()
  clock.advance(minute)
  const sending = engine.runDue()
  const writing = Array.from({ length: 30 }, async (_, n) => {
    const author = { type: 'customer', name: trace }
    const said = { conversationId: person.conversationId, direction: 'inbound', author, body: trace }
    const answers = [
      await api.post('/v1/messages', said, numbered(100 + n)),
      await api.post('/v1/tickets', { customerId: person.id, subject: trace }, numbered(200 + n)),
      await api.patch(`/v1/customers/${person.id}`, { company: `${trace} ${n}` }),
      await api.post('/v1/messages', {
        ...said,
        author: { type: 'customer' },
        conversationId: aside.id,
        body: 'Hi',
      }),
    ]
    expect(answers.map(({ status }) => status < 500)).toEqual([true, true, true, true])
  })
  const erased = await api.post(`/v1/customers/${person.id}/erase`, undefined, { 'idempotency-key': 'erase' })
  expect([erased.status, erased.json.id]).toEqual([200, person.id])
  await Promise.all(writing)
  held.resolve()
  await sending
  await catchUp()

  // Each copy erased with its stream, and is proven exact.
  expect(followers.flatMap(({ faults }) => faults)).toEqual([])
  for (const { copy } of followers) expect([...copy.values()].join()).not.toContain(trace)
  expect((await mirror.verify()).differences).toEqual([])
  expect((await inFile.verify()).differences).toEqual([])
  await inFile.close()
  expect(bytes().join()).not.toContain(trace)
  for (const table of plurals) expect(JSON.stringify([...store.rowsOf(table)])).not.toContain(trace)
  const removed = followers.flatMap(({ seen }) =>
    seen.filter(({ removed, at }) => removed && at === erased.json.erasedAt),
  )
  const counts = erased.json.removed as Record<string, number>
  expect(removed.length).toBe(Object.values(counts).reduce((sum, count) => sum + count, 0))
  expect(counts).toMatchObject({ customer: 1, conversation: 1, booking: 1 })
  expect(counts.message).toBeGreaterThanOrEqual(43)
  expect((await api.get(`/v1/tickets/${kept.id}`)).json).toMatchObject({
    conversationId: null,
    subject: 'Kept',
  })
  expect(await audit(service.database.pool, api.organizationId)).toEqual([])

  // Answers that came late go with the next maintenance.
  await service.app.maintenance.run()
  expect(await rowsWith(service, trace)).toEqual([])
  // Nor does a schedule that goes on bring anything back.
  clock.advance(12 * hour)
  await engine.runDue()
  await service.app.maintenance.run()
  expect(await rowsWith(service, trace)).toEqual([])
  const again = await api.post(`/v1/customers/${person.id}/erase`, undefined, { 'idempotency-key': 'erase' })
  expect(again.text).toBe(erased.text)
  await mirror.close()
})
