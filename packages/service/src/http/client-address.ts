/**
 * Which address a request came from, where proxies stand in between (DESKWIRE_TRUSTED_PROXIES). Each proxy appends to
 * `X-Forwarded-For` the address that it was connected from, so the list is read from its end, for as long as whoever appended is
 * trusted: what stands before, its sender may have made up.
 */
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** What Fastify asks of each hop, from the connection on: whether it is believed about the one before it. */
export function trustHops(isWithin: (ip: string) => boolean): (hop: string | undefined) => boolean {
  return (hop) => hop !== undefined && isWithin(bareAddress(hop))
}

/** The address of the first hop that is no trusted proxy. Where that one is told as no address, it is the proxy that told it. */
export function clientAddress(request: FastifyRequest): string {
  const hops = request.ips ?? [request.ip]
  return hops.map(bareAddress).findLast((hop) => isIP(hop) !== 0) ?? request.ip
}

/** Without the port that some proxies append; an address of IPv4 as itself, also where a socket of IPv6 shows it as its own. */
function bareAddress(hop: string): string {
  const [, bracketed] = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(hop) ?? []
  const [, beforePort] = /^([\d.]+):\d{1,5}$/.exec(hop) ?? []
  const address = bracketed ?? beforePort ?? hop
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? []
  return mapped ?? address
}
