import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Strings, so that they can be sent to workers. */
export type Networks = readonly string[]

export const noNetworks: Networks = []

export function isWithin(ip: string, networks: Networks): boolean {
  if (networks.length === 0) return false
  const address = parseAddress(ip)
  if (address === undefined) return false
  const within = networks.map((network) => ipaddr.parseCIDR(network))
  return ipaddr.subnetMatch(address, { within }, '') !== ''
}

/** Addresses are counted by this. One client has a whole /64 of IPv6; IPv4 addresses count by themselves. */
export function networkOf(ip: string): string {
  const address = parseAddress(ip)
  if (!(address instanceof ipaddr.IPv6) || address.isIPv4MappedAddress()) return ip
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

/** Networks (`10.0.0.0/8`) and single addresses, separated by commas; undefined when one of them is neither. */
export function parseNetworks(text: string): Networks | undefined {
  const networks = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(parseNetwork)
  return networks.every((network) => network !== undefined) ? networks : undefined
}

function parseNetwork(text: string): string | undefined {
  const [ip = ''] = text.split('/')
  if (parseAddress(ip) === undefined) return undefined
  const network = ip === text ? `${ip}/${isIP(ip) === 4 ? 32 : 128}` : text
  return ipaddr.isValidCIDR(network) ? network : undefined
}

/** Undefined for invalid addresses, and for those with a zone, which mean something on this machine only. */
export function parseAddress(ip: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // Checked by isIP too, because ipaddr.js also accepts plain numbers and octal digits.
  return isIP(ip) !== 0 && !ip.includes('%') && ipaddr.isValid(ip) ? ipaddr.parse(ip) : undefined
}
