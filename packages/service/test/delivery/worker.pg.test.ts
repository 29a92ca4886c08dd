/** The worker as it runs: over TLS, to a receiver that judges it by what comes over the wire. */
import { verifySignature } from '@deskwire/sdk'
import { Client } from 'pg'
import Stripe from 'stripe'
import { describe, expect, test } from 'vitest'
import { createAuthority } from '../../../testbed/certificates.ts'
import { type TestClock, testClock } from '../../../testbed/clock.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { startDnsServer } from '../../../testbed/dns-server.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { attemptsOf, deliveriesOf, makeWebhook, minute, readWebhook, second } from '../../../testbed/hooks.ts'
import { waitingBackends } from '../../../testbed/locks.ts'
import {
  answer,
  hangUp,
  neverAnswer,
  type ReceiverOptions,
  startReceiver,
} from '../../../testbed/receiver.ts'
import { runDue } from '../../../testbed/run-due.ts'
import { testService } from '../../../testbed/service.ts'
import { createPool, endPool } from '../../src/db/pool.ts'
import { kinds } from '../../src/desk/index.ts'
import { noNetworks, parseNetworks } from '../../src/kernel/networks.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { version } from '../../src/kernel/version.ts'
import { createWorker } from '../../src/roles/worker.ts'

const authority = createAuthority()
const stranger = createAuthority('Somebody else')
const { webhooks } = new Stripe('sk_test_unused')

/** A service, its worker, a name server, and a receiver called hook.test on 127.0.0.2, which plays a public address. */
async function installation(
  options: { clock?: TestClock; receiver?: Partial<ReceiverOptions>; answerTimeout?: number } = {},
) {
  const { clock = systemClock, answerTimeout = 20_000 } = options
  const dns = await startDnsServer()
  dns.set('hook.test', { addresses: ['127.0.0.2'] })
  const certified = authority.issue(['hook.test'])
  const receiver = await startReceiver({ ...certified, host: '127.0.0.2', ...options.receiver })
  const settings = {
    ...deliverySettings,
    schedule: { ...deliverySettings.schedule, answerTimeout },
    trustedTargets: parseNetworks('127.0.0.2/32') ?? noNetworks,
    targetCa: authority.ca,
    dnsServers: [dns.address],
  }
  const service = await testService({ clock, settings })
  const { pool } = service.database
  const worker = createWorker({ pool, clock, log: service.app.server.log, kinds, settings })
  const { api } = service
  const webhook = await makeWebhook(api, { url: `https://hook.test:${receiver.port}/hook?a=b%20c` })
  return {
    service,
    api,
    dns,
    receiver,
    webhook,
    engine: worker.engine,
    read: () => readWebhook(api, webhook.id),
    log: () => deliveriesOf(api, webhook.id),
    async [Symbol.asyncDispose]() {
      await worker.close()
      await receiver.close()
      await dns.close()
      await service[Symbol.asyncDispose]()
    },
  }
}

test('a change arrives as the specification has it, down to the bytes', async () => {
  await using it = await installation()
  it.receiver.will(answer(202, `${'ä'.repeat(600)} and more`))
  const customer = await makeCustomer(it.api, { name: 'Zoë 🦁 </script> \u2028' })
  await runDue(it.engine)
  const got = await it.api.get(`/v1/customers/${customer.id}`)
  const [request] = it.receiver.requests
  expect(it.receiver.requests).toHaveLength(1)
  const { headers, body } = request!
  expect([request?.method, request?.path]).toEqual(['POST', '/hook?a=b%20c'])
  expect(headers).toEqual({
    host: `hook.test:${it.receiver.port}`,
    connection: expect.any(String),
    'content-type': 'application/json',
    'content-length': String(body.length),
    'user-agent': `Deskwire/${version}`,
    'x-service-event-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'x-service-event-type': 'customer.created',
    'x-service-signature': expect.stringMatching(/^t=\d{10},v1=[0-9a-f]{64}$/),
  })
  expect(body.toString()).toBe(
    `{"id":"${headers['x-service-event-id']}","type":"customer.created","apiVersion":"v1","createdAt":"${customer.updatedAt}","organizationId":"${it.api.organizationId}","data":${got.text}}`,
  )
  const signature = headers['x-service-signature'] ?? ''
  await verifySignature(body, headers, it.webhook.secret)
  expect(webhooks.constructEvent(body, signature, it.webhook.secret)).toEqual(JSON.parse(body.toString()))
  const [row] = await it.log()
  expect(row).toMatchObject({ status: 'succeeded', responseStatus: 202, attemptCount: 1 })
  // The first KiB, as text: a character that it cuts in two is left out.
  expect(await attemptsOf(it.api, row)).toMatchObject([{ number: 1, responseBody: 'ä'.repeat(512) }])
})

test('one connection serves many deliveries, round after round', async () => {
  await using it = await installation()
  for (let n = 0; n < 5; n++) {
    await makeCustomer(it.api)
    await runDue(it.engine)
  }
  expect(it.receiver.requests).toHaveLength(5)
  expect(it.receiver.accepted).toBe(1)
})

describe('what goes wrong on the wire', () => {
  const elsewhere = { location: 'https://hook.test/elsewhere' }
  test.each([
    ['a redirect', answer(307, '', elsewhere), 'redirect', 307, {}],
    ['a permanent redirect', answer(301, '', elsewhere), 'redirect', 301, {}],
    ['an error', answer(503), 'non_2xx', 503, {}],
    // Deadlines run in real time; far from what a handshake takes on a loaded machine.
    ['silence', neverAnswer, 'timeout', null, { answerTimeout: 2_000 }],
    ['a connection that ends', hangUp, 'connection_failed', null, {}],
  ] as const)(
    '%s: one failed attempt, and the next a minute later or up to 5 % more',
    async (_title, behaviour, code, status, settings) => {
      const clock = testClock()
      await using it = await installation({ clock, ...settings })
      it.receiver.will(behaviour, answer(200))
      await makeCustomer(it.api)
      await runDue(it.engine)
      expect(it.receiver.requests.map(({ path }) => path)).toEqual(['/hook?a=b%20c'])
      const [row] = await it.log()
      expect(row).toMatchObject({
        status: 'pending',
        responseStatus: status,
        lastError: { code },
      })
      const delay = Date.parse(row.nextAttemptAt as string) - clock.now()
      expect(delay).toBeGreaterThanOrEqual(minute)
      expect(delay).toBeLessThanOrEqual(minute * 1.05)
      clock.advance(delay)
      await runDue(it.engine)
      const ids = it.receiver.requests.map(({ headers }) => headers['x-service-event-id'])
      expect(ids).toEqual([row.eventId, row.eventId])
      expect(await it.log()).toMatchObject([{ status: 'succeeded', attemptCount: 2 }])
      expect(await it.read()).toMatchObject({ failureCount: 0, failingSince: null })
    },
  )

  test.each([
    ['another name', authority.issue(['other.test']), 'tls_error'],
    ['an authority that nobody trusts', stranger.issue(['hook.test']), 'tls_error'],
  ] as const)('a certificate of %s: nothing is sent', async (_title, certified, code) => {
    await using it = await installation({ receiver: certified })
    await makeCustomer(it.api)
    await runDue(it.engine)
    expect(it.receiver.requests).toEqual([])
    expect(await it.log()).toMatchObject([{ status: 'pending', lastError: { code }, responseStatus: null }])
  })

  test('nobody listening, and a name server that fails, are failed attempts', async () => {
    const clock = testClock()
    await using it = await installation({ clock })
    await it.receiver.close()
    await makeCustomer(it.api)
    await runDue(it.engine)
    expect(await it.log()).toMatchObject([{ status: 'pending', lastError: { code: 'connection_failed' } }])
    it.dns.set('hook.test', 'SERVFAIL')
    clock.advance(minute * 1.05)
    await runDue(it.engine)
    expect(await it.log()).toMatchObject([
      { status: 'pending', attemptCount: 2, lastError: { code: 'resolver_failed' } },
    ])
    expect(await it.read()).toMatchObject({ status: 'active', failureCount: 2 })
  })
})

describe('a name that was public when the endpoint was registered', () => {
  test.each([
    ['leads to loopback', { addresses: ['127.0.0.1'] }],
    ['leads to a private address', { addresses: ['10.0.0.7'] }],
    ['leads to both', { addresses: ['127.0.0.2', '127.0.0.1'] }],
    ['is gone', 'NXDOMAIN'],
  ] as const)('and %s when it delivers: disabled at once, nothing sent', async (_title, reply) => {
    const clock = testClock()
    await using it = await installation({ clock })
    await makeCustomer(it.api)
    await runDue(it.engine)
    expect(it.receiver.requests).toHaveLength(1)
    // Answers are remembered for half a minute at most.
    clock.advance(30 * second)
    it.dns.set('hook.test', reply)
    // What must not be reached: 127.0.0.1 on the receiver's port.
    await using loopback = await startReceiver({ ...authority.issue(['hook.test']), port: it.receiver.port })
    await makeCustomer(it.api)
    await runDue(it.engine)
    expect(it.receiver.requests).toHaveLength(1)
    expect(loopback.accepted).toBe(0)
    expect(await it.read()).toMatchObject({
      status: 'disabled',
      disabledReason: 'address_not_public',
      disabledAt: new Date(clock.now()).toISOString(),
    })
    expect((await it.log())[0]).toMatchObject({
      status: 'failed',
      attemptCount: 1,
      nextAttemptAt: null,
      lastError: { code: 'address_not_public' },
    })
  })
})

test('a stopped engine finishes what is under way, and starts nothing', async () => {
  await using it = await installation()
  const { promise: arrived, resolve } = Promise.withResolvers<() => void>()
  it.receiver.will((socket) => resolve(() => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')))
  await makeCustomer(it.api)
  it.engine.wake()
  const finish = await arrived
  const stopped = it.engine.stop()
  await makeCustomer(it.api)
  it.engine.wake()
  finish()
  await stopped
  expect((await it.log()).map(({ status }) => status)).toEqual(['pending', 'succeeded'])
  expect(it.receiver.requests).toHaveLength(1)
})

test('an organization whose statements hang holds no connection that another needs', async () => {
  await using service = await testService()
  const { database, app } = service
  const own = await service.newOrganization('Hanging')
  for (let n = 0; n < 12; n++) await makeWebhook(own, { url: `https://127.0.0.1:1/own/${n}` })
  const other = await makeWebhook(service.api, { url: 'https://127.0.0.1:1/other' })
  await makeCustomer(own)
  await makeCustomer(service.api)
  // All drains share these, light or not. Claims of an organization go together, so that one statement of it hangs.
  const pool = createPool(database.connection, { max: 2, onIdleError: () => {} })
  const settings = deliverySettings
  const worker = createWorker({ pool, clock: systemClock, log: app.server.log, kinds, settings })
  const holder = new Client(database.connection)
  await holder.connect()
  try {
    await holder.query('begin')
    await holder.query('select 1 from endpoint_queues where organization_id = $1 for update', [
      own.organizationId,
    ])
    worker.engine.start()
    await waitingBackends(database, 1)
    await eventually("another's was attempted", async () => {
      const [delivery] = await deliveriesOf(service.api, other.id)
      return (await attemptsOf(service.api, delivery as never)).length > 0
    })
    // Nobody has let go meanwhile.
    await holder.query('select 1')
  } finally {
    await holder.end()
    await worker.close()
    await endPool(pool)
  }
})
