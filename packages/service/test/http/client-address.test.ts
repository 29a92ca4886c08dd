/** Which address a request came from: through proxies that are trusted, and as told by whoever is not. */
import pino from 'pino'
import { afterAll, describe, expect, test } from 'vitest'
import { clientAddress } from '../../src/http/authenticate.ts'
import { createServer } from '../../src/http/server.ts'
import { isWithin, noNetworks, parseNetworks } from '../../src/kernel/networks.ts'

const open: { close(): Promise<unknown> }[] = []
afterAll(() => Promise.all(open.map((server) => server.close())))

/** Where a request comes from that is connected from `peer` and says `forwarded`. */
function telling(trusted: string | null) {
  const ranges = trusted === null ? noNetworks : parseNetworks(trusted)
  if (ranges === undefined) throw new Error(`${trusted} is not read`)
  const server = createServer(
    pino({ level: 'silent' }),
    trusted === null ? {} : { isTrustedProxy: (ip) => isWithin(ip, ranges) },
  )
  open.push(server)
  server.get('/', async (request) => clientAddress(request))
  return async (peer: string, forwarded?: string) => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    return (await server.inject({ url: '/', remoteAddress: peer, headers })).body
  }
}

describe('without trusted proxies', () => {
  const from = telling(null)

  test.each([undefined, '198.51.100.7', '198.51.100.7, 10.0.0.1', 'banana'])(
    '%j counts for nothing',
    async (said) => {
      expect(await from('10.0.0.1', said)).toBe('10.0.0.1')
    },
  )
})

describe('behind one trusted proxy', () => {
  const from = telling('10.0.0.0/8, 2001:db8:ffff::/48')

  test('it is what the proxy appended', async () => {
    expect(await from('10.0.0.1', '198.51.100.7')).toBe('198.51.100.7')
    expect(await from('10.0.0.1', '2001:db8::7')).toBe('2001:db8::7')
    expect(await from('2001:db8:ffff::1', '198.51.100.7')).toBe('198.51.100.7')
  })

  test('what stood there before was made up', async () => {
    expect(await from('10.0.0.1', '203.0.113.1, 198.51.100.7')).toBe('198.51.100.7')
    expect(await from('10.0.0.1', '10.0.0.9, 203.0.113.1, 198.51.100.7')).toBe('198.51.100.7')
    expect(await from('10.0.0.1', 'banana, 198.51.100.7')).toBe('198.51.100.7')
  })

  test('an untrusted peer may say what it likes', async () => {
    for (const peer of ['192.0.2.1', '2001:db8::1', '11.0.0.1'])
      for (const said of ['198.51.100.7', '198.51.100.7, 10.0.0.1', '10.0.0.1'])
        expect(await from(peer, said)).toBe(peer)
  })

  test('without the header it is the proxy itself', async () => {
    expect(await from('10.0.0.1')).toBe('10.0.0.1')
    expect(await from('10.0.0.1', '')).toBe('10.0.0.1')
  })

  test('an address that a socket of IPv6 shows as its own is that of IPv4', async () => {
    expect(await from('::ffff:10.0.0.1', '198.51.100.7')).toBe('198.51.100.7')
    expect(await from('10.0.0.1', '::ffff:198.51.100.7')).toBe('198.51.100.7')
    expect(await from('::ffff:192.0.2.1', '198.51.100.7')).toBe('192.0.2.1')
  })

  test('a port that the proxy appends is none of the address', async () => {
    expect(await from('10.0.0.1', '198.51.100.7:51234')).toBe('198.51.100.7')
    expect(await from('10.0.0.1', '[2001:db8::7]:51234')).toBe('2001:db8::7')
    expect(await from('10.0.0.1', '[2001:db8::7]')).toBe('2001:db8::7')
  })

  test.each([
    'banana',
    'unknown',
    '_hidden',
    '198.51.100',
    '198.51.100.7.9',
    '1.2.3.4:x',
    ',',
    ', ,',
    '::1::',
    '%00',
    '10.0.0.1, x',
  ])('of %j, which is no address, it is the proxy', async (said) => {
    expect(await from('10.0.0.1', said)).toBe('10.0.0.1')
  })

  test('a list without end is read from its own', async () => {
    expect(await from('10.0.0.1', `${'203.0.113.1, '.repeat(500)}198.51.100.7`)).toBe('198.51.100.7')
  })
})

describe('behind two trusted proxies', () => {
  const from = telling('10.0.0.1,192.0.2.128/25')

  test('it is what the outer one appended', async () => {
    expect(await from('10.0.0.1', '198.51.100.7, 192.0.2.200')).toBe('198.51.100.7')
    expect(await from('10.0.0.1', '203.0.113.1, 198.51.100.7, 192.0.2.200')).toBe('198.51.100.7')
  })

  test('past one that is not trusted nothing is believed', async () => {
    expect(await from('10.0.0.1', '198.51.100.7, 192.0.2.1')).toBe('192.0.2.1')
    expect(await from('10.0.0.2', '198.51.100.7, 192.0.2.200')).toBe('10.0.0.2')
  })

  test('of what the outer one tells as no address, it is the outer one', async () => {
    expect(await from('10.0.0.1', 'unknown, 192.0.2.200')).toBe('192.0.2.200')
  })
})
