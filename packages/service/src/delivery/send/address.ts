/**
 * Which addresses a delivery may go to (specification 9.2). An address of NAT64 is judged by the IPv4 address in it;
 * one that embeds another in a different way (IPv4-mapped, 6to4, Teredo) is never public.
 */
import ipaddr from 'ipaddr.js'
import { isWithin, type Networks, parseAddress, parseNetworks } from '../../kernel/networks.ts'

/**
 * Addresses that are not public: every block of IANA's special-purpose address registries, whatever their "globally
 * reachable" column says. A block inside another comes before it, so that the closest name is found.
 *
 * https://www.iana.org/assignments/iana-ipv4-special-registry
 * https://www.iana.org/assignments/iana-ipv6-special-registry
 */
export const specialPurposeBlocks: readonly (readonly [cidr: string, name: string])[] = [
  ['0.0.0.0/32', 'this host'],
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private use'],
  ['100.64.0.0/10', 'shared address space'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link local'],
  ['172.16.0.0/12', 'private use'],
  ['192.0.0.0/29', 'IPv4 service continuity'],
  ['192.0.0.8/32', 'IPv4 dummy address'],
  ['192.0.0.9/32', 'port control protocol anycast'],
  ['192.0.0.10/32', 'TURN anycast'],
  ['192.0.0.170/32', 'NAT64 discovery'],
  ['192.0.0.171/32', 'NAT64 discovery'],
  ['192.0.0.0/24', 'IETF protocol assignments'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'AS112'],
  ['192.52.193.0/24', 'automatic multicast tunneling'],
  ['192.88.99.2/32', '6a44 relay anycast'],
  ['192.88.99.0/24', '6to4 relay anycast'],
  ['192.168.0.0/16', 'private use'],
  ['192.175.48.0/24', 'AS112'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['255.255.255.255/32', 'limited broadcast'],
  ['240.0.0.0/4', 'reserved'],

  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::/96', 'IPv4-compatible'],
  ['::ffff:0:0/96', 'IPv4-mapped'],
  ['64:ff9b::/96', 'NAT64'],
  ['64:ff9b:1::/48', 'NAT64'],
  ['100::/64', 'discard only'],
  ['100:0:0:1::/64', 'dummy prefix'],
  ['2001::/32', 'Teredo'],
  ['2001:1::1/128', 'port control protocol anycast'],
  ['2001:1::2/128', 'TURN anycast'],
  ['2001:1::3/128', 'DNS-SD service registration anycast'],
  ['2001:2::/48', 'benchmarking'],
  ['2001:3::/32', 'automatic multicast tunneling'],
  ['2001:4:112::/48', 'AS112'],
  ['2001:10::/28', 'ORCHID'],
  ['2001:20::/28', 'ORCHIDv2'],
  ['2001:30::/28', 'drone remote identification'],
  ['2001::/23', 'IETF protocol assignments'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'AS112'],
  ['3fff::/20', 'documentation'],
  ['5f00::/16', 'segment routing'],
  ['fc00::/7', 'unique local'],
  ['fe80::/10', 'link local'],
  ['ff00::/8', 'multicast'],
]

const globalUnicastIPv6 = '2000::/3'

const blocks = Object.fromEntries(
  specialPurposeBlocks.map(([cidr, name]) => [`${name}, ${cidr}`, ipaddr.parseCIDR(cidr)]),
)
const globalUnicast = ipaddr.parseCIDR(globalUnicastIPv6)

/** Why `ip` is not public, as the name of its block; null when it is public. */
export function classify(ip: string): string | null {
  const address = parseAddress(ip)
  if (address === undefined) return 'not an IP address'
  const block = ipaddr.subnetMatch(address, blocks, '')
  if (block !== '') return block
  if (address.kind() === 'ipv6' && !address.match(globalUnicast)) return `outside ${globalUnicastIPv6}`
  return null
}

/** Marks an entry of DESKWIRE_TRUSTED_TARGETS as a prefix of NAT64, which exempts nothing. */
const nat64 = 'nat64:'
const wellKnownPrefix = '64:ff9b::/96'
const prefixLengths: readonly number[] = [32, 40, 48, 56, 64, 96]
/** This byte of an address of NAT64 is always 0, and divides its IPv4 address (RFC 6052, section 2.2). */
const reservedByte = 8

/** Networks, and prefixes of NAT64 after `nat64:`, separated by commas; undefined when one of them is neither. */
export function parseTrustedTargets(text: string): Networks | undefined {
  const entries = text.split(',').map((entry) => {
    const target = entry.trim()
    return target.startsWith(nat64) ? parsePrefix(target) : parseNetworks(target)
  })
  return entries.every((entry) => entry !== undefined) ? entries.flat() : undefined
}

function parsePrefix(target: string): Networks | undefined {
  const [network] = parseNetworks(target.slice(nat64.length)) ?? []
  if (network === undefined) return undefined
  const [address, length] = ipaddr.parseCIDR(network)
  const isPrefix = address.kind() === 'ipv6' && prefixLengths.includes(length)
  return isPrefix && (length <= 64 || address.toByteArray()[reservedByte] === 0) ? [target] : undefined
}

/** The networks among trusted targets. */
export function exempted(trusted: Networks): Networks {
  return trusted.filter((target) => !target.startsWith(nat64))
}

/** Why a delivery may not go to `ip`, as the name of its block; null when it may, as it is public or exempted. */
export function refusedBlock(ip: string, trusted: Networks): string | null {
  const networks = exempted(trusted)
  if (isWithin(ip, networks)) return null
  const embedded = embeddedIPv4(ip, trusted)
  if (embedded === null) return classify(ip)
  const block = embedded === 'none' || !isWithin(embedded, networks) ? classify(embedded) : null
  return block === null ? null : `NAT64 of ${block}`
}

/** The IPv4 address in an address of NAT64, `none` when it is malformed; null for any other address. */
function embeddedIPv4(ip: string, trusted: Networks): string | null {
  const address = parseAddress(ip)
  if (!(address instanceof ipaddr.IPv6)) return null
  const named = trusted
    .filter((target) => target.startsWith(nat64))
    .map((target) => target.slice(nat64.length))
  const lengths = [wellKnownPrefix, ...named]
    .map((prefix) => ipaddr.IPv6.parseCIDR(prefix))
    .filter((prefix) => address.match(prefix))
    .map(([, length]) => length)
  if (lengths.length === 0) return null
  const bytes = address.toByteArray()
  // As a router, by the longest prefix.
  const prefixBytes = Math.max(...lengths) / 8
  const rest = bytes
    .toSpliced(reservedByte, 1)
    .slice(prefixBytes > reservedByte ? prefixBytes - 1 : prefixBytes)
  const isWellFormed = bytes[reservedByte] === 0 && rest.slice(4).every((byte) => byte === 0)
  return isWellFormed ? rest.slice(0, 4).join('.') : 'none'
}
