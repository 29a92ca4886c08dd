import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestClock, testClock } from '../../../testbed/clock.ts'
import { type DnsReply, type DnsServer, startDnsServer } from '../../../testbed/dns-server.ts'
import { parseDnsServers } from '../../src/delivery/send/name-servers.ts'
import { createResolver, notPublic, type Resolver } from '../../src/delivery/send/resolver.ts'
import { parseTargetUrl } from '../../src/delivery/send/url.ts'
import { type Networks, noNetworks, parseNetworks } from '../../src/kernel/networks.ts'

const publicV4 = '192.0.66.1'
const publicV6 = '2606:4700::1'
const generous = { fresh: false, timeoutMs: 20_000 }

let scratch: string
let dns: DnsServer
let clock: TestClock
let resolvers: Resolver[]

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'deskwire-resolver-'))
})
afterAll(() => rm(scratch, { recursive: true }))
beforeEach(async () => {
  dns = await startDnsServer()
  clock = testClock()
  resolvers = []
})
afterEach(async () => {
  for (const resolver of resolvers) resolver.close()
  await dns.close()
})

function resolverOf(more: { trusted?: Networks; hostsFile?: string } = {}): Resolver {
  const { trusted = noNetworks, hostsFile = join(scratch, 'no such file') } = more
  const resolver = createResolver({ servers: [dns.address], trusted, clock, hostsFile })
  resolvers.push(resolver)
  return resolver
}

const addresses = (...list: string[]) => ({ outcome: 'addresses', addresses: list })
const perFamily = (v4: DnsReply, v6: DnsReply) => (query: { family: 4 | 6 }) => (query.family === 4 ? v4 : v6)
const none = { addresses: [] }

describe('what the families say', () => {
  test.each<[string, DnsReply, DnsReply, string]>([
    ['both answer', { addresses: [publicV4] }, { addresses: [publicV6] }, 'addresses'],
    ['IPv4 alone', { addresses: [publicV4] }, none, 'addresses'],
    ['IPv6 alone', none, { addresses: [publicV6] }, 'addresses'],
    ['IPv4 while IPv6 fails', { addresses: [publicV4] }, 'SERVFAIL', 'addresses'],
    ['IPv4 while IPv6 is refused', { addresses: [publicV4] }, 'REFUSED', 'addresses'],
    ['IPv4 while IPv6 is silent', { addresses: [publicV4] }, 'silence', 'addresses'],
    ['IPv6 while IPv4 fails', 'SERVFAIL', { addresses: [publicV6] }, 'addresses'],
    ['one address of several is private', { addresses: [publicV4, '10.0.0.1'] }, none, 'not_public'],
    ['one family is loopback', { addresses: [publicV4] }, { addresses: ['::1'] }, 'not_public'],
    ['a private address while the other family fails', { addresses: ['10.0.0.1'] }, 'SERVFAIL', 'not_public'],
    ['no such name', 'NXDOMAIN', 'NXDOMAIN', 'no_such_name'],
    ['no address', none, none, 'failed'],
    ['no address in one family, failure in the other', none, 'SERVFAIL', 'failed'],
    ['failure in both', 'SERVFAIL', 'SERVFAIL', 'failed'],
    ['refusal in both', 'REFUSED', 'REFUSED', 'failed'],
  ])('%s', async (_what, v4, v6, outcome) => {
    dns.set('hook.test', perFamily(v4, v6))
    expect(await resolverOf().resolve('hook.test', { fresh: false, timeoutMs: 2000 })).toMatchObject({
      outcome,
    })
  })

  test('all addresses are returned, IPv4 first', async () => {
    dns.set('hook.test', { addresses: [publicV6, publicV4, '192.0.66.2'] })
    const found = await resolverOf().resolve('hook.test', generous)
    expect(found).toEqual(addresses(publicV4, '192.0.66.2', publicV6))
  })

  test('with DNS64, an address is as public as the IPv4 address in it', async () => {
    dns.set('hook.test', { addresses: ['192.0.66.1', '64:ff9b::c000:4201'] })
    expect(await resolverOf().resolve('hook.test', generous)).toEqual(
      addresses('192.0.66.1', '64:ff9b::c000:4201'),
    )
    dns.set('inner.test', { addresses: ['192.0.66.1', '64:ff9b::a01:203'] })
    expect(await resolverOf().resolve('inner.test', generous)).toMatchObject({ outcome: 'not_public' })
  })

  test('silence ends at the time allowed', async () => {
    dns.set('hook.test', 'silence')
    expect(await resolverOf().resolve('hook.test', { fresh: false, timeoutMs: 200 })).toEqual({
      outcome: 'failed',
      detail: 'No name server answered for hook.test within 200 ms',
    })
  })

  test('a name server that is not there is a failure', async () => {
    const resolver = resolverOf()
    await dns.close()
    expect(await resolver.resolve('hook.test', { fresh: false, timeoutMs: 500 })).toMatchObject({
      outcome: 'failed',
    })
    dns = await startDnsServer()
  })

  test('names that DNS cannot hold do not exist', async () => {
    for (const name of ['a..test', `${'x'.repeat(64)}.test`]) {
      expect(await resolverOf().resolve(name, generous)).toMatchObject({ outcome: 'no_such_name' })
    }
  })
})

describe('how long an answer is used', () => {
  const asked = () => dns.queries.filter(({ family }) => family === 4).length

  test.each([
    ['for its TTL', 5, 4999, 5000],
    ['for 30 seconds at most', 3600, 29_999, 30_000],
  ])('%s', async (_what, ttl, before, after) => {
    dns.set('hook.test', { addresses: [publicV4], ttl })
    const resolver = resolverOf()
    const start = clock.now()
    for (const [at, queries] of [
      [0, 1],
      [before, 1],
      [after, 2],
    ] as const) {
      clock.set(start + at)
      expect(await resolver.resolve('Hook.Test.', generous)).toEqual(addresses(publicV4))
      expect(asked()).toBe(queries)
    }
  })

  test('not at all with a TTL of 0, nor when it was refused or failed', async () => {
    dns.set('zero.test', { addresses: [publicV4], ttl: 0 })
    dns.set('private.test', { addresses: ['10.0.0.1'], ttl: 60 })
    const resolver = resolverOf()
    for (const name of ['zero.test', 'private.test', 'missing.test']) {
      const before = asked()
      await resolver.resolve(name, generous)
      await resolver.resolve(name, generous)
      expect(asked()).toBe(before + 2)
    }
  })

  test('a clock that steps back does not stretch it', async () => {
    dns.set('hook.test', { addresses: [publicV4], ttl: 10 })
    const resolver = resolverOf()
    await resolver.resolve('hook.test', generous)
    clock.advance(-3_600_000)
    await resolver.resolve('hook.test', generous)
    expect(asked()).toBe(2)
  })

  test('never for a fresh look-up, which keeps nothing either', async () => {
    dns.set('hook.test', (_query, earlier) => ({
      addresses: earlier === 0 ? [publicV4] : ['10.0.0.1'],
      ttl: 60,
    }))
    const resolver = resolverOf()
    const fresh = { fresh: true, timeoutMs: 20_000 }
    expect(await resolver.resolve('hook.test', fresh)).toMatchObject({ outcome: 'addresses' })
    // The name flips after registration: the next delivery sees it, whatever the TTL.
    expect(await resolver.resolve('hook.test', generous)).toMatchObject({ outcome: 'not_public' })
    expect(await resolver.resolve('hook.test', fresh)).toMatchObject({ outcome: 'not_public' })
  })

  test('look-ups at the same time share a query, fresh ones do not', async () => {
    dns.set('hook.test', { addresses: [publicV4], ttl: 0 })
    const resolver = resolverOf()
    await Promise.all(Array.from({ length: 50 }, () => resolver.resolve('hook.test', generous)))
    expect(asked()).toBe(1)
    await Promise.all(
      Array.from({ length: 3 }, () => resolver.resolve('hook.test', { ...generous, fresh: true })),
    )
    expect(asked()).toBe(4)
  })
})

describe('hosts that need no query', () => {
  test.each([
    ['127.0.0.1', 'loopback'],
    ['127.0.0.1.', 'loopback'],
    ['①②⑦.0.0.1', 'loopback'],
    ['[::1]', 'loopback'],
    ['[::127.0.0.1]', 'IPv4-compatible'],
    ['[::ffff:127.0.0.1]', 'IPv4-mapped'],
    ['[64:ff9b::127.0.0.1]', 'NAT64 of loopback'],
    ['[64:ff9b:1::1.1.1.1]', 'NAT64'],
    ['[2002:101:101::]', '6to4'],
    ['[2001::1]', 'Teredo'],
    ['localhost', 'loopback'],
    ['LOCALHOST.', 'loopback'],
    ['ⓛocalhost', 'loopback'],
    ['any.localhost', 'loopback'],
  ])('%s is not public: %s', async (host, block) => {
    const url = parseTargetUrl(`https://${host}:8443/hook`)
    expect(url.ok).toBe(true)
    if (!url.ok) return
    expect(await resolverOf().resolve(url.value.hostname, generous)).toEqual({
      outcome: 'not_public',
      detail: notPublic,
      block: expect.stringContaining(block),
    })
    expect(dns.queries).toEqual([])
  })

  test('a public address is itself', async () => {
    expect(await resolverOf().resolve('1.1.1.1', generous)).toEqual(addresses('1.1.1.1'))
    expect(await resolverOf().resolve('[2606:4700::1]', generous)).toEqual(addresses('2606:4700::1'))
  })

  test('the hosts file goes before the name servers', async () => {
    const hostsFile = join(scratch, 'hosts')
    await writeFile(
      hostsFile,
      `# made by hand\n${publicV4}\thook.test  Alias.Test # both\nfe80::1%lo0 hook.test\n10.0.0.9 inner\n`,
    )
    const resolver = resolverOf({ hostsFile })
    expect(await resolver.resolve('alias.test', generous)).toEqual(addresses(publicV4))
    expect(await resolver.resolve('hook.test', generous)).toEqual(addresses(publicV4))
    expect(await resolver.resolve('inner', generous)).toMatchObject({ outcome: 'not_public' })
    expect(dns.queries).toEqual([])
  })

  test('localhost leads to the loopback address that is trusted', async () => {
    const trusted = parseNetworks('127.0.0.0/8') ?? noNetworks
    expect(await resolverOf({ trusted }).resolve('localhost', generous)).toEqual(addresses('127.0.0.1'))
    // A name server's word is worth less: all that it says has to be allowed.
    dns.set('hook.test', { addresses: ['127.0.0.1', '::1'] })
    expect(await resolverOf({ trusted }).resolve('hook.test', generous)).toMatchObject({
      outcome: 'not_public',
    })
  })
})

test.each([
  ['192.0.2.1', true],
  ['192.0.2.1:5353, 192.0.2.2', true],
  ['2001:db8::1', true],
  ['[2001:db8::1]:53', true],
  ['', false],
  ['dns.example', false],
  ['192.0.2.1:0', false],
  ['192.0.2.1:65536', false],
  ['192.0.2:53', false],
  ['[192.0.2.1]:53', false],
])('name servers %j: %s', (text, accepted) => {
  expect(parseDnsServers(text) !== undefined).toBe(accepted)
})
