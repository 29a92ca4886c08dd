/** MCP Events by poll and push. */
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createEventTypes } from '../../service/src/delivery/endpoint/event-types.ts'
import { kinds } from '../../service/src/desk/index.ts'
import { testClock } from '../../testbed/clock.ts'
import { makeCustomer, makeTicket } from '../../testbed/desk.ts'
import { day } from '../../testbed/hooks.ts'
import { eventStream, mcpClient } from '../../testbed/mcp-client.ts'
import { type Api, testService } from '../../testbed/service.ts'
import { sharedService } from '../../testbed/shared-service.ts'

const service = sharedService({ mcp: true })

interface Polled {
  readonly events: { eventId: string; name: string; data: { id?: string } }[]
  readonly cursor: string
  readonly truncated: boolean
  readonly hasMore: boolean
}

async function polling(token: string) {
  const client = await mcpClient(service().url, token)
  const ask = (method: string, params: Record<string, unknown>) =>
    client.request({ method, params }, z.looseObject({}))
  const poll = (params: Record<string, unknown>) =>
    ask('events/poll', params) as Promise<unknown> as Promise<Polled>
  return { client, ask, poll, [Symbol.asyncDispose]: () => client.close() }
}

const stream = (token: string, params: Record<string, unknown>, signal: AbortSignal) =>
  eventStream(service().url, token, params, signal)

const change = (api: Api, id: string, subject: string) => api.patch(`/v1/tickets/${id}`, { subject })

describe('events/list', () => {
  test('shows every type that the key may read, with schemas, as capabilities say', async () => {
    const api = await service().newOrganization()
    await using all = await polling(api.token)
    expect(all.client.getServerCapabilities()).toMatchObject({
      extensions: { 'io.modelcontextprotocol/events': {} },
    })
    const { events } = (await all.ask('events/list', {})) as unknown as { events: { name: string }[] }
    expect(events.map(({ name }) => name)).toEqual(createEventTypes(kinds).names)
    for (const event of events)
      expect(event).toMatchObject({ inputSchema: { type: 'object' }, payloadSchema: { type: 'object' } })
    const key = await service().newKey(api.organizationId, ['tickets:read'])
    await using some = await polling(key.token)
    const few = (await some.ask('events/list', {})) as unknown as { events: { name: string }[] }
    expect(few.events.every(({ name }) => name.startsWith('ticket.'))).toBe(true)
    await expect(some.poll({ name: 'customer.created' })).rejects.toMatchObject({ code: -32024 })
    await expect(some.poll({ name: 'ticket.eaten' })).rejects.toMatchObject({ code: -32023 })
    await expect(some.poll({ name: 'ticket.created', arguments: { x: 1 } })).rejects.toMatchObject({
      code: -32602,
    })
    await expect(some.poll({ name: 'ticket.created', cursor: 'x' })).rejects.toMatchObject({ code: -32602 })
  })
})

describe('events/poll', () => {
  test('begins now, and then shows each event once, in order, with more as soon as there are more', async () => {
    const api = await service().newOrganization()
    const ticket = await makeTicket(api)
    await using it = await polling(api.token)
    let { cursor, ...first } = await it.poll({ name: 'ticket.updated' })
    expect(first).toMatchObject({ events: [], truncated: false, hasMore: false, nextPollMs: 5_000 })
    const committed: string[] = []
    for (let n = 0; n < 5; n++) {
      await change(api, ticket.id, `subject ${n}`)
      committed.push('ticket.updated')
    }
    const seen: string[] = []
    for (;;) {
      const page = await it.poll({ name: 'ticket.updated', cursor, maxEvents: 2 })
      expect(page.events.length).toBeLessThanOrEqual(2)
      for (const event of page.events) {
        expect(event).toMatchObject({ name: 'ticket.updated', data: { id: ticket.id, subject: 'subject 4' } })
        seen.push(event.eventId)
      }
      cursor = page.cursor
      if (!page.hasMore) break
    }
    const { data } = (await api.get('/v1/events?types=ticket.updated')).json
    expect(seen).toEqual(data.map(({ id }: { id: string }) => id))
    expect(seen).toHaveLength(committed.length)
  })

  test('with a subject shows events about that object alone, and with maxAgeMs no old ones', async () => {
    const api = await service().newOrganization()
    const [one, other] = [await makeTicket(api), await makeTicket(api)]
    await using it = await polling(api.token)
    const { cursor } = await it.poll({ name: 'ticket.updated' })
    for (const { id } of [one, other]) await change(api, id, 'new')
    const about = await it.poll({ name: 'ticket.updated', cursor, arguments: { subject: one.id } })
    expect(about.events.map(({ data }) => data.id)).toEqual([one.id])
    await delay(5)
    const recent = await it.poll({ name: 'ticket.updated', cursor, maxAgeMs: 1 })
    expect(recent).toMatchObject({ events: [], truncated: true })
  })

  test('after a restore goes on from now, and says that events may be missing', async () => {
    const api = await service().newOrganization()
    await using it = await polling(api.token)
    const { cursor } = await it.poll({ name: 'customer.created' })
    await makeCustomer(api)
    await service().database.pool.query(
      'update organization_clocks set epoch = epoch + 1 where organization_id = $1',
      [api.organizationId],
    )
    const page = await it.poll({ name: 'customer.created', cursor })
    expect(page).toMatchObject({ events: [], truncated: true })
    await makeCustomer(api)
    expect((await it.poll({ name: 'customer.created', cursor: page.cursor })).events).toHaveLength(1)
  })
})

describe('events/stream', () => {
  test('confirms, sends events as they are committed, and goes on from its cursor after a disconnect', async () => {
    const api = await service().newOrganization()
    const ticket = await makeTicket(api)
    const leaving = new AbortController()
    const messages = stream(api.token, { name: 'ticket.updated' }, leaving.signal)
    const next = async () => (await messages.next()).value
    const active = await next()
    expect(active).toMatchObject({
      method: 'notifications/events/active',
      params: { truncated: false, _meta: { 'io.modelcontextprotocol/subscriptionId': 7 } },
    })
    expect((await next()).method).toBe('notifications/events/heartbeat')
    await change(api, ticket.id, 'one')
    const event = await next()
    expect(event).toMatchObject({
      method: 'notifications/events/event',
      params: { name: 'ticket.updated', data: { id: ticket.id, subject: 'one' } },
    })
    leaving.abort()
    await change(api, ticket.id, 'two')
    await change(api, ticket.id, 'three')
    const again = new AbortController()
    const rest = stream(api.token, { name: 'ticket.updated', cursor: event.params.cursor }, again.signal)
    const seen: string[] = []
    for await (const { method, params } of rest) {
      if (method === 'notifications/events/event') seen.push(params.eventId)
      if (seen.length === 2) break
    }
    again.abort()
    const { data } = (await api.get('/v1/events?types=ticket.updated')).json
    expect([event.params.eventId, ...seen]).toEqual(data.map(({ id }: { id: string }) => id))
  })

  test('of an idle organization, with a cursor after which all was dropped, waits for the next event', async () => {
    const clock = testClock()
    await using idle = await testService({ clock, mcp: true })
    const { api } = idle
    const ticket = await makeTicket(api)
    const { data, pagination } = (await api.get('/v1/events?limit=1')).json
    expect(data).toHaveLength(1)
    clock.advance(90 * day)
    await idle.app.maintenance.run()
    expect((await api.get(`/v1/events?cursor=${pagination.nextCursor}`)).status).toBe(410)
    const reads = () => idle.logged.filter(({ path }) => path === '/v1/events').length
    const leaving = new AbortController()
    const params = { name: 'ticket.updated', cursor: pagination.nextCursor }
    const messages = eventStream(idle.url, api.token, params, leaving.signal)
    const next = async () => (await messages.next()).value
    expect(await next()).toMatchObject({ params: { truncated: true } })
    expect((await next()).method).toBe('notifications/events/heartbeat')
    // Time enough for as many reads, if one followed the other.
    const others = async () => {
      for (let n = 0; n < 50; n++) await api.get('/v1/tickets?limit=1')
      return reads()
    }
    expect(await others()).toBe(await others())
    await change(api, ticket.id, 'new')
    expect((await next()).method).toBe('notifications/events/event')
    leaving.abort()
  })

  test('ends when the key is revoked', async () => {
    const api = await service().newOrganization()
    const key = await service().newKey(api.organizationId, ['tickets:read'])
    const messages = stream(key.token, { name: 'ticket.created' }, new AbortController().signal)
    expect((await messages.next()).value.method).toBe('notifications/events/active')
    const { id } = (await key.get('/v1/api-keys/self')).json
    await api.delete(`/v1/api-keys/${id}`)
    await makeTicket(api)
    const methods: string[] = []
    for await (const { method, params, result } of messages) {
      methods.push(method ?? 'result')
      if (method === 'notifications/events/terminated') expect(params.error.code).toBe(-32024)
      if (result) expect(result._meta['io.modelcontextprotocol/subscriptionId']).toBe(7)
    }
    expect(methods.slice(-2)).toEqual(['notifications/events/terminated', 'result'])
  })

  test('refuses a type that there is not, without a stream', async () => {
    const api = await service().newOrganization()
    const { value } = await stream(api.token, { name: 'x' }, new AbortController().signal).next()
    expect(value).toMatchObject({ id: 7, error: { code: -32023 } })
  })
})
