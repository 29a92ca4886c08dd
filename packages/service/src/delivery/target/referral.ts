/**
 * Whether a name server that has no data for a name means it. One that does not resolve by itself says whom to ask
 * instead, or which name to ask for, or nothing, and c-ares calls it all "no data"; the flags and the authority section,
 * which it keeps to itself, tell them apart. So the question is asked once more here, over UDP, and the answer read to the end.
 */
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'

/** An answer, whatever it says of the name; that others have to be asked; or nothing that could be understood in time. */
export type Said = 'answer' | 'referral' | 'nothing'

const addressRecord = 1
const nameServerRecord = 2
const startOfAuthority = 6

/** What a server (`ip` or `ip:port`, as a resolver lists it) says when it is asked for the IPv4 addresses of a name. */
export function askOnce(server: string, name: string, timeoutMs: number): Promise<Said> {
  const [, bracketed, plain, port = '53'] = /^(?:\[(.+)\]|([\d.]+))(?::(\d+))?$/.exec(server) ?? []
  const address = bracketed ?? plain ?? server
  const query = encodeQuery(name)
  const { promise, resolve } = Promise.withResolvers<Said>()
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  const timer = setTimeout(resolve, timeoutMs, 'nothing')
  socket.on('error', () => resolve('nothing'))
  socket.on('message', (message, from) => {
    // Anybody may send a datagram here.
    const fromServer = from.address === address && from.port === Number(port)
    if (fromServer && answers(message, query)) resolve(readReply(message, query.length))
  })
  socket.send(query, Number(port), address)
  return promise.finally(() => {
    clearTimeout(timer)
    socket.close()
  })
}

function encodeQuery(name: string): Buffer {
  const header = Buffer.alloc(12)
  randomBytes(2).copy(header)
  header.writeUInt16BE(0x0100, 2) // Recursion is desired.
  header.writeUInt16BE(1, 4)
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`))
  return Buffer.concat([header, ...labels, Buffer.from([0, 0, addressRecord, 0, 1])])
}

function answers(message: Buffer, query: Buffer): boolean {
  const question = (bytes: Buffer) => bytes.toString('latin1', 12, query.length).toLowerCase()
  return (
    message.length >= query.length &&
    message.readUInt16BE(0) === query.readUInt16BE(0) &&
    message.readUInt8(2) >= 0x80 &&
    question(message) === question(query)
  )
}

/**
 * RFC 2308, section 2.2: that there is no data is certain with the SOA of the zone. Without it, it is the word of a server that
 * resolves names, unless it names others; one that does not resolve has an alias to elsewhere, or simply does not know.
 */
function readReply(message: Buffer, end: number): Said {
  const flags = message.readUInt16BE(2)
  const code = flags & 0x000f
  const authoritative = (flags & 0x0400) !== 0
  const resolves = (flags & 0x0080) !== 0
  const truncated = (flags & 0x0200) !== 0
  if (truncated || (code !== 0 && code !== 3)) return 'nothing'
  if (code === 3) return 'answer'
  try {
    const [found, authority] = readTypes(message, end)
    if (found.has(addressRecord) || authority.has(startOfAuthority)) return 'answer'
    return resolves && (authoritative || !authority.has(nameServerRecord)) ? 'answer' : 'referral'
  } catch {
    // It ends before its records do.
    return 'nothing'
  }
}

/** The types of the records that answer, and of those for authority. */
function readTypes(message: Buffer, start: number): readonly [Set<number>, Set<number>] {
  let at = start
  const section = (count: number) => {
    const types = new Set<number>()
    for (let n = 0; n < count; n++) {
      at = endOfName(message, at)
      types.add(message.readUInt16BE(at))
      at += 10 + message.readUInt16BE(at + 8)
    }
    return types
  }
  return [section(message.readUInt16BE(6)), section(message.readUInt16BE(8))]
}

/** A name is labels, the last of them empty or a pointer to where it goes on. */
function endOfName(message: Buffer, start: number): number {
  for (let at = start; ; ) {
    const length = message.readUInt8(at)
    if (length >= 0xc0) return at + 2
    at += 1 + length
    if (length === 0) return at
  }
}
