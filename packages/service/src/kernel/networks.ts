/** Networks: those that settings name, parsed and asked whether an address lies in one of them; and the one of an address. */
import { isIP } from 'node:net'

interface Address {
  readonly family: 4 | 6
  readonly bits: bigint
}

/** A network, as the first and the last address in it. */
interface Range {
  readonly family: 4 | 6
  readonly first: bigint
  readonly last: bigint
}

/** Those of a setting: DESKWIRE_TRUSTED_TARGETS, DESKWIRE_TRUSTED_PROXIES. */
export interface Networks {
  readonly ranges: readonly Range[]
}

export const noNetworks: Networks = { ranges: [] }

/** Whether `ip` lies in one of them. */
export function isWithin(ip: string, { ranges }: Networks): boolean {
  if (ranges.length === 0) return false
  const address = parseAddress(ip)
  return address !== undefined && ranges.some((range) => contains(range, address))
}

/** What an address is counted by: whoever has one of IPv6 has the 2^64 of its network; one of IPv4 stands for itself, mapped or not. */
export function networkOf(ip: string): string {
  const address = parseAddress(ip)
  const isMapped = address !== undefined && address.bits >> 32n === 0xffffn
  return address?.family === 6 && !isMapped ? `${(address.bits >> 64n).toString(16)}::/64` : ip
}

/** Networks (`10.0.0.0/8`) and single addresses, separated by commas; undefined when one of them is neither. */
export function parseNetworks(text: string): Networks | undefined {
  const ranges = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(parseRange)
  return ranges.every((range) => range !== undefined) ? { ranges } : undefined
}

export function contains(range: Range, address: Address): boolean {
  return range.family === address.family && range.first <= address.bits && address.bits <= range.last
}

export function knownRange(cidr: string): Range {
  const range = parseRange(cidr)
  if (range === undefined) throw new Error(`${cidr} is not a network`)
  return range
}

function parseRange(text: string): Range | undefined {
  const [ip = '', length, ...rest] = text.split('/')
  const address = parseAddress(ip)
  if (address === undefined || rest.length > 0) return undefined
  const width = address.family === 4 ? 32 : 128
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return undefined
  const prefix = length === undefined ? width : Number(length)
  if (prefix > width) return undefined
  const hosts = (1n << BigInt(width - prefix)) - 1n
  const first = (address.bits | hosts) - hosts
  return { family: address.family, first, last: first + hosts }
}

/** Undefined for what is no address, and for one with a zone, which means something on this machine only. */
export function parseAddress(ip: string): Address | undefined {
  switch (isIP(ip)) {
    case 4:
      return { family: 4, bits: joinBits(ip.split('.').map(Number), 8n) }
    case 6:
      return ip.includes('%') ? undefined : { family: 6, bits: joinBits(hextets(ip), 16n) }
    default:
      return undefined
  }
}

function hextets(ip: string): number[] {
  const [head = [], tail] = ip.split('::').map(hextetsOfPart)
  if (tail === undefined) return head
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail]
}

function hextetsOfPart(part: string): number[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return Number.parseInt(group, 16)
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

function joinBits(groups: readonly number[], width: bigint): bigint {
  return groups.reduce((bits, group) => (bits << width) | BigInt(group), 0n)
}
