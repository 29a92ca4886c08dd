/** What name servers can answer, well or badly, and what a delivery is told about it. */
import { pbkdf2 } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type TestClock, testClock } from '../../../testbed/clock.ts'
import {
  type DnsReply,
  type DnsScript,
  type DnsServer,
  type DnsServerOptions,
  startDnsServer,
} from '../../../testbed/dns-server.ts'
import { createResolver, notPublic, type Resolver } from '../../src/delivery/send/resolver.ts'
import { noNetworks } from '../../src/kernel/networks.ts'

const publicV4 = '192.0.66.1'
const options = { fresh: false, timeoutMs: 10_000 }
const noHosts = join(import.meta.dirname, 'no such file')

let dns: DnsServer
let clock: TestClock
const closing: (() => Promise<void> | void)[] = []

beforeEach(async () => {
  clock = testClock()
  dns = await server()
})
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function server(more: DnsServerOptions = {}): Promise<DnsServer> {
  const started = await startDnsServer(more)
  closing.push(() => started.close())
  return started
}

function resolverOf(servers: readonly string[] = [dns.address], hostsFile = noHosts): Resolver {
  const resolver = createResolver({ servers, trusted: noNetworks, clock, hostsFile })
  closing.push(() => resolver.close())
  return resolver
}

const addresses = (...list: string[]) => ({ outcome: 'addresses', addresses: list })

describe('aliases', () => {
  const chain = Array.from({ length: 8 }, (_, n) => ({ to: `alias-${n}.test`, ttl: 60 }))

  test('are followed to the addresses at their end', async () => {
    dns.set('hook.test', { addresses: [publicV4], aliases: chain })
    expect(await resolverOf().resolve('hook.test', options)).toEqual(addresses(publicV4))
  })

  test('that lead to what is not public are refused', async () => {
    dns.set('hook.test', { addresses: ['169.254.169.254'], aliases: chain })
    expect(await resolverOf().resolve('hook.test', options)).toEqual({
      outcome: 'not_public',
      detail: notPublic,
      block: 'link local, 169.254.0.0/16',
    })
  })

  test('that lead nowhere are a failure', async () => {
    dns.set('hook.test', { addresses: [], aliases: chain })
    expect(await resolverOf().resolve('hook.test', options)).toMatchObject({ outcome: 'failed' })
  })

  test('with a shorter life than the address: it is used for that', async () => {
    const [first, ...others] = chain
    dns.set('hook.test', {
      addresses: [publicV4],
      ttl: 30,
      aliases: [{ to: first?.to ?? '', ttl: 2 }, ...others],
    })
    const resolver = resolverOf()
    await resolver.resolve('hook.test', options)
    const asked = dns.queries.length
    clock.advance(1999)
    await resolver.resolve('hook.test', options)
    expect(dns.queries.length).toBe(asked)
    clock.advance(1)
    await resolver.resolve('hook.test', options)
    expect(dns.queries.length).toBe(2 * asked)
  })
})

describe('an answer that is too long for a datagram', () => {
  const many = Array.from({ length: 2000 }, (_, n) => `192.1.${n >> 8}.${n & 255}`)

  test('is asked for again over TCP; some of its addresses are handed on', async () => {
    dns.set('hook.test', { addresses: [...many, '2606:4700::1'] })
    expect(await resolverOf().resolve('hook.test', options)).toEqual(
      addresses(...many.slice(0, 8), '2606:4700::1'),
    )
    expect(dns.queries.some(({ over }) => over === 'tcp')).toBe(true)
  })

  test('is checked to its end', async () => {
    dns.set('hook.test', { addresses: [...many, '10.0.0.1'] })
    expect(await resolverOf().resolve('hook.test', options)).toMatchObject({ outcome: 'not_public' })
  })

  test('is a failure where there is no TCP: what is missing may be what matters', async () => {
    const udpOnly = await server({ tcp: false })
    udpOnly.set('hook.test', { addresses: many })
    expect(await resolverOf([udpOnly.address]).resolve('hook.test', options)).toMatchObject({
      outcome: 'failed',
    })
  })
})

describe('what is no answer is a failure, and disables nothing', () => {
  test.each<DnsReply & string>([
    'SERVFAIL',
    'REFUSED',
    'NOTIMP',
    'FORMERR',
    'garbage',
    'mistaken',
    'silence',
  ])('%s', async (reply) => {
    dns.set('hook.test', reply)
    expect(await resolverOf().resolve('hook.test', { ...options, timeoutMs: 400 })).toEqual({
      outcome: 'failed',
      detail: expect.stringContaining('hook.test'),
    })
  })
})

describe('a name that takes long', () => {
  /** Silent for as many tries as c-ares makes of one query, and then not. */
  const late: DnsScript = (_query, earlier) => (earlier < 3 ? 'silence' : { addresses: [publicV4] })

  /** Quick answers, after which c-ares has little patience left. */
  async function used(): Promise<Resolver> {
    const resolver = resolverOf()
    for (let n = 0; n < 5; n++) await resolver.resolve(`quick-${n}.test`, options)
    return resolver
  }

  test('is waited for as long as is allowed, however quick its server was before', async () => {
    dns.set('hook.test', late)
    const resolver = await used()
    expect(await resolver.resolve('hook.test', options)).toEqual(addresses(publicV4))
  })

  test('is waited for by the second who asks, when the first one has no time left', async () => {
    dns.set('hook.test', late)
    const resolver = await used()
    const first = resolver.resolve('hook.test', { ...options, timeoutMs: 1 })
    const second = resolver.resolve('hook.test', options)
    expect(await first).toMatchObject({ outcome: 'failed' })
    expect(await second).toEqual(addresses(publicV4))
  })
})

test('a name that does not exist is a definite answer', async () => {
  dns.set('hook.test', 'NXDOMAIN')
  expect(await resolverOf().resolve('hook.test', options)).toEqual({
    outcome: 'no_such_name',
    detail: 'hook.test does not exist',
  })
})

test('a name without an address may get one: that is a failure, and disables nothing', async () => {
  dns.set('hook.test', { addresses: [] })
  expect(await resolverOf().resolve('hook.test', options)).toEqual({
    outcome: 'failed',
    detail: 'The name server asked for hook.test has no address for it',
  })
})

describe('of two name servers', () => {
  test.each<DnsReply & string>(['SERVFAIL', 'REFUSED', 'NOTIMP', 'silence'])(
    'one that has nothing but %s does not matter while the other answers',
    async (reply) => {
      dns.set('hook.test', reply)
      const other = await server()
      other.set('hook.test', { addresses: [publicV4] })
      const found = await resolverOf([dns.address, other.address]).resolve('hook.test', options)
      expect(found).toEqual(addresses(publicV4))
    },
  )

  test('nor does one that is not there', async () => {
    const gone = await startDnsServer()
    await gone.close()
    dns.set('hook.test', { addresses: [publicV4] })
    expect(await resolverOf([gone.address, dns.address]).resolve('hook.test', options)).toEqual(
      addresses(publicV4),
    )
  })

  test("one that fails and one that knows of no such name: the latter's word is definite", async () => {
    dns.set('hook.test', 'SERVFAIL')
    const other = await server()
    const found = await resolverOf([dns.address, other.address]).resolve('hook.test', options)
    expect(found).toMatchObject({ outcome: 'no_such_name' })
  })
})

test('no thread of the pool is needed: a name is resolved while all of them are busy', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'deskwire-hosts-'))
  onTestFinished(() => rm(scratch, { recursive: true }))
  const hosts = join(scratch, 'hosts')
  await writeFile(hosts, `${publicV4} listed.test\n`)
  dns.set('hook.test', { addresses: [publicV4] })
  const resolver = resolverOf([dns.address], hosts)

  let over = 0
  const derive = promisify(pbkdf2)
  const busy = Array.from({ length: Number(process.env.UV_THREADPOOL_SIZE ?? 4) }, async () => {
    await derive('x', 'y', 1_000_000, 32, 'sha512')
    over++
  })
  expect(await resolver.resolve('hook.test', options)).toEqual(addresses(publicV4))
  expect(await resolver.resolve('listed.test', options)).toEqual(addresses(publicV4))
  expect(over).toBe(0)
  await Promise.all(busy)
})

test('a hosts file that changes is read again; one that is gone lists nothing', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'deskwire-hosts-'))
  const hosts = join(scratch, 'hosts')
  await writeFile(hosts, `${publicV4} listed.test\n`)
  const resolver = resolverOf([dns.address], hosts)
  const fresh = { ...options, fresh: true }
  expect(await resolver.resolve('listed.test', fresh)).toEqual(addresses(publicV4))
  await writeFile(hosts, '192.0.66.22 listed.test\n')
  expect(await resolver.resolve('listed.test', fresh)).toEqual(addresses('192.0.66.22'))
  await rm(scratch, { recursive: true })
  expect(await resolver.resolve('listed.test', fresh)).toMatchObject({ outcome: 'no_such_name' })
})
