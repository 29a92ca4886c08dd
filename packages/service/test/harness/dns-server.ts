/**
 * A name server on loopback (UDP) that says what it is told, per name, family and query. It knows A and AAAA, and
 * just enough of RFC 1035 for them.
 */
import { createSocket } from 'node:dgram'
import { isIP } from 'node:net'
import { encodeIPv6 } from './certificates.ts'

export type DnsReply =
  /** Addresses of the family asked for; none is "no data". */
  | { readonly addresses: readonly string[]; readonly ttl?: number }
  | 'NXDOMAIN'
  | 'SERVFAIL'
  | 'REFUSED'
  /** No answer at all. */
  | 'silence'

export interface DnsQuery {
  readonly name: string
  readonly family: 4 | 6
}

/** One reply for both families and every query, or a function of the query and how many of the kind came before. */
export type DnsScript = DnsReply | ((query: DnsQuery, earlier: number) => DnsReply)

export interface DnsServer {
  /** As DESKWIRE_DNS_SERVERS takes it. */
  readonly address: string
  /** Every query so far. */
  readonly queries: readonly DnsQuery[]
  /** What to say of a name from now on; names never told are NXDOMAIN. */
  set(name: string, script: DnsScript): void
  close(): Promise<void>
}

const responseCodes = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 } as const
const recordTypes: Readonly<Record<number, 4 | 6>> = { 1: 4, 28: 6 }

export async function startDnsServer(): Promise<DnsServer> {
  const socket = createSocket('udp4')
  const scripts = new Map<string, DnsScript>()
  const queries: DnsQuery[] = []

  socket.on('message', (message, { port, address }) => {
    const { query, question } = parseQuery(message)
    if (query === null) return
    const earlier = queries.filter(
      ({ name, family }) => name === query.name && family === query.family,
    ).length
    queries.push(query)
    const script = scripts.get(query.name) ?? 'NXDOMAIN'
    const reply = typeof script === 'function' ? script(query, earlier) : script
    if (reply !== 'silence') socket.send(encodeReply(message, question, query.family, reply), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))

  return {
    address: `127.0.0.1:${socket.address().port}`,
    queries,
    set: (name, script) => scripts.set(name.toLowerCase(), script),
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

function parseQuery(message: Buffer): { query: DnsQuery | null; question: Buffer } {
  const labels: string[] = []
  let at = 12
  while (message[at] !== 0) {
    const length = message.readUInt8(at)
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const family = recordTypes[message.readUInt16BE(at + 1)]
  return {
    query: family === undefined ? null : { name: labels.join('.').toLowerCase(), family },
    question: message.subarray(12, at + 5),
  }
}

function encodeReply(
  message: Buffer,
  question: Buffer,
  family: 4 | 6,
  reply: Exclude<DnsReply, 'silence'>,
): Buffer {
  const coded = typeof reply === 'string'
  const addresses = coded ? [] : reply.addresses.filter((address) => isIP(address) === family)
  const header = Buffer.alloc(12)
  message.copy(header, 0, 0, 2)
  // An answer with recursion, as a recursive server gives it.
  header.writeUInt16BE(0x8180 | (coded ? responseCodes[reply] : 0), 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(addresses.length, 6)
  const ttl = coded ? 0 : (reply.ttl ?? 0)
  return Buffer.concat([header, question, ...addresses.map((address) => encodeRecord(address, family, ttl))])
}

function encodeRecord(address: string, family: 4 | 6, ttl: number): Buffer {
  const bytes = family === 4 ? Buffer.from(address.split('.').map(Number)) : encodeIPv6(address)
  const record = Buffer.alloc(12)
  // The name is the question's.
  record.writeUInt16BE(0xc00c, 0)
  record.writeUInt16BE(family === 4 ? 1 : 28, 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt32BE(ttl, 6)
  record.writeUInt16BE(bytes.length, 10)
  return Buffer.concat([record, bytes])
}
