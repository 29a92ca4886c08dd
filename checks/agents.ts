/**
 * `npm run check -- agents`: ten tasks that an agent does by the tools of `/mcp` alone, here as a script. After each, the
 * API shows whether the desk is as it should be. Last, the conformance suite of the protocol.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newToken } from '../packages/service/src/auth/token.ts'
import { startHooks } from '../packages/testbed/arrivals.ts'
import {
  makeBooking,
  makeConversation,
  makeCustomer,
  makeMessage,
  makeTicket,
} from '../packages/testbed/desk.ts'
import { eventually } from '../packages/testbed/eventually.ts'
import { call, mcpClient, refusalOf } from '../packages/testbed/mcp-client.ts'
import type { Api } from '../packages/testbed/service.ts'
import { serve } from '../packages/testbed/services.ts'
import { conformsToMcp } from './conformance.ts'

// biome-ignore lint/suspicious/noExplicitAny: a wrong guess of what is shown fails the check
type Shown = any
type Use = (tool: string, args?: Record<string, unknown>) => Promise<Shown>

const directory = await mkdtemp(join(tmpdir(), 'deskwire-agents-'))
const token = newToken()
await using hooks = await startHooks()
await using service = await serve(
  ['--data-dir', join(directory, 'data'), '--rate-limit', '0', '--retry-delays', '1s', '--mcp', 'on'],
  { settings: { ...hooks.settings, DESKWIRE_BOOTSTRAP_KEY: token } },
)
const api = apiOf(token)
await using client = await mcpClient(service.url, token)
const use: Use = (tool, args = {}) => call(client, tool, args)
const read = async (path: string): Promise<Shown> => (await api.get(path)).json

const tasks: Readonly<Record<string, () => Promise<void>>> = {
  async 'open a ticket from what a customer wrote'() {
    const ada = await makeCustomer(api, { name: 'Ada', email: 'ada@example.com' })
    const { id } = await makeConversation(api, { customerId: ada.id })
    await makeMessage(api, { conversationId: id, body: 'My parcel is broken.' })
    const { found } = await use('find', { kind: 'customers', where: { email: 'ada@example.com' } })
    const { messages } = await use('read_conversation', { conversationId: id })
    await use('open_ticket', { customerId: found[0].id, conversationId: id, subject: messages[0].body })
    const { data } = await read(`/v1/tickets?customerId=${ada.id}`)
    assert.deepEqual(
      data.map(({ subject }: Shown) => subject),
      ['My parcel is broken.'],
    )
  },

  async 'resolve the duplicate ticket and keep the first'() {
    const first = await makeTicket(api, { subject: 'No login' })
    const second = await makeTicket(api, { subject: 'No login', customerId: first.customerId })
    const { found } = await use('find', { kind: 'tickets', where: { customerId: first.customerId } })
    const [duplicate] = found
    const ticketId = duplicate.id
    const change = { ticketId, status: 'resolved', tags: ['duplicate'], expectedVersion: duplicate.updatedAt }
    assert.equal((await use('change_ticket', { ...change, dryRun: true })).ticket.status, 'resolved')
    await use('change_ticket', change)
    assert.deepEqual(await read(`/v1/tickets/${first.id}`), first)
    assert.equal((await read(`/v1/tickets/${second.id}`)).status, 'resolved')
  },

  async 'answer a question, then resolve the conversation with a summary'() {
    const { id: conversationId } = await makeConversation(api, { handledBy: 'ai' })
    await makeMessage(api, { conversationId, body: 'When do you open?' })
    await use('reply', { conversationId, body: 'At nine.', idempotencyKey: 'answer' })
    await use('reply', { conversationId, body: 'At nine.', idempotencyKey: 'answer' })
    await use('resolve', { conversationId })
    await use('summarize', { conversationId, summary: 'Asked for opening hours.' })
    const { data } = await read(`/v1/messages?conversationId=${conversationId}&direction=outbound`)
    assert.equal(data.length, 1)
    const { status, summary } = await read(`/v1/conversations/${conversationId}`)
    assert.deepEqual({ status, summary }, { status: 'resolved', summary: 'Asked for opening hours.' })
  },

  async 'hand an angry customer to a person'() {
    const { id: conversationId } = await makeConversation(api, { handledBy: 'ai' })
    await makeMessage(api, { conversationId, body: 'I want to talk to a person!' })
    await use('add_note', { conversationId, body: 'Angry: was charged twice.' })
    await use('hand_to_human', { conversationId })
    assert.equal(
      (await read(`/v1/messages?conversationId=${conversationId}&direction=outbound`)).data.length,
      0,
    )
    assert.equal((await read(`/v1/conversations/${conversationId}`)).handledBy, 'human')
  },

  async 'book the first free half hour'() {
    const customer = await makeCustomer(api)
    const taken = {
      startAt: '2031-03-03T09:00:00.000Z',
      endAt: '2031-03-03T10:00:00.000Z',
      status: 'confirmed',
    }
    await makeBooking(api, taken)
    const { slots } = await use('find_slot', { from: taken.startAt, to: '2031-03-03T12:00:00.000Z' })
    const slot = { ...slots[0], customerId: customer.id, title: 'Repair', timezone: 'Europe/Berlin' }
    await use('book', slot)
    const { data } = await read(`/v1/bookings?customerId=${customer.id}`)
    assert.deepEqual(
      data.map(({ startAt }: Shown) => startAt),
      [taken.endAt],
    )
  },

  async 'move a booking, and cancel another'() {
    const moved = await makeBooking(api, { status: 'confirmed' })
    const cancelled = await makeBooking(api, { status: 'confirmed' })
    const [startAt, endAt] = ['2031-04-01T09:00:00.000Z', '2031-04-01T09:30:00.000Z']
    await use('move_booking', { bookingId: moved.id, startAt, endAt, expectedVersion: moved.updatedAt })
    await use('cancel_booking', { bookingId: cancelled.id, by: 'customer', reason: 'Ill' })
    assert.equal((await read(`/v1/bookings/${moved.id}`)).startAt, startAt)
    assert.equal((await read(`/v1/bookings/${cancelled.id}`)).status, 'cancelled')
  },

  async 'say what changed since this morning, and no more'() {
    const { nextCursor } = await lastPage(use)
    const ticket = await makeTicket(api)
    const { changes } = await use('changes_since', { cursor: nextCursor })
    assert.deepEqual(
      changes.map(({ id }: Shown) => id),
      [ticket.customerId, ticket.id],
    )
  },

  async 'find the endpoint that fails and replay it'() {
    hooks.script('broken', () => Promise.resolve(500))
    await hooks.register({ url: service.url, token }, 'healthy', ['customer.created'])
    const broken = await hooks.register({ url: service.url, token }, 'broken', ['customer.created'])
    await makeCustomer(api)
    const failed = `/v1/webhooks/${broken.id}/deliveries?status=failed`
    await eventually('it has failed', async () => (await read(failed)).data.length === 1)
    const { problems } = await use('delivery_problems')
    assert.deepEqual(
      problems.map(({ endpoint }: Shown) => endpoint.id),
      [broken.id],
    )
    assert.equal(problems[0].failures[0].responseStatus, 500)
    hooks.script('broken', () => Promise.resolve(200))
    await use('replay_missed_events', { endpointId: broken.id })
    await eventually('nothing is missed', async () => (await use('delivery_problems')).problems.length === 0)
    assert.equal((await read(failed)).data.length, 0)
  },

  async 'do not overwrite what a person has changed meanwhile'() {
    const ticket = await makeTicket(api)
    await api.patch(`/v1/tickets/${ticket.id}`, { priority: 'urgent' })
    const stale = { ticketId: ticket.id, priority: 'low', expectedVersion: ticket.updatedAt }
    assert.match(await refusalOf(client, 'change_ticket', stale), /^version_mismatch/)
    assert.equal((await read(`/v1/tickets/${ticket.id}`)).priority, 'urgent')
  },

  async 'stay within a key that may only read tickets'() {
    const { json: key } = await api.post('/v1/api-keys', { name: 'reader', scopes: ['tickets:read'] })
    await using reader = await mcpClient(service.url, key.token)
    const { tools } = await reader.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['find', 'changes_since'],
    )
    const { found } = await call(reader, 'find', { kind: 'tickets', limit: 1 })
    await assert.rejects(reader.callTool({ name: 'change_ticket', arguments: { ticketId: found[0].id } }))
    assert.deepEqual(await read(`/v1/tickets/${found[0].id}`), found[0])
  },
}

try {
  for (const [name, run] of Object.entries(tasks)) {
    await run()
    console.log(`done: ${name}`)
  }
  await conformsToMcp(service.url, token, directory)
} finally {
  await service.end('SIGTERM')
  await rm(directory, { recursive: true, force: true })
}

async function lastPage(use: Use): Promise<Shown> {
  for (let page = await use('changes_since', { limit: 100 }); ; ) {
    if (!page.hasMore) return page
    page = await use('changes_since', { cursor: page.nextCursor, limit: 100 })
  }
}

function apiOf(token: string): Api {
  const send = (method: string) => async (path: string, body?: unknown) => {
    const response = await fetch(new URL(path, service.url), {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const { status, headers } = response
    return { status, headers, text, json: text === '' ? undefined : JSON.parse(text) }
  }
  const [get, post, patch, remove] = ['GET', 'POST', 'PATCH', 'DELETE'].map(send) as [Send, Send, Send, Send]
  return {
    organizationId: '',
    token,
    get: (path) => get(path, undefined),
    post,
    patch,
    delete: (path) => remove(path, undefined),
  }
}

type Send = Api['post']
