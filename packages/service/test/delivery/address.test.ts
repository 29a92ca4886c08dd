import { BlockList } from 'node:net'
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
