/** Which addresses a delivery may go to (specification 9.2). One that embeds another (IPv4-mapped, NAT64, 6to4, Teredo) is never public. */

import ipaddr from 'ipaddr.js'
import { isWithin, type Networks, parseAddress } from '../../kernel/networks.ts'
import { globalUnicastIPv6, specialPurposeBlocks } from './special-purpose.ts'

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

/** Whether a delivery may go to `ip`: it is public or trusted. False for what is not an address. */
export function isPublicAddress(ip: string, trusted: Networks): boolean {
  return isWithin(ip, trusted) || classify(ip) === null
}
