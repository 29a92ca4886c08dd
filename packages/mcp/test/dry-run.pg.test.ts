/** Every tool that writes, run dry and then for real with the same arguments. */
import { expect, test } from 'vitest'
import { makeBooking, makeConversation, makeTicket } from '../../testbed/desk.ts'
import { call, mcpClient } from '../../testbed/mcp-client.ts'
import { sharedService } from '../../testbed/shared-service.ts'

const service = sharedService({ mcp: true })

test('a dry run shows what the write then makes, but for the id and times of a new object, and changes nothing', async () => {
  const api = await service().newOrganization()
  await using client = await mcpClient(service().url, api.token)
  const { id: conversationId, customerId } = await makeConversation(api, { handledBy: 'ai' })
  const ticket = await makeTicket(api, { customerId })
  const booking = await makeBooking(api, { customerId, status: 'confirmed' })
  const [startAt, endAt] = ['2031-05-01T09:00:00.000Z', '2031-05-01T10:00:00.000Z']
  const writes: Record<string, Record<string, unknown>> = {
    open_ticket: { customerId, subject: 'x' },
    change_ticket: { ticketId: ticket.id, status: 'resolved', expectedVersion: ticket.updatedAt },
    reply: { conversationId, body: 'Hello', authorName: 'Bot' },
    add_note: { conversationId, body: 'Hello', authorName: 'Bot' },
    hand_to_human: { conversationId },
    resolve: { conversationId },
    summarize: { conversationId, summary: 'All is well.' },
    book: { customerId, title: 'x', startAt, endAt, timezone: 'UTC' },
    move_booking: { bookingId: booking.id, startAt, endAt },
    cancel_booking: { bookingId: booking.id, by: 'customer', reason: 'Ill' },
  }
  const { tools } = await client.listTools()
  const writers = tools.filter(
    ({ inputSchema }) => inputSchema.properties && 'dryRun' in inputSchema.properties,
  )
  expect(writers.map(({ name }) => name).sort()).toEqual(
    [...Object.keys(writes), 'replay_missed_events'].sort(),
  )
  const stream = async () => (await api.get('/v1/changes?updatedAfter=1970-01-01T00:00:00Z')).text
  for (const [name, args] of Object.entries(writes)) {
    const before = await stream()
    const dry = await call(client, name, { ...args, dryRun: true })
    expect(await stream(), name).toBe(before)
    const real = await call(client, name, args)
    expect(await stream(), name).not.toBe(before)
    expect([name, alike(dry, args)]).toEqual([name, { ...alike(real, args), dryRun: true }])
  }
})

function alike(result: Record<string, unknown>, args: Record<string, unknown>) {
  return JSON.parse(
    JSON.stringify(result, (name, value) =>
      (name.endsWith('At') && value !== null && args[name] === undefined) || name === 'id' ? 'given' : value,
    ),
  )
}
