/** `q` finds objects by the words of others too: a ticket by its customer, a conversation by its messages. */
import { expect, test } from 'vitest'
import {
  makeBooking,
  makeConversation,
  makeCustomer,
  makeMessage,
  makeNote,
  makeTicket,
} from '../../../testbed/desk.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const shared = sharedService()

async function found(api: Api, path: string, q: string, more = ''): Promise<string[]> {
  const { status, text, json } = await api.get(`/v1/${path}?limit=100&q=${encodeURIComponent(q)}${more}`)
  if (status !== 200) throw new Error(text)
  const ids = json.data.map(({ id, conversation }: { id?: string; conversation?: { id: string } }) =>
    conversation === undefined ? id : conversation.id,
  )
  expect(json.pagination.total).toBe(ids.length)
  return ids
}

async function makeDesk(api: Api) {
  const muller = await makeCustomer(api, { name: 'Jürgen Müller', phone: '+4930555123456' })
  const other = await makeCustomer(api, { name: 'Grace Hopper' })
  const ofMuller = { customerId: muller.id }
  const ticket = await makeTicket(api, { ...ofMuller, subject: 'Printer on fire', tags: ['hot'] })
  const booking = await makeBooking(api, { ...ofMuller, title: 'Repair' })
  const conversation = await makeConversation(api, { ...ofMuller, subject: 'Hello' })
  const silent = await makeConversation(api, { ...ofMuller, channel: 'chat' })
  const others = await makeConversation(api, { customerId: other.id, subject: 'Müller' })
  await makeTicket(api, { customerId: other.id, subject: 'Printer' })
  for (const body of ['Where is my parcel?', 'The parcel, number 4711, is late', '東京都のパーセル'])
    await makeMessage(api, { conversationId: conversation.id, body })
  await makeMessage(api, { conversationId: others.id, body: 'Invoice, please' })
  return { muller, other, ticket, booking, conversation, silent, others }
}

test('a ticket and a booking are found by their customer, with every other filter and by pages', async () => {
  const api = await shared().newOrganization()
  const { muller, ticket, booking } = await makeDesk(api)
  expect(await found(api, 'tickets', 'muller')).toEqual([ticket.id])
  expect(await found(api, 'tickets', 'jurgen mull')).toEqual([ticket.id])
  expect(await found(api, 'tickets', '030 555 123456')).toEqual([ticket.id])
  expect(await found(api, 'bookings', 'Müller')).toEqual([booking.id])
  expect(await found(api, 'tickets', 'muller', '&tag=hot')).toEqual([ticket.id])
  expect(await found(api, 'tickets', 'muller', '&tag=cold')).toEqual([])
  expect(await found(api, 'tickets', 'muller', '&status=closed')).toEqual([])
  expect(await found(api, 'tickets', 'muller', '&createdBefore=2020-01-01T00:00:00Z')).toEqual([])
  expect(await found(api, 'tickets', 'printer')).toHaveLength(2)
  // Once, though it is found twice.
  const both = await makeTicket(api, { customerId: muller.id, subject: 'Müller' })
  expect(await found(api, 'tickets', 'muller')).toEqual([both.id, ticket.id])
  const page = await api.get(`/v1/tickets?q=muller&limit=1&after=${both.id}`)
  expect(page.json.data.map((row: { id: string }) => row.id)).toEqual([ticket.id])
  await api.patch(`/v1/customers/${muller.id}`, { name: 'Jim Miller' })
  expect(await found(api, 'tickets', 'muller')).toEqual([both.id])
  expect(await found(api, 'tickets', 'miller')).toEqual([both.id, ticket.id])
})

test.each(['conversations', 'inbox'])(
  'in %s a conversation is found by its subject, its customer and each of its messages',
  async (path) => {
    const api = await shared().newOrganization()
    const { conversation, silent, others, muller } = await makeDesk(api)
    const both = (ids: readonly string[]) => new Set(ids)
    expect(await found(api, path, 'hello')).toEqual([conversation.id])
    expect(await found(api, path, 'parcel')).toEqual([conversation.id])
    expect(await found(api, path, 'parcel 4711')).toEqual([conversation.id])
    expect(await found(api, path, '東京都')).toEqual([conversation.id])
    expect(await found(api, path, 'invoice')).toEqual([others.id])
    expect(both(await found(api, path, 'muller'))).toEqual(both([conversation.id, silent.id, others.id]))
    expect(await found(api, path, 'muller', '&channel=chat')).toEqual([silent.id])
    expect(await found(api, path, 'parcel', '&channel=chat')).toEqual([])
    // Of different messages.
    expect(await found(api, path, 'where 4711')).toEqual([])
    // What is removed finds nothing, and what is unlinked neither.
    await api.delete(`/v1/customers/${muller.id}`)
    expect(await found(api, path, 'muller')).toEqual([others.id])
  },
)

test('a note finds no conversation, as it is internal', async () => {
  const api = await shared().newOrganization()
  const { conversation } = await makeDesk(api)
  await makeNote(api, { conversationId: conversation.id, body: 'Quarrelsome' })
  expect(await found(api, 'conversations', 'quarrelsome')).toEqual([])
})

test('words of objects that a key may not read find nothing', async () => {
  const { newOrganization, newKey } = shared()
  const api = await newOrganization()
  const { conversation, others, ticket } = await makeDesk(api)
  const { organizationId } = api
  const blind = await newKey(organizationId, ['conversations:read', 'tickets:read', 'customers:write'])
  const half = await newKey(organizationId, ['conversations:read', 'messages:read'])
  const tickets = await newKey(organizationId, ['tickets:read', 'customers:read'])
  for (const path of ['conversations', 'inbox']) {
    expect(await found(blind, path, 'parcel')).toEqual([])
    expect(await found(blind, path, 'muller')).toEqual([others.id])
    expect(await found(half, path, 'parcel')).toEqual([conversation.id])
    expect(await found(half, path, 'muller')).toEqual([others.id])
  }
  expect(await found(blind, 'tickets', 'muller')).toEqual([])
  expect(await found(tickets, 'tickets', 'muller')).toEqual([ticket.id])
})
