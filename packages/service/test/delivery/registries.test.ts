/** The service's table against IANA's registries, edge by edge, by an implementation that is not ours: Node's BlockList. */
import { BlockList, isIPv4 } from 'node:net'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import { classify, specialPurposeBlocks } from '../../src/delivery/send/address.ts'
import { registeredBlocks } from './iana-registries.fixture.ts'

/** What is not public though the registries do not list it: not unicast, or embedding an IPv4 address (RFC 4291, 2.5.5.1). */
const unregistered = ['224.0.0.0/4', 'ff00::/8', '::/96']

test('the table holds what the registries hold, and what is known besides', () => {
  const ours = specialPurposeBlocks.map(([block]) => block)
  const theirs = registeredBlocks.map(([block]) => block)
  expect(ours.toSorted()).toEqual([...theirs, ...unregistered].toSorted())
})

const blocks = [...registeredBlocks.map(([block]) => block), ...unregistered]

// One for each family: a BlockList takes an IPv4 address for the IPv6 address that embeds it.
const special = { ipv4: new BlockList(), ipv6: new BlockList() }
for (const block of blocks) {
  const [network = '', prefix] = block.split('/')
  const family = isIPv4(network) ? 'ipv4' : 'ipv6'
  special[family].addSubnet(network, Number(prefix), family)
}
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

/** The rule a second time (specification 9.2), by the registries and another arithmetic. */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const [ip, family] = [address.toString(), address.kind()]
  return !special[family].check(ip, family) && (family === 'ipv4' || globalUnicast.check(ip, family))
}

/** The address that many steps further; null beyond the end of its family. */
function step(address: ipaddr.IPv4 | ipaddr.IPv6, steps: -1 | 1): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const bytes = address.toByteArray()
  for (let at = bytes.length - 1; at >= 0; at--) {
    const next = (bytes[at] ?? 0) + steps
    bytes[at] = next & 255
    if (next === (next & 255)) return ipaddr.fromByteArray(bytes)
  }
  return null
}

const ends = (block: string) =>
  block.includes(':')
    ? [ipaddr.IPv6.networkAddressFromCIDR(block), ipaddr.IPv6.broadcastAddressFromCIDR(block)]
    : [ipaddr.IPv4.networkAddressFromCIDR(block), ipaddr.IPv4.broadcastAddressFromCIDR(block)]

/** All of IPv6 that is not global unicast. */
const outside = ['4000::/2', '8000::/1', '::/3']

describe.each([
  ...registeredBlocks,
  ...[...unregistered, ...outside].map((block) => [block, 'not registered'] as const),
])('%s (%s)', (block) => {
  const [first, last] = ends(block) as [ipaddr.IPv4, ipaddr.IPv4]

  test('its first and its last address are not public', () => {
    expect(classify(first.toString())).not.toBeNull()
    expect(classify(last.toString())).not.toBeNull()
  })

  test('one before and one after are as the other blocks have it', () => {
    for (const neighbour of [step(first, -1), step(last, 1)]) {
      if (neighbour === null) continue
      expect([neighbour.toString(), classify(neighbour.toString()) === null]).toEqual([
        neighbour.toString(),
        isPublic(neighbour),
      ])
    }
  })
})

const anywhere = fc.oneof(
  fc.uint8Array({ minLength: 4, maxLength: 4 }),
  fc.uint8Array({ minLength: 16, maxLength: 16 }),
)
/** Within some 65,000 addresses of an edge, which a random address hardly ever is. */
const nearAnEdge = fc
  .tuple(fc.constantFrom(...blocks), fc.boolean(), fc.nat(0x1ffff))
  .map(([block, atEnd, offset]) => {
    const bytes = (ends(block)[atEnd ? 1 : 0] as ipaddr.IPv4).toByteArray()
    let rest = offset - 0x10000
    for (let at = bytes.length - 1; at >= 0 && rest !== 0; at--) {
      const sum = (bytes[at] ?? 0) + rest
      bytes[at] = sum & 255
      rest = sum >> 8
    }
    return Uint8Array.from(bytes)
  })

test('random addresses, and addresses near edges, are judged alike', () => {
  fc.assert(
    fc.property(fc.oneof(anywhere, nearAnEdge, nearAnEdge), (bytes) => {
      const address = ipaddr.fromByteArray([...bytes])
      expect(classify(address.toString()) === null).toBe(isPublic(address))
      expect(classify(address.toNormalizedString()) === null).toBe(isPublic(address))
    }),
    { numRuns: 5000 },
  )
})

test('what is public to us is plain unicast to ipaddr.js, whose own table is another', () => {
  fc.assert(
    fc.property(fc.oneof(anywhere, nearAnEdge), (bytes) => {
      const address = ipaddr.fromByteArray([...bytes])
      if (classify(address.toString()) === null) expect(address.range()).toBe('unicast')
    }),
    { numRuns: 5000 },
  )
})
