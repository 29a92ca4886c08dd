/** Every argument of every tool: with another value the answer is another one, or the call is refused. None is ignored. */
import { expect, test } from 'vitest'
import { makeBooking, makeConversation, makeMessage, makeTeammate, makeTicket } from '../../testbed/desk.ts'
import { mcpClient } from '../../testbed/mcp-client.ts'
import { sharedService } from '../../testbed/shared-service.ts'

const service = sharedService({ mcp: true })
type Arguments = Record<string, unknown>
type Schema = {
  type?: string | string[]
  format?: string
  enum?: unknown[]
  anyOf?: Schema[]
  minimum?: number
}

async function newDesk() {
  const api = await service().newOrganization()
  const client = await mcpClient(service().url, api.token)
  const { id: conversationId, customerId } = await makeConversation(api, { handledBy: 'ai' })
  const resolved = await makeConversation(api, { customerId })
  await api.post(`/v1/conversations/${resolved.id}/resolve`, undefined)
  for (const word of ['one', 'two', 'three']) {
    await makeMessage(api, { conversationId, body: `${word} ${'x'.repeat(300)}` })
    await makeTicket(api, { customerId, subject: word, priority: word === 'one' ? 'low' : 'high' })
  }
  const ticket = await makeTicket(api, { customerId })
  const teammate = await makeTeammate(api)
  const begins = { startAt: '2030-05-01T09:30:00.000Z', endAt: '2030-05-01T10:30:00.000Z' }
  const booking = await makeBooking(api, {
    ...begins,
    customerId,
    assigneeId: teammate.id,
    status: 'confirmed',
  })
  const other = await makeTeammate(api)
  const url = 'https://127.0.0.1:1/'
  const endpoint = (await api.post('/v1/webhooks', { url, events: ['ticket.created'] })).json
  const day = (time: string) => `${String(booking.startAt).slice(0, 10)}T${time}:00.000Z`
  const [startAt, endAt] = ['2031-05-01T09:00:00.000Z', '2031-05-01T10:00:00.000Z']
  const [from, to] = [day('00:00'), day('23:59')]
  const ask = async (name: string, args: Arguments) => {
    const { isError, structuredContent, content } = await client.callTool({ name, arguments: args })
    return isError ? `refused: ${JSON.stringify(content)}` : JSON.stringify(structuredContent, shown)
  }
  const cursorOf = async (name: string, args: Arguments) =>
    ((await client.callTool({ name, arguments: args })).structuredContent as { nextCursor: string })
      .nextCursor
  const begun = await cursorOf('changes_since', { limit: 1 })
  const older = await cursorOf('read_conversation', { conversationId, maxTokens: 100 })
  const earlier = new Date(Date.now() - 60_000).toISOString()
  /** Arguments of a call that succeeds; and other values of those of them that no schema tells. */
  const calls: Record<string, readonly [Arguments, Arguments]> = {
    find: [
      { kind: 'tickets' },
      { kind: 'customers', q: 'two', where: { priority: 'low' }, limit: 1, offset: 1 },
    ],
    read_conversation: [{ conversationId }, { maxTokens: 100, cursor: older }],
    open_ticket: [{ customerId, subject: 'x' }, {}],
    change_ticket: [{ ticketId: ticket.id, subject: 'y' }, {}],
    reply: [{ conversationId, body: 'x' }, {}],
    add_note: [{ conversationId, body: 'x' }, {}],
    hand_to_human: [{ conversationId }, {}],
    resolve: [{ conversationId }, {}],
    summarize: [{ conversationId: resolved.id, summary: 'x' }, {}],
    find_slot: [
      { from, to, limit: 100 },
      { from: day('12:07'), to: day('02:00'), minutes: 600, everyMinutes: 7, assigneeId: other.id, limit: 1 },
    ],
    book: [{ customerId, title: 'x', startAt, endAt, timezone: 'UTC' }, {}],
    move_booking: [{ bookingId: booking.id, startAt, endAt }, {}],
    cancel_booking: [{ bookingId: booking.id, by: 'customer' }, { by: 'team' }],
    changes_since: [
      {},
      { updatedAfter: new Date(Date.now() + 60_000).toISOString(), cursor: begun, limit: 1 },
    ],
    delivery_problems: [{}, {}],
    replay_missed_events: [{ endpointId: endpoint.id, since: earlier }, { since: endpoint.createdAt }],
  }
  return { api, client, ask, calls }
}

/** Ids and times of what is made differ anyway. */
function shown(this: Arguments, name: string, value: unknown) {
  const isOwn = name === 'id' || /^(created|updated|sent|lastMessage|resolved|closed)At$|^until$/.test(name)
  return isOwn && typeof this[name] === 'string' ? 'given' : value
}

function another(schema: Schema, before = ''): unknown {
  const { anyOf = [], enum: words } = schema
  const type = [schema.type].flat()[0]
  if (words) return words.find((word) => !before.includes(`"${word}"`)) ?? words.at(-1)
  if (type === undefined) return another(anyOf[0] as Schema, before)
  if (type === 'boolean') return true
  if (type === 'integer' || type === 'number') return (schema.minimum ?? 0) + 1
  if (type === 'array') return ['other']
  if (type === 'object') return { other: 'value' }
  if (schema.format === 'uuid') return '01980000-0000-7000-8000-000000000001'
  return schema.format === 'date-time' ? '2031-05-01T09:30:00.000Z' : 'other'
}

test('changes the answer, or is refused', async () => {
  const { client, ask, calls } = await newDesk()
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name).sort()).toEqual(Object.keys(calls).sort())
  const ignored: string[] = []
  for (const { name, inputSchema } of tools) {
    const [base, others] = calls[name] as readonly [Arguments, Arguments]
    const properties = inputSchema.properties as Record<string, Schema>
    const dry = 'dryRun' in properties ? { ...base, dryRun: true } : base
    const before = await ask(name, dry)
    expect(before, name).not.toMatch(/^refused/)
    for (const [argument, schema] of Object.entries(properties)) {
      // The same call under the same name is made once: tested where it is made.
      if (argument === 'idempotencyKey' || argument === 'dryRun') continue
      const value = others[argument] ?? another(schema, before)
      if ((await ask(name, { ...dry, [argument]: value })) === before) ignored.push(`${name} ${argument}`)
      if ([schema.type].flat()[0] !== 'string' && schema.anyOf === undefined) continue
      const empty = await ask(name, { ...dry, [argument]: '' })
      if (empty === before) ignored.push(`${name} ${argument}: empty`)
    }
    expect(await ask(name, { ...dry, unknown: 1 }), name).toMatch(/^refused/)
  }
  expect(ignored).toEqual([])
  await client.close()
})

test('each filter of find is applied, or refused; an empty one is refused', async () => {
  const { client, ask } = await newDesk()
  const document = (await (await fetch(`${service().url}/openapi.json`)).json()) as {
    paths: Record<string, { get?: { parameters: { in: string; name: string; schema: Schema }[] } }>
  }
  const [find] = (await client.listTools()).tools as unknown as {
    inputSchema: { properties: { kind: { enum: string[] } } }
  }[]
  const kept: string[] = []
  for (const kind of find?.inputSchema.properties.kind.enum ?? []) {
    const all = await ask('find', { kind, limit: 100 })
    for (const { in: place, name, schema } of document.paths[`/v1/${kind}`]?.get?.parameters ?? []) {
      if (place !== 'query') continue
      const value =
        schema.format === 'date-time' && name.endsWith('After')
          ? '2040-01-01T00:00:00Z'
          : another(schema, all)
      const filtered = await ask('find', { kind, limit: 100, where: { [name]: value } })
      const isEmpty = all.includes('"found":[]')
      if (filtered === all && !isEmpty && !/Before$/.test(name)) kept.push(`${kind} ${name}`)
      if (!(await ask('find', { kind, where: { [name]: '' } })).startsWith('refused'))
        kept.push(`${kind} ${name}: empty`)
    }
  }
  expect(kept).toEqual([])
  await client.close()
})
