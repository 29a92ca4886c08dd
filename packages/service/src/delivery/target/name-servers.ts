/**
 * One question to the name servers: all addresses of a name. c-ares asks by itself, in the event loop; a look-up
 * by `getaddrinfo` would hold one of four threads for as long as a slow server takes.
 */

import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { isIP, isIPv6 } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { deliveryTuning } from '../tuning.ts'

type NameAnswer =
  | { readonly found: 'addresses'; readonly addresses: readonly string[]; readonly ttlSeconds: number }
  /** Of a name that exists (`noData`), or of none. */
  | { readonly found: 'nothing'; readonly noData: boolean }
  | { readonly found: 'failure'; readonly reason: string }

interface NameServers {
  /**
   * Both address families. Where one has answered with addresses, the other is waited for `graceMs` more, and its
   * answer stands alone if that one's query fails or is late (specification 9.2). Silence is asked again for as long as
   * the answer is `wanted`.
   */
  ask(name: string, graceMs: number, wanted: () => boolean): Promise<NameAnswer>
  close(): void
}

/** `ip:port,…` (DESKWIRE_DNS_SERVERS), the port 53 where none is given; undefined when one of them is neither. */
export function parseDnsServers(text: string): readonly string[] | undefined {
  const servers = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
  return servers.length > 0 && servers.every(isServer) ? servers : undefined
}

function isServer(text: string): boolean {
  const [, v6, v4, port = '53'] = /^(?:\[([\da-f:.]+)\]|([\d.]+))(?::(\d{1,5}))?$/i.exec(text) ?? []
  const address = v6 ?? v4
  if (address === undefined) return isIP(text) === 6
  return isIP(address) === (v6 === undefined ? 4 : 6) && Number(port) >= 1 && Number(port) <= 65_535
}

/**
 * The given servers (as `parseDnsServers` accepts them), or with null the system's. They are asked in their order: one that is
 * silent or not there is passed over by c-ares, and one that says that it cannot answer is passed over here.
 */
export function createNameServers(servers: readonly string[] | null): NameServers {
  const all = resolverOf(servers)
  const known = all.getServers()
  const single = known.length > 1 ? known.map((server) => resolverOf([server])) : []
  const resolvers = [all, ...single]

  async function askThese(
    these: readonly Resolver[],
    name: string,
    graceMs: number,
    wanted: () => boolean,
  ): Promise<NameAnswer> {
    let settled = false
    const more = () => !settled && wanted()
    const families = [
      firstAble(these, (resolver) => resolver.resolve4(name, { ttl: true }), more),
      firstAble(these, (resolver) => resolver.resolve6(name, { ttl: true }), more),
    ]
    const answers = await settleWithin(families, graceMs)
    settled = true
    return combine(answers)
  }

  /** The word of the first server that does not refer to others: that there is no data disables endpoints. */
  async function confirm(
    noData: NameAnswer,
    name: string,
    graceMs: number,
    wanted: () => boolean,
  ): Promise<NameAnswer> {
    let reason = silences.ETIMEOUT as string
    for (const [n, server] of known.entries()) {
      const said = await askOnce(server, name, confirmWithin)
      const resolver = single[n]
      if (said === 'answer')
        return resolver === undefined ? noData : askThese([resolver], name, graceMs, wanted)
      if (said === 'referral') reason = 'does not know its address, and does not resolve names by itself'
    }
    return { found: 'failure', reason }
  }

  return {
    async ask(name, graceMs, wanted) {
      const answer = await askThese(resolvers, name, graceMs, wanted)
      const unsure = answer.found === 'nothing' && answer.noData
      return unsure ? confirm(answer, name, graceMs, wanted) : answer
    },
    close() {
      for (const resolver of resolvers) resolver.cancel()
    },
  }
}

const { confirmWithin } = deliveryTuning.resolver

function resolverOf(servers: readonly string[] | null): Resolver {
  // The first try has a second, so that a lost packet costs little. Soon c-ares goes by how long a server took before: after
  // quick answers three tries are over in three seconds, whatever time is left. So `firstAble` asks on.
  const resolver = new Resolver({ timeout: 1000, tries: 3 })
  if (servers !== null) resolver.setServers([...servers])
  return resolver
}

type Records = readonly { readonly address: string; readonly ttl: number }[]

/**
 * The answer of the first that has one; the first one's failure if none has. One that is silent, all tries long, is asked
 * again while `more` is wanted: a name that takes long is answered in the end. The others were tried with it.
 */
async function firstAble(
  resolvers: readonly Resolver[],
  query: (resolver: Resolver) => Promise<Records>,
  more: () => boolean,
): Promise<NameAnswer> {
  let answer: FamilyAnswer = { found: 'nothing', noData: true }
  for (const resolver of resolvers) {
    let next = await family(query(resolver))
    while (next.found === 'failure' && next.timedOut && more()) next = await family(query(resolver))
    if (next.found !== 'failure') return next
    if (answer.found !== 'failure') answer = next
    if (!next.said) break
  }
  return answer
}

/** What the families said, one that is late by more than the grace as a failure. */
async function settleWithin(
  families: readonly Promise<NameAnswer>[],
  graceMs: number,
): Promise<NameAnswer[]> {
  const late: NameAnswer = { found: 'failure', reason: 'timed out' }
  const over = new AbortController()
  const firstAddresses = Promise.any(
    families.map(async (answer) => {
      if ((await answer).found !== 'addresses') throw new Error('no addresses')
    }),
  )
  const grace = firstAddresses.then(
    () => delay(graceMs, late, { signal: over.signal }).catch(() => late),
    // No family has addresses, so both have answered.
    () => late,
  )
  const answers = await Promise.all(families.map((answer) => Promise.race([answer, grace])))
  over.abort()
  return answers
}

function combine(answers: readonly NameAnswer[]): NameAnswer {
  const found = answers.filter((answer) => answer.found === 'addresses')
  if (found.length > 0) {
    return {
      found: 'addresses',
      addresses: [...new Set(found.flatMap(({ addresses }) => addresses))],
      ttlSeconds: Math.min(...found.map(({ ttlSeconds }) => ttlSeconds)),
    }
  }
  const failed = answers.find(({ found }) => found === 'failure')
  return (
    failed ?? { found: 'nothing', noData: answers.every((answer) => 'noData' in answer && answer.noData) }
  )
}

/** One server's, or with `said` false that no server said anything; with `timedOut`, not in the time of its tries. */
type FamilyAnswer =
  | Exclude<NameAnswer, { found: 'failure' }>
  | (Extract<NameAnswer, { found: 'failure' }> & { readonly said: boolean; readonly timedOut: boolean })

async function family(query: Promise<Records>): Promise<FamilyAnswer> {
  try {
    const records = await query
    if (records.length === 0) return { found: 'nothing', noData: true }
    return {
      found: 'addresses',
      addresses: records.map(({ address }) => address),
      ttlSeconds: Math.min(...records.map(({ ttl }) => ttl)),
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    // The name has no address of this family; or it does not exist, or is none that DNS could hold, which is definite.
    if (code === 'ENODATA') return { found: 'nothing', noData: true }
    if (code === 'ENOTFOUND' || code === 'EBADNAME') return { found: 'nothing', noData: false }
    const reason = excuses[code] ?? silences[code] ?? `failed (${code || (error as Error).message})`
    return { found: 'failure', reason, said: code in excuses, timedOut: code === 'ETIMEOUT' }
  }
}

/** What a server says that cannot answer. */
const excuses: Readonly<Record<string, string>> = {
  ESERVFAIL: 'answered that it failed (SERVFAIL)',
  EREFUSED: 'refused the query',
  EBADRESP: 'answered something malformed',
  EFORMERR: 'answered that the query is malformed',
  ENOTIMP: 'does not serve such queries',
}

/** Where none said anything. */
const silences: Readonly<Record<string, string>> = {
  ETIMEOUT: 'timed out',
  ECONNREFUSED: 'cannot be reached',
  ECANCELLED: 'was not waited for: the service is stopping',
}

/**
 * Whether a name server that has no data for a name means it. One that does not resolve by itself says whom to ask
 * instead, or which name to ask for, or nothing, and c-ares calls it all "no data"; the flags and the authority section,
 * which it keeps to itself, tell them apart. So the question is asked once more here, over UDP, and the answer read to the end.
 *
 * What it said: an answer, whatever it says of the name; that others have to be asked; or nothing that could be understood in time. */
type Said = 'answer' | 'referral' | 'nothing'

const addressRecord = 1
const nameServerRecord = 2
const startOfAuthority = 6

/** What a server (`ip` or `ip:port`, as a resolver lists it) says when it is asked for the IPv4 addresses of a name. */
function askOnce(server: string, name: string, timeoutMs: number): Promise<Said> {
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
