/**
 * A scripted name server on the loopback (UDP, and TCP for long answers), with just enough of RFC 1035 for A, AAAA and
 * CNAME.
 */
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { type AddressInfo, createServer, isIP, type Server, type Socket } from 'node:net'
import { encodeIPv6 } from './certificates.ts'

export type DnsReply =
  /** Empty: "no data". With `aliases`, the name is a CNAME of the last of them, which has the addresses. */
  | { readonly addresses: readonly string[]; readonly ttl?: number; readonly aliases?: readonly Alias[] }
  | 'NXDOMAIN'
  | 'SERVFAIL'
  | 'REFUSED'
  | 'NOTIMP'
  | 'FORMERR'
  /** An answer to another query. */
  | 'mistaken'
  | 'garbage'
  | 'silence'

interface Alias {
  readonly to: string
  readonly ttl: number
}

interface DnsQuery {
  readonly name: string
  readonly family: 4 | 6
  readonly over: 'udp' | 'tcp'
}

/** One reply for all queries, or a function of the query and the number of earlier ones. */
export type DnsScript = DnsReply | ((query: DnsQuery, earlier: number) => DnsReply)

export interface DnsServer {
  /** As DESKWIRE_DNS_SERVERS takes it. */
  readonly address: string
  readonly queries: readonly DnsQuery[]
  /** Names that were never set are NXDOMAIN. */
  set(name: string, script: DnsScript): void
  close(): Promise<void>
}

export interface DnsServerOptions {
  /** Default: true. */
  readonly tcp?: boolean
}

/** Of a recursive server's answer. */
const flags = 0x8180

/** Longer answers over UDP are truncated and marked as such. */
const longestOverUdp = 512

const responseCodes = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5, NOTIMP: 4, FORMERR: 1 } as const
type ResponseCode = keyof typeof responseCodes
const recordTypes: Readonly<Record<number, 4 | 6>> = { 1: 4, 28: 6 }

export async function startDnsServer({ tcp = true }: DnsServerOptions = {}): Promise<DnsServer> {
  const scripts = new Map<string, DnsScript>()
  const queries: DnsQuery[] = []

  function reply(message: Buffer, over: 'udp' | 'tcp'): Buffer | null {
    const { name, family, question } = parseQuery(message)
    if (family === undefined) return null
    const earlier = queries.filter((query) => query.name === name && query.family === family).length
    const query = { name, family, over }
    queries.push(query)
    const script = scripts.get(name) ?? 'NXDOMAIN'
    const told = typeof script === 'function' ? script(query, earlier) : script
    if (told === 'silence') return null
    if (told === 'garbage') return Buffer.concat([message.subarray(0, 2), Buffer.alloc(9, 0xff)])
    const answer = encodeReply(message, question, family, told)
    return over === 'udp' && answer.length > longestOverUdp ? cutOff(answer, question) : answer
  }

  const { udp, server } = await listen(tcp)
  udp.on('message', (message, { port, address }) => {
    const answer = reply(message, 'udp')
    if (answer !== null) udp.send(answer, port, address)
  })
  const sockets = new Set<Socket>()
  server?.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    readMessages(socket, (message) => {
      const answer = reply(message, 'tcp')
      const length = Buffer.alloc(2)
      length.writeUInt16BE(answer?.length ?? 0)
      if (answer !== null) socket.write(Buffer.concat([length, answer]))
    })
  })

  return {
    address: `127.0.0.1:${udp.address().port}`,
    queries,
    set: (name, script) => scripts.set(name.toLowerCase(), script),
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => udp.close(() => resolve()))
      await new Promise<void>((resolve) => (server === null ? resolve() : server.close(() => resolve())))
    },
  }
}

/** Tries until a port is free in both. */
async function listen(tcp: boolean): Promise<{ udp: UdpSocket; server: Server | null }> {
  for (;;) {
    const server = tcp ? createServer() : null
    if (server !== null) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const udp = createSocket('udp4')
    const port = (server?.address() as AddressInfo | undefined)?.port ?? 0
    const bound = await new Promise<boolean>((resolve) => {
      udp.once('error', () => resolve(false))
      udp.bind(port, '127.0.0.1', () => resolve(true))
    })
    if (bound) return { udp, server }
    udp.close()
    server?.close()
  }
}

/** RFC 1035, section 4.2.2: each message after its length. */
function readMessages(socket: Socket, onMessage: (message: Buffer) => void): void {
  let pending = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk])
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
      const end = 2 + pending.readUInt16BE(0)
      onMessage(pending.subarray(2, end))
      pending = pending.subarray(end)
    }
  })
}

/** The header, marked as truncated, and the question. */
function cutOff(answer: Buffer, question: Buffer): Buffer {
  const cut = Buffer.from(answer.subarray(0, 12 + question.length))
  cut.writeUInt16BE(cut.readUInt16BE(2) | 0x0200, 2)
  cut.writeUInt16BE(0, 6)
  return cut
}

function parseQuery(message: Buffer): { name: string; family: 4 | 6 | undefined; question: Buffer } {
  const labels: string[] = []
  let at = 12
  while (message[at] !== 0) {
    const length = message.readUInt8(at)
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return {
    name: labels.join('.').toLowerCase(),
    family: recordTypes[message.readUInt16BE(at + 1)],
    question: message.subarray(12, at + 5),
  }
}

function encodeReply(
  message: Buffer,
  question: Buffer,
  family: 4 | 6,
  reply: Exclude<DnsReply, 'silence' | 'garbage'>,
): Buffer {
  const header = Buffer.alloc(12)
  message.copy(header, 0, 0, 2)
  if (reply === 'mistaken') header.writeUInt16BE(header.readUInt16BE(0) ^ 1, 0)
  const code = typeof reply === 'string' && reply in responseCodes ? responseCodes[reply as ResponseCode] : 0
  header.writeUInt16BE(flags | code, 2)
  header.writeUInt16BE(1, 4)
  const records = typeof reply === 'string' ? [] : encodeRecords(reply, family)
  header.writeUInt16BE(records.length, 6)
  return Buffer.concat([header, question, ...records])
}

function encodeRecords(reply: Extract<DnsReply, object>, family: 4 | 6): Buffer[] {
  const { addresses, ttl = 0, aliases = [] } = reply
  // Owners of records: the question's name first, then each alias.
  const owners = [Buffer.from([0xc0, 0x0c]), ...aliases.map(({ to }) => encodeName(to))]
  const chain = aliases.map(({ ttl, to }, n) => encodeRecord(owners[n] as Buffer, 5, ttl, encodeName(to)))
  const owner = owners.at(-1) as Buffer
  const found = addresses
    .filter((address) => isIP(address) === family)
    .map((address) =>
      family === 4
        ? encodeRecord(owner, 1, ttl, Buffer.from(address.split('.').map(Number)))
        : encodeRecord(owner, 28, ttl, encodeIPv6(address)),
    )
  return [...chain, ...found]
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`))
  return Buffer.concat([...labels, Buffer.from([0])])
}

function encodeRecord(owner: Buffer, type: number, ttl: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt32BE(ttl, 4)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([owner, fixed, data])
}
