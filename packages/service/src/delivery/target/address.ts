/**
 * Which addresses a delivery may go to (specification 9.2): global unicast, and what the installation trusts.
 * An address is judged as it is: one that embeds another (IPv4-mapped, NAT64, 6to4, Teredo) is never public, and
 * is trusted only by a network of its own family.
 */

import { contains, isWithin, knownRange, type Networks, parseAddress } from '../../kernel/networks.ts'
import { globalUnicastIPv6, specialPurposeBlocks } from './special-purpose.ts'

const blocks = specialPurposeBlocks.map(([cidr, name]) => ({
  range: knownRange(cidr),
  name: `${name}, ${cidr}`,
}))
const globalUnicast = knownRange(globalUnicastIPv6)

/** Why `ip` is not public, as the name of the block it lies in; null when it is public. */
export function classify(ip: string): string | null {
  const address = parseAddress(ip)
  if (address === undefined) return 'not an IP address'
  const block = blocks.find(({ range }) => contains(range, address))
  if (block !== undefined) return block.name
  if (address.family === 6 && !contains(globalUnicast, address)) return `outside ${globalUnicastIPv6}`
  return null
}

/** Whether a delivery may go to `ip`: it is public or trusted. False for what is not an address. */
export function isPublicAddress(ip: string, trusted: Networks): boolean {
  return isWithin(ip, trusted) || classify(ip) === null
}
