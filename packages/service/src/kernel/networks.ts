/** Networks: those that settings name, parsed and asked whether an address lies in one of them; and the one of an address. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Those of a setting: DESKWIRE_TRUSTED_TARGETS, DESKWIRE_TRUSTED_PROXIES. In CIDR notation, as settings are sent to workers as plain data. */
export type Networks = readonly string[]

export const noNetworks: Networks = []

/** Whether `ip` lies in one of them. */
export function isWithin(ip: string, networks: Networks): boolean {
  if (networks.length === 0) return false
  const address = parseAddress(ip)
  if (address === undefined) return false
  const within = networks.map((network) => ipaddr.parseCIDR(network))
  return ipaddr.subnetMatch(address, { within }, '') !== ''
}

/** What an address is counted by: whoever has one of IPv6 has the 2^64 of its network; one of IPv4 stands for itself, mapped or not. */
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

/** Undefined for what is no address, and for one with a zone, which means something on this machine only. */
export function parseAddress(ip: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // ipaddr.js alone also takes numbers and octal digits for addresses.
  return isIP(ip) !== 0 && !ip.includes('%') && ipaddr.isValid(ip) ? ipaddr.parse(ip) : undefined
}
