/** Subscriptions as the AI SDK makes and receives them, as published: in the guide's own program, and after failures. */
import { expect, test, vi } from 'vitest'
import { makeTicket } from '../../testbed/desk.ts'
import { blockWith, startSource } from '../../testbed/document-programs.ts'
import { eventually } from '../../testbed/eventually.ts'
import { hour, minute } from '../../testbed/hooks.ts'
import { freePort } from '../../testbed/loopback.ts'
import { inFrontOf } from '../../testbed/tls-proxy.ts'
import { subscribing } from './subscriber.fixture.ts'

test('the program of the guide has the tools, and prints what happens', async () => {
  await using it = await subscribing({ startAt: Date.now() })
  const port = await freePort()
  using proxy = await inFrontOf(port)
  const program = startSource(blockWith('docs/guides/agents.md', 'js', '@ai-sdk/mcp'), {
    DESKWIRE_URL: it.service.url,
    DESKWIRE_API_KEY: it.api.token,
    PUBLIC_URL: proxy.url,
    PORT: String(port),
  })
  try {
    await eventually('it has subscribed', async () => program.output.all.includes('subscribed until 2'))
    expect(program.output.all).toContain('read_conversation')
    await makeTicket(it.api, { subject: 'The printer burns' })
    await it.work()
    await eventually('it has the event', async () =>
      program.output.all.includes('ticket.created The printer burns'),
    )
    const [{ id, url }] = await it.endpoints()
    expect(url).toContain(`${proxy.url}/events?mcp_event_subscription=`)
    expect((await it.api.get(`/v1/webhooks/${id}/deliveries`)).json.data).toMatchObject([
      { status: 'succeeded' },
    ])
  } finally {
    await program.end('SIGKILL')
  }
})

test('its handler accepts events, and after a refresh those that had failed', async () => {
  await using it = await subscribing({ startAt: Date.now() })
  // It is untyped here, as a program of the guide is.
  const name = '@ai-sdk/mcp'
  const { createMCPClient, experimental_createMCPEventWebhook } = await import(name)
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const kept = new Map<string, any>()
  const store = {
    get: async (key: string) => kept.get(key),
    getById: async (id: string) => [...kept.values()].find((one) => one.id === id),
    set: async (one: { key: string }) => void kept.set(one.key, one),
    update: async (key: string, changes: object) => void kept.set(key, { ...kept.get(key), ...changes }),
    delete: async (key: string) => void kept.delete(key),
  }
  const told: string[] = []
  const receive = experimental_createMCPEventWebhook({
    store,
    onEvent: async ({ event }: { event: { name: string } }) => void told.push(event.name),
  })
  const statuses: number[] = []
  let broken = false
  it.receiver.will(async (socket, { path, headers, body }) => {
    // The handler refuses what seems old or to come: it lives by the test's clock.
    vi.setSystemTime(Number(headers['webhook-timestamp']) * 1_000)
    const answer: Response = broken
      ? new Response(null, { status: 500 })
      : await receive(
          new Request(`https://127.0.0.1${path}`, { method: 'POST', headers, body: new Uint8Array(body) }),
        )
    vi.useRealTimers()
    statuses.push(answer.status)
    const text = await answer.text()
    socket.write(`HTTP/1.1 ${answer.status} Whatever\r\ncontent-length: ${text.length}\r\n\r\n${text}`)
  })
  const scopes = ['webhooks:read', 'webhooks:write', 'tickets:read']
  const key = await it.service.newKey(it.api.organizationId, scopes)
  const client = await createMCPClient({
    transport: {
      type: 'http',
      url: `${it.service.url}/mcp`,
      headers: { authorization: `Bearer ${key.token}` },
    },
    experimental_events: { store },
  })
  const made = await client.experimental_events.subscribe({
    name: 'ticket.created',
    delivery: { mode: 'webhook', url: it.url },
  })
  await makeTicket(it.api)
  await it.work()
  expect(told).toEqual(['ticket.created'])
  expect(await client.experimental_events.refresh({ id: made.id })).toMatchObject({ id: made.id })

  broken = true
  await makeTicket(it.api)
  for (const wait of [0, minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour]) {
    it.clock.advance(wait)
    await it.work()
  }
  broken = false
  await client.experimental_events.refresh({ id: made.id })
  await it.work()
  expect(told).toEqual(['ticket.created', 'ticket.created'])
  // The challenge, the first event, six attempts in vain, then one more.
  expect(statuses).toEqual([200, 204, ...Array(6).fill(500), 204])
  await client.close()
})
