import { BlockList, isIPv4 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  classify,
  parseTrustedTargets,
  refusedBlock,
  specialPurposeBlocks,
} from '../../src/delivery/send/address.ts'
import { type Networks, noNetworks, parseNetworks } from '../../src/kernel/networks.ts'

const isPublicAddress = (ip: string, trusted: Networks) => refusedBlock(ip, trusted) === null

/** Every block with its first and last address, and its neighbours that are public; written out by hand. */
const edges: readonly (readonly [
  cidr: string,
  first: string,
  last: string,
  publicNeighbours: readonly string[],
])[] = [
  ['0.0.0.0/8', '0.0.0.0', '0.255.255.255', ['1.0.0.0']],
  ['10.0.0.0/8', '10.0.0.0', '10.255.255.255', ['9.255.255.255', '11.0.0.0']],
  ['100.64.0.0/10', '100.64.0.0', '100.127.255.255', ['100.63.255.255', '100.128.0.0']],
  ['127.0.0.0/8', '127.0.0.0', '127.255.255.255', ['126.255.255.255', '128.0.0.0']],
  ['169.254.0.0/16', '169.254.0.0', '169.254.255.255', ['169.253.255.255', '169.255.0.0']],
  ['172.16.0.0/12', '172.16.0.0', '172.31.255.255', ['172.15.255.255', '172.32.0.0']],
  ['192.0.0.0/24', '192.0.0.0', '192.0.0.255', ['191.255.255.255', '192.0.1.0']],
  ['192.0.2.0/24', '192.0.2.0', '192.0.2.255', ['192.0.1.255', '192.0.3.0']],
  ['192.31.196.0/24', '192.31.196.0', '192.31.196.255', ['192.31.195.255', '192.31.197.0']],
  ['192.52.193.0/24', '192.52.193.0', '192.52.193.255', ['192.52.192.255', '192.52.194.0']],
  ['192.88.99.0/24', '192.88.99.0', '192.88.99.255', ['192.88.98.255', '192.88.100.0']],
  ['192.168.0.0/16', '192.168.0.0', '192.168.255.255', ['192.167.255.255', '192.169.0.0']],
  ['192.175.48.0/24', '192.175.48.0', '192.175.48.255', ['192.175.47.255', '192.175.49.0']],
  ['198.18.0.0/15', '198.18.0.0', '198.19.255.255', ['198.17.255.255', '198.20.0.0']],
  ['198.51.100.0/24', '198.51.100.0', '198.51.100.255', ['198.51.99.255', '198.51.101.0']],
  ['203.0.113.0/24', '203.0.113.0', '203.0.113.255', ['203.0.112.255', '203.0.114.0']],
  ['224.0.0.0/4', '224.0.0.0', '239.255.255.255', ['223.255.255.255']],
  ['240.0.0.0/4', '240.0.0.0', '255.255.255.255', []],
  ['::/128', '::', '::', []],
  ['::1/128', '::1', '::1', []],
  ['::/96', '::', '::255.255.255.255', []],
  ['::ffff:0:0/96', '::ffff:0.0.0.0', '::ffff:ffff:ffff', []],
  ['64:ff9b::/96', '64:ff9b::', '64:ff9b::ffff:ffff', []],
  ['64:ff9b:1::/48', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', []],
  ['100::/64', '100::', '100::ffff:ffff:ffff:ffff', []],
  ['100:0:0:1::/64', '100:0:0:1::', '100::1:ffff:ffff:ffff:ffff', []],
  [
    '2001::/23',
    '2001::',
    '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
    ['2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
  ],
  [
    '2001:db8::/32',
    '2001:db8::',
    '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
    ['2001:db7:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
  ],
  [
    '2002::/16',
    '2002::',
    '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    ['2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  ],
  [
    '2620:4f:8000::/48',
    '2620:4f:8000::',
    '2620:4f:8000:ffff:ffff:ffff:ffff:ffff',
    ['2620:4f:7fff:ffff:ffff:ffff:ffff:ffff', '2620:4f:8001::'],
  ],
  [
    '3fff::/20',
    '3fff::',
    '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
    ['3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '3fff:1000::'],
  ],
  ['5f00::/16', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['fc00::/7', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['fe80::/10', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['ff00::/8', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  // All of IPv6 that is not global unicast.
  [
    '4000::/2',
    '4000::',
    '7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    ['3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ],
  ['8000::/1', '8000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['::/3', '::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['2000::']],
]

test.each(edges)(
  '%s is not public from %s to %s, its neighbours are',
  (_cidr, first, last, publicNeighbours) => {
    expect([classify(first), classify(last)]).not.toContain(null)
    expect(publicNeighbours.map((ip) => classify(ip))).toEqual(publicNeighbours.map(() => null))
  },
)

test.each(specialPurposeBlocks)('%s (%s) is not public, and known by the closest name', (cidr, name) => {
  const [ip = ''] = cidr.split('/')
  const inside = cidr === '240.0.0.0/4' ? '240.0.0.1' : ip
  const closest = specialPurposeBlocks.find(([other]) => other.split('/')[0] === ip)
  expect(classify(inside)).toBe(`${closest?.[1] ?? name}, ${closest?.[0] ?? cidr}`)
})

test.each(['1.1.1.1', '8.8.8.8', '2606:4700:4700::1111', '2a00:1450:4001:80b::200e'])(
  '%s is public',
  (ip) => {
    expect(classify(ip)).toBeNull()
  },
)

test.each([
  '',
  'localhost',
  '1.2.3',
  '01.2.3.4',
  '1.2.3.4.5',
  '::g',
  '1::2::3',
  'fe80::1%eth0',
  '2606::1%1',
  '[::1]',
])('%j is no address, so not public', (text) => {
  expect(classify(text)).toBe('not an IP address')
  expect(isPublicAddress(text, parseNetworks('0.0.0.0/0,::/0') ?? noNetworks)).toBe(false)
})

const ipv4 = fc.ipV4()
const bytes = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255))
const hextet = fc.nat(0xffff).map((group) => group.toString(16))
const ipv6 = fc.array(hextet, { minLength: 8, maxLength: 8 }).map((groups) => groups.join(':'))
/** IPv6 addresses around the blocks, which a random one hardly ever hits. */
const ipv6Near = fc
  .tuple(
    fc.constantFrom('2001:', '2002:', '2620:4f:', '3fff:', '64:ff9b:', '100:', '5f00:', 'fe80:', 'fc00:'),
    ipv6,
  )
  .map(([start, rest]) => {
    const groups = start.split(':').filter((group) => group !== '')
    return [...groups, ...rest.split(':').slice(groups.length)].join(':')
  })

describe('properties', () => {
  test('an address that embeds another is never public except in NAT64, whatever it embeds and whichever IPv4 is trusted', () => {
    const trusted = parseNetworks('0.0.0.0/0') ?? noNetworks
    fc.assert(
      fc.property(bytes, hextet, ([a, b, c, d], noise) => {
        const [high, low] = [(a * 256 + b).toString(16), (c * 256 + d).toString(16)]
        const embedding = [
          `::ffff:${a}.${b}.${c}.${d}`,
          `::ffff:${high}:${low}`,
          `0:0:0:0:0:ffff:${high}:${low}`,
          `::${a}.${b}.${c}.${d}`,
          `64:ff9b:1:${noise}::${high}:${low}`,
          `2002:${high}:${low}::${noise}`,
          `2001:0:${noise}:0:0:0:${high}:${low}`,
        ]
        return embedding.every((ip) => !isPublicAddress(ip, trusted))
      }),
    )
  })

  test("Node's BlockList says the same", () => {
    // One for each family: a BlockList takes an IPv4 address for the IPv6 address that embeds it.
    const special = { ipv4: new BlockList(), ipv6: new BlockList() }
    const globalUnicast = new BlockList()
    globalUnicast.addSubnet('2000::', 3, 'ipv6')
    for (const [cidr] of specialPurposeBlocks) {
      const [ip = '', prefix] = cidr.split('/')
      const family = isIPv4(ip) ? 'ipv4' : 'ipv6'
      special[family].addSubnet(ip, Number(prefix), family)
    }
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6, ipv6Near), (ip) => {
        const expected = isIPv4(ip)
          ? !special.ipv4.check(ip, 'ipv4')
          : globalUnicast.check(ip, 'ipv6') && !special.ipv6.check(ip, 'ipv6')
        return (classify(ip) === null) === expected
      }),
      { numRuns: 2000 },
    )
  })

  test('a trusted network trusts its own addresses and no others', () => {
    fc.assert(
      fc.property(ipv4, fc.integer({ min: 0, max: 32 }), ipv4, (network, prefix, ip) => {
        const list = new BlockList()
        list.addSubnet(network, prefix, 'ipv4')
        const trusted = parseNetworks(`${network}/${prefix}`) ?? noNetworks
        return isPublicAddress(ip, trusted) === (list.check(ip, 'ipv4') || classify(ip) === null)
      }),
    )
  })
})

describe('NAT64', () => {
  const octet = fc.oneof(fc.nat(255), fc.constantFrom(0, 10, 127, 169, 172, 192, 224, 255))
  const inner = fc.tuple(octet, octet, octet, octet)
  /** By the figure of RFC 6052, section 2.2: bytes of the IPv4 address by length of the prefix. */
  const places = new Map([
    [32, [4, 5, 6, 7]],
    [40, [5, 6, 7, 9]],
    [48, [6, 7, 9, 10]],
    [56, [7, 9, 10, 11]],
    [64, [9, 10, 11, 12]],
    [96, [12, 13, 14, 15]],
  ])
  const addressOf = (bytes: readonly number[]) => Buffer.from(bytes).toString('hex').match(/.{4}/g)!.join(':')
  const prefixes = fc
    .tuple(fc.constantFrom(...places.keys()), fc.array(fc.nat(255), { minLength: 12, maxLength: 12 }))
    .map(([length, noise]) => ({
      length,
      bytes: noise.map((byte, at) => (at >= length / 8 || at === 8 ? 0 : at === 0 ? 0xfd : byte)),
    }))
  const embed = (prefix: readonly number[], length: number, ip: readonly number[]) => {
    const bytes = [...prefix, ...Array<number>(16 - prefix.length).fill(0)]
    for (const [n, at] of places.get(length)!.entries()) bytes[at] = ip[n]!
    return bytes
  }
  const own = fc.record({ prefix: prefixes, ip: inner })

  test('an address is judged by the IPv4 address in it, in the known prefix and in each that is named', () => {
    fc.assert(
      fc.property(own, fc.boolean(), ({ prefix: { bytes, length }, ip }, trusts) => {
        const named = parseTrustedTargets(
          `nat64:${addressOf([...bytes, 0, 0, 0, 0])}/${length}${trusts ? ',10.0.0.0/8' : ''}`,
        )!
        const expected = isPublicAddress(ip.join('.'), named)
        expect(isPublicAddress(addressOf(embed(bytes, length, ip)), named)).toBe(expected)
        expect(isPublicAddress(addressOf(embed([0, 0x64, 0xff, 0x9b], 96, ip)), named)).toBe(expected)
        expect(isPublicAddress(addressOf(embed(bytes, length, ip)), noNetworks)).toBe(false)
      }),
    )
  })

  test('bits that have to be 0 and are not make it an address of nothing', () => {
    fc.assert(
      fc.property(own, fc.nat(15), ({ prefix: { bytes, length } }, at) => {
        const address = embed(bytes, length, [1, 1, 1, 1])
        fc.pre(at * 8 >= length ? !places.get(length)!.includes(at) : at === 8 && length === 96)
        address[at] = 1
        const named = parseTrustedTargets(`nat64:${addressOf([...bytes, 0, 0, 0, 0])}/${length}`)!
        return !isPublicAddress(addressOf(address), named)
      }),
    )
  })

  test('a refusal names both', () => {
    expect(refusedBlock('64:ff9b::10.1.2.3', noNetworks)).toBe('NAT64 of private use, 10.0.0.0/8')
    expect(refusedBlock('64:ff9b:1::1.1.1.1', noNetworks)).toBe('NAT64, 64:ff9b:1::/48')
  })

  test('a named prefix judges addresses that would be public, the longest one first', () => {
    const named = parseTrustedTargets('nat64:2a00:64::/32, nat64:2a00:64:1::/96') ?? noNetworks
    expect(refusedBlock('2a00:64:101:101::', noNetworks)).toBe(null)
    expect(refusedBlock('2a00:64:101:101::', named)).toBe(null)
    expect(refusedBlock('2a00:64:a00:1::', named)).toBe('NAT64 of private use, 10.0.0.0/8')
    expect(refusedBlock('2a00:64:1::1.1.1.1', named)).toBe(null)
  })

  test.each([
    'nat64:',
    'nat64:10.0.0.0/8',
    'nat64:fd00::/95',
    'nat64:fd00::',
    'nat64:fd00::100:0:0:0/96',
    'nat64',
  ])('%j is no prefix', (text) => expect(parseTrustedTargets(text)).toBeUndefined())
})

describe('trusted targets', () => {
  test.each([
    '10.0.0.0/8',
    '10.1.2.3/8, fd00::/8',
    '127.0.0.1',
    '::1',
    '0.0.0.0/0',
    '::/0',
    '10.0.0.0/8,',
    '',
  ])('%j is a list', (text) => expect(parseTrustedTargets(text)).toBeDefined())

  test.each([
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0/8',
    'localhost',
    '10.0.0.0/-1',
    '10.0.0.0 8',
    'fe80::1%lo/64',
  ])('%j is none', (text) => expect(parseTrustedTargets(text)).toBeUndefined())

  test('exempt their own addresses, and only these', () => {
    const trusted = parseTrustedTargets('127.0.0.1, fd00::/8') ?? noNetworks
    const allowed = [
      '127.0.0.1',
      '127.0.0.2',
      'fd12::1',
      'fc00::1',
      '::1',
      '::ffff:127.0.0.1',
      '1.1.1.1',
    ].filter((ip) => isPublicAddress(ip, trusted))
    expect(allowed).toEqual(['127.0.0.1', 'fd12::1', '1.1.1.1'])
  })
})
