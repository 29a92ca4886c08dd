/** The inbox over HTTP: who waits and since when, its order, pages and scopes. */
import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { testDatabase } from '../../../testbed/database.ts'
import { makeConversation, makeCustomer, makeMessage, makeTeammate } from '../../../testbed/desk.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const shared = sharedService()

interface Entry {
  readonly conversation: { readonly id: string; readonly assigneeId: string | null }
  readonly lastMessage: { readonly id: string; readonly preview: string } | null
  readonly awaitingReplySince: string | null
}

async function inbox(api: Api, query = ''): Promise<readonly Entry[]> {
  const { status, text, json } = await api.get(`/v1/inbox?limit=100${query}`)
  if (status !== 200) throw new Error(text)
  return json.data
}

const idsOf = (entries: readonly Entry[]) => entries.map(({ conversation }) => conversation.id)

/** What happens in a conversation: messages by who wrote them, and what the desk does. */
type Step =
  | 'customer'
  | 'teammate'
  | 'ai'
  | 'system'
  | 'resolve'
  | 'reopen'
  | 'escalate'
  | 'assign'
  | 'unassign'

const stories: readonly { readonly steps: readonly Step[]; readonly waits: boolean }[] = [
  { steps: [], waits: false },
  { steps: ['customer'], waits: true },
  { steps: ['customer', 'customer', 'customer'], waits: true },
  { steps: ['customer', 'teammate'], waits: false },
  { steps: ['customer', 'teammate', 'customer'], waits: true },
  { steps: ['customer', 'teammate', 'customer', 'ai'], waits: false },
  { steps: ['customer', 'ai'], waits: false },
  { steps: ['customer', 'ai', 'customer'], waits: true },
  { steps: ['customer', 'system'], waits: true },
  { steps: ['customer', 'system', 'system', 'system'], waits: true },
  { steps: ['customer', 'teammate', 'system'], waits: false },
  { steps: ['system'], waits: false },
  { steps: ['teammate'], waits: false },
  { steps: ['customer', 'assign'], waits: true },
  { steps: ['customer', 'assign', 'unassign', 'assign'], waits: true },
  { steps: ['customer', 'escalate'], waits: true },
  { steps: ['customer', 'escalate', 'system', 'assign'], waits: true },
  { steps: ['customer', 'teammate', 'assign'], waits: false },
  { steps: ['customer', 'resolve'], waits: false },
  { steps: ['customer', 'teammate', 'resolve'], waits: false },
  { steps: ['customer', 'teammate', 'resolve', 'customer'], waits: true },
  { steps: ['customer', 'teammate', 'resolve', 'customer', 'teammate'], waits: false },
  { steps: ['customer', 'resolve', 'reopen'], waits: true },
  { steps: ['customer', 'teammate', 'resolve', 'reopen'], waits: false },
  { steps: ['customer', 'resolve', 'reopen', 'resolve'], waits: false },
]

test('of 99 conversations, each waits exactly if its last answerable message is unanswered', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  const { id: customerId } = await makeCustomer(api)
  const { id: assigneeId } = await makeTeammate(api)
  const expected = new Map<string, string | null>()
  for (let n = 0; n < 99; n++) {
    const { steps, waits } = stories[n % stories.length]!
    const handledBy = steps.includes('escalate') ? 'ai' : 'human'
    const { id } = await makeConversation(api, { customerId, handledBy, subject: `${n}: ${steps}` })
    let since: string | null = null
    for (const step of steps) {
      clock.advance(1_000)
      if (step === 'customer') {
        const { sentAt } = await makeMessage(api, { conversationId: id })
        since ??= sentAt
      } else if (step === 'teammate' || step === 'ai' || step === 'system') {
        // What looks like an author in a body is none.
        const body = 'See "author":{"type":"system"'
        await makeMessage(api, { conversationId: id, direction: 'outbound', author: { type: step }, body })
        if (step !== 'system') since = null
      } else if (step === 'assign') await api.patch(`/v1/conversations/${id}`, { assigneeId })
      else if (step === 'unassign') await api.patch(`/v1/conversations/${id}`, { assigneeId: null })
      else expect((await api.post(`/v1/conversations/${id}/${step}`, {})).status, `${steps}`).toBe(200)
    }
    const isOpen = steps.findLast((step) => ['resolve', 'reopen', 'customer'].includes(step)) !== 'resolve'
    if (isOpen) expected.set(id, waits ? since : null)
  }
  const entries = await inbox(api)
  const found = new Map(entries.map((entry) => [entry.conversation.id, entry.awaitingReplySince]))
  expect(found).toEqual(expected)

  const waiting = [...expected].filter(([, since]) => since !== null)
  const byWait = waiting.toSorted(([, a], [, b]) => (a! < b! ? -1 : 1)).map(([id]) => id)
  expect(idsOf(entries).slice(0, byWait.length)).toEqual(byWait)
  expect(idsOf(await inbox(api, '&awaitingReply=true'))).toEqual(byWait)
  expect(idsOf(await inbox(api, '&awaitingReply=false')).sort()).toEqual(
    [...expected].flatMap(([id, since]) => (since === null ? [id] : [])).sort(),
  )
  expect((await api.get('/v1/inbox/counts')).json).toMatchObject({
    open: expected.size,
    waiting: byWait.length,
  })
  const { pagination } = (await api.get('/v1/inbox?awaitingReply=true&limit=1')).json
  expect(pagination).toEqual({ total: byWait.length, limit: 1, offset: 0, hasMore: true })

  // Pages of seven cover the list, each row once, though the last row of each is answered in between.
  const paged: string[] = []
  for (let place = ''; ; ) {
    const { data, pagination } = (await api.get(`/v1/inbox?limit=7${place}`)).json
    paged.push(...idsOf(data))
    if (!pagination.hasMore) break
    const last: Entry = data.at(-1)
    place = `&after=${last.conversation.id}`
    if (last.awaitingReplySince !== null) {
      place += `&afterSince=${last.awaitingReplySince}`
      await makeMessage(api, { conversationId: last.conversation.id, direction: 'outbound' })
    }
  }
  const answered = paged.filter((id, n) => paged.indexOf(id) < n)
  expect(answered.every((id) => byWait.includes(id))).toBe(true)
  expect([...new Set(paged)].sort()).toEqual([...expected.keys()].sort())
})

test('its rows are those that follow from what is stored', async () => {
  await using database = await testDatabase()
  await using service = await testService({ database })
  const { api } = service
  const { id: customerId } = await makeCustomer(api)
  const { id: assigneeId } = await makeTeammate(api)
  const ids: string[] = []
  for (const { steps } of stories) {
    const { id } = await makeConversation(api, { customerId, ...(steps.length % 2 ? { assigneeId } : {}) })
    ids.push(id)
    const sent: string[] = []
    for (const step of steps) {
      if (step === 'customer') sent.push((await makeMessage(api, { conversationId: id })).id)
      else if (['teammate', 'ai', 'system'].includes(step))
        sent.push((await makeMessage(api, { conversationId: id, direction: 'outbound' })).id)
      else if (['resolve', 'reopen'].includes(step)) await api.post(`/v1/conversations/${id}/${step}`, {})
    }
    if (sent.length > 2) await api.delete(`/v1/messages/${sent.at(-1)}`)
  }
  const items = Array.from({ length: 40 }, (_, n) => ({
    conversationId: ids[5],
    direction: n % 3 === 0 ? 'outbound' : 'inbound',
    author: { type: n % 3 === 0 ? 'ai' : 'customer' },
    body: `Part ${n}`,
    sentAt: new Date(Date.now() - (40 - n) * 1_000).toISOString(),
  }))
  await api.post('/v1/messages/batch', { items })
  const imported = (await inbox(api)).find(({ conversation }) => conversation.id === ids[5])
  expect(imported).toMatchObject({
    lastMessage: { preview: 'Part 39' },
    awaitingReplySince: null,
  })
  await api.delete(`/v1/messages/${imported?.lastMessage?.id}`)
  await makeMessage(api, { conversationId: ids[5], body: 'After all' })
  await api.delete(`/v1/conversations/${ids[3]}`)
  await api.delete(`/v1/teammates/${assigneeId}`)
  const rows = async () =>
    (await database.pool.query('select i.* from inbox i order by i.conversation_id')).rows
  const kept = await rows()
  expect(kept.length).toBeGreaterThan(15)
  expect(kept.filter(({ assignee_id }) => assignee_id !== null)).toEqual([])

  await database.pool.query('delete from inbox')
  await database.pool.query(
    `insert into inbox (organization_id, conversation_id, assignee_id, awaiting_since)
       select c.organization_id, c.id, c.assignee_id, inbox_since(c.organization_id, c.id) from conversations c
         where c.status = 'open' and c.removed_at is null`,
  )
  expect(await rows()).toEqual(kept)
})

test('messages that are imported out of order wait as if they had come in order', async () => {
  const api = await shared().newOrganization()
  const { id: customerId } = await makeCustomer(api)
  const day = (n: number) => `2026-0${n}-01T00:00:00.000Z`
  const { json } = await api.post('/v1/conversations/batch', {
    operation: 'import',
    items: [{ customerId, channel: 'email', createdAt: day(1) }],
  })
  const conversationId = json.data[0].id
  const bring = async (at: number, direction: 'inbound' | 'outbound') => {
    const author = { type: direction === 'inbound' ? 'customer' : 'ai' }
    const items = [{ conversationId, direction, author, body: `Of ${at}`, createdAt: day(at) }]
    expect((await api.post('/v1/messages/batch', { operation: 'import', items })).json.created).toBe(1)
    const [entry] = await inbox(api)
    return [entry?.awaitingReplySince, entry?.lastMessage?.preview]
  }
  expect(await bring(6, 'inbound')).toEqual([day(6), 'Of 6'])
  expect(await bring(4, 'inbound')).toEqual([day(4), 'Of 6'])
  expect(await bring(5, 'outbound')).toEqual([day(6), 'Of 6'])
  expect(await bring(3, 'inbound')).toEqual([day(6), 'Of 6'])
  expect(await bring(7, 'outbound')).toEqual([null, 'Of 7'])
  expect(await bring(2, 'inbound')).toEqual([null, 'Of 7'])
})

test('counts stop at 1,000, also the total of a list', async () => {
  const api = await shared().newOrganization()
  const { id: customerId } = await makeCustomer(api)
  const { id: assigneeId } = await makeTeammate(api)
  for (const items of [1000, 1].map((n) =>
    Array.from({ length: n }, () => ({ customerId, channel: 'chat' })),
  ))
    expect((await api.post('/v1/conversations/batch', { items })).status).toBe(200)
  await makeConversation(api, { customerId, assigneeId })
  expect((await api.get(`/v1/inbox/counts?assigneeId=${assigneeId}`)).json).toEqual({
    object: 'inbox_counts',
    open: 1000,
    waiting: 0,
    unassigned: 1000,
    assigned: 1,
  })
  expect((await api.get('/v1/inbox?limit=1')).json.pagination).toMatchObject({ total: 1000, hasMore: true })
  expect((await api.get('/v1/inbox/counts?assigneeId=x')).status).toBe(400)
})

describe('an entry', () => {
  test('has the stored conversation and the last message, of which 200 characters', async () => {
    const api = await shared().newOrganization()
    const body = `"quoted" \\ é🦉\n${'x'.repeat(300)}`
    const { id } = await makeConversation(api)
    const first = await makeMessage(api, { conversationId: id })
    const author = { type: 'customer', name: 'Ada "L" Lovelace' }
    const message = await makeMessage(api, { conversationId: id, author, body })
    const row = await api.get(`/v1/conversations/${id}`)
    const { text, json } = await api.get('/v1/inbox')
    expect(text).toContain(`{"object":"inbox_entry","conversation":${row.text},"lastMessage":{`)
    expect(json.data[0]).toEqual({
      object: 'inbox_entry',
      conversation: row.json,
      lastMessage: {
        id: message.id,
        author,
        sentAt: message.sentAt,
        preview: [...body].slice(0, 200).join(''),
      },
      awaitingReplySince: first.sentAt,
    })
    expect(Object.keys(row.json)).not.toContain('lastMessage')
  })

  test('says when an imported message was sent, and has an empty preview without a body', async () => {
    const api = await shared().newOrganization()
    const sentAt = '2020-01-02T03:04:05.678Z'
    const attachments = [
      { fileName: 'a.txt', contentType: 'text/plain', sizeBytes: 1, url: 'https://a.example/a' },
    ]
    await makeMessage(api, { sentAt, body: null, attachments })
    const [entry] = await inbox(api)
    expect(entry).toMatchObject({ awaitingReplySince: sentAt, lastMessage: { sentAt, preview: '' } })
  })

  test('has no message that was deleted, and goes with its erased customer', async () => {
    const api = await shared().newOrganization()
    const { id: customerId } = await makeCustomer(api)
    const { id: conversationId } = await makeConversation(api, { customerId })
    const first = await makeMessage(api, { conversationId, body: 'first' })
    const second = await makeMessage(api, { conversationId, direction: 'outbound', body: 'second' })
    expect((await inbox(api))[0]?.awaitingReplySince).toBeNull()
    await api.delete(`/v1/messages/${second.id}`)
    expect((await inbox(api))[0]).toMatchObject({
      awaitingReplySince: first.sentAt,
      lastMessage: { preview: 'first' },
    })
    expect((await api.post(`/v1/customers/${customerId}/erase`, {})).status).toBe(200)
    expect(await inbox(api)).toEqual([])
  })

  test('shows no message to a key without messages:read', async () => {
    const api = await shared().newOrganization()
    await makeMessage(api, { body: 'private' })
    const key = await shared().newKey(api.organizationId, ['conversations:read'])
    const { text, json } = await key.get('/v1/inbox')
    expect(json.data[0].lastMessage).toBeNull()
    expect(text).not.toContain('private')
  })
})

describe('its query', () => {
  test('takes the filters of conversations', async () => {
    const api = await shared().newOrganization()
    const { id: assigneeId } = await makeTeammate(api)
    const mine = await makeConversation(api, { assigneeId, subject: 'Lost parcel' })
    const free = await makeConversation(api, { channel: 'chat', tags: ['vip'] })
    await makeMessage(api, { conversationId: mine.id })
    for (const [query, id] of [
      [`&assigneeId=${assigneeId}`, mine.id],
      ['&assigneeId=null', free.id],
      ['&q=parc', mine.id],
      ['&q=parc&awaitingReply=true', mine.id],
      ['&tag=vip', free.id],
      ['&channel=chat', free.id],
    ])
      expect(idsOf(await inbox(api, query)), query).toEqual([id])
    expect(await inbox(api, '&q=parc&awaitingReply=false')).toEqual([])
  })

  test.each([
    'after=x',
    'after=01980000-0000-7000-8000-00000000ffff',
    'afterSince=2026-01-01T00:00:00Z',
    'afterSince=yesterday',
    'awaitingReply=maybe',
    'offset=1',
    'limit=0',
    'cursor=x',
    'status=open',
    'limit=1&limit=2',
  ])('%s is refused', async (query) => {
    const api = await shared().newOrganization()
    const { status, json } = await api.get(`/v1/inbox?${query}`)
    expect([status, json.code]).toEqual([400, 'invalid_parameter'])
  })
})
