import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../../testbed/dns-server.ts'
import type { Receiver } from '../../../testbed/receiver.ts'
import { createBench, post } from '../../../testbed/sending.ts'
import { notPublic } from '../../src/delivery/send/resolver.ts'

// 127.0.0.2 and 127.0.0.3 play public addresses, 127.0.0.1 is what must not be reached; all on one port.
const trusted = '127.0.0.2/31'
const bench = createBench()
let dns: DnsServer
let publicReceiver: Receiver
let otherReceiver: Receiver
let loopback: Receiver

beforeAll(async () => {
  publicReceiver = await bench.receiver({ host: '127.0.0.2' })
  otherReceiver = await bench.receiver({ host: '127.0.0.3', port: publicReceiver.port })
  loopback = await bench.receiver({ host: '127.0.0.1', port: publicReceiver.port })
})
beforeEach(async () => {
  dns = await startDnsServer()
})
afterEach(() => dns.close())
afterAll(() => bench.close())

const senderOf = () => bench.sender({ trusted, servers: [dns.address] })
const at = { host: 'hook.test' }
const refused = {
  kind: 'failed',
  code: 'address_not_public',
  message: notPublic,
  block: 'loopback, 127.0.0.0/8',
}

test('a name that alternates between a public address and loopback never leads to loopback', async () => {
  dns.set('hook.test', (_query, earlier) => ({
    addresses: [earlier % 2 === 0 ? '127.0.0.2' : '127.0.0.1'],
    ttl: 0,
  }))
  const sender = senderOf()
  for (let round = 0; round < 10; round++) {
    expect(await post(sender, publicReceiver, at)).toMatchObject({ status: 200 })
    expect(await post(sender, publicReceiver, at)).toMatchObject(refused)
  }
  expect(loopback.accepted).toBe(0)
})

test('nor when every attempt has to connect anew, many at once', async () => {
  let asked = 0
  dns.set('hook.test', ({ family }) => {
    if (family === 6) return { addresses: [] }
    return { addresses: [asked++ % 2 === 0 ? '127.0.0.2' : '127.0.0.1'], ttl: 0 }
  })
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => post(senderOf(), publicReceiver, at)))
  const ends = new Set(outcomes.map((outcome) => (outcome.kind === 'failed' ? outcome.code : outcome.status)))
  expect(ends).toEqual(new Set([200, 'address_not_public']))
  expect(loopback.accepted).toBe(0)
})

test('a name that leads to both is not connected to at all', async () => {
  dns.set('hook.test', { addresses: ['127.0.0.2', '127.0.0.1'] })
  const before = publicReceiver.requests.length
  expect(await post(senderOf(), publicReceiver, at)).toMatchObject(refused)
  expect(publicReceiver.requests.length).toBe(before)
  expect(loopback.accepted).toBe(0)
})

test('an attempt asks once: also when its kept connection was closed, and it has to connect anew', async () => {
  dns.set('hook.test', (_query, earlier) => ({
    addresses: [earlier % 2 === 0 ? '127.0.0.2' : '127.0.0.1'],
    ttl: 0,
  }))
  const sender = senderOf()
  expect(await post(sender, publicReceiver, at)).toMatchObject({ status: 200 })
  expect(await post(sender, publicReceiver, at)).toMatchObject(refused)
  publicReceiver.hangUpAll()
  const asked = dns.queries.length
  expect(await post(sender, publicReceiver, at)).toMatchObject({ status: 200 })
  // One for each family.
  expect(dns.queries.length).toBe(asked + 2)
  expect(loopback.accepted).toBe(0)
})

describe('a warm connection', () => {
  test('is not used once the name leads to loopback', async () => {
    const sender = senderOf()
    dns.set('hook.test', { addresses: ['127.0.0.2'] })
    await post(sender, publicReceiver, at)
    const before = publicReceiver.requests.length
    dns.set('hook.test', { addresses: ['127.0.0.1'] })
    expect(await post(sender, publicReceiver, at)).toMatchObject(refused)
    expect(publicReceiver.requests.length).toBe(before)
  })

  test('is not used while the name leads elsewhere, and is when it leads back', async () => {
    const sender = senderOf()
    dns.set('hook.test', { addresses: ['127.0.0.2'] })
    await post(sender, publicReceiver, at)
    const { connection } = publicReceiver.requests.at(-1) ?? {}
    dns.set('hook.test', { addresses: ['127.0.0.3'] })
    const before = otherReceiver.requests.length
    expect(await post(sender, publicReceiver, at)).toMatchObject({ status: 200 })
    expect(otherReceiver.requests.length).toBe(before + 1)
    dns.set('hook.test', { addresses: ['127.0.0.2'] })
    await post(sender, publicReceiver, at)
    expect(publicReceiver.requests.at(-1)?.connection).toBe(connection)
  })

  test('belongs to its name: another name of the same address gets its own', async () => {
    const sender = senderOf()
    for (const name of ['hook.test', 'other.test']) {
      dns.set(name, { addresses: ['127.0.0.2'] })
      await post(sender, publicReceiver, { host: name })
    }
    const [first, second] = publicReceiver.requests.slice(-2)
    expect(first?.connection).not.toBe(second?.connection)
  })
})

describe('several addresses', () => {
  test('one that refuses does not matter while another answers', async () => {
    const alone = await bench.receiver({ host: '127.0.0.3' })
    dns.set('hook.test', { addresses: ['127.0.0.2', '127.0.0.3'] })
    expect(await post(senderOf(), alone, at)).toMatchObject({ status: 200 })
    dns.set('hook.test', { addresses: ['127.0.0.3', '127.0.0.2'] })
    expect(await post(senderOf(), alone, at)).toMatchObject({ status: 200 })
  })

  test('all that refuse are a failed connection', async () => {
    const gone = await bench.receiver({ host: '127.0.0.2' })
    await gone.close()
    dns.set('hook.test', { addresses: ['127.0.0.2', '127.0.0.3'] })
    expect(await post(senderOf(), gone, at)).toMatchObject({
      code: 'connection_failed',
      message: expect.stringMatching(/^127\.0\.0\.[23]:\d+ refused the connection$/),
    })
  })

  test('the certificate has to be for the name at each of them', async () => {
    dns.set('wrong.test', { addresses: ['127.0.0.2', '127.0.0.3'] })
    expect(await post(senderOf(), publicReceiver, { host: 'wrong.test' })).toMatchObject({
      code: 'tls_error',
    })
  })
})
