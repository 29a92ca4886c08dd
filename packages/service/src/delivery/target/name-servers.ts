/**
 * One question to the name servers: all addresses of a name. c-ares asks by itself, in the event loop; a look-up
 * by `getaddrinfo` would hold one of four threads for as long as a slow server takes.
 */

import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

type NameAnswer =
  | { readonly found: 'addresses'; readonly addresses: readonly string[]; readonly ttlSeconds: number }
  /** The name does not exist. */
  | { readonly found: 'nothing' }
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

  return {
    async ask(name, graceMs, wanted) {
      let settled = false
      const more = () => !settled && wanted()
      const families = [
        firstAble(resolvers, (resolver) => resolver.resolve4(name, { ttl: true }), more),
        firstAble(resolvers, (resolver) => resolver.resolve6(name, { ttl: true }), more),
      ]
      const answers = await settleWithin(families, graceMs)
      settled = true
      return combine(answers)
    },
    close() {
      for (const resolver of resolvers) resolver.cancel()
    },
  }
}

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
  let failure: FamilyAnswer | undefined
  for (const resolver of resolvers) {
    let next = await family(query(resolver))
    while (next.found === 'failure' && next.timedOut && more()) next = await family(query(resolver))
    if (next.found !== 'failure') return next
    failure ??= next
    if (!next.excused) break
  }
  return failure as FamilyAnswer
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
  return answers.find(({ found }) => found === 'failure') ?? { found: 'nothing' }
}

/** A failure with `excused`: the server cannot answer, and another may; with `timedOut`: none answered in the time of its tries. */
type FamilyAnswer =
  | Exclude<NameAnswer, { found: 'failure' }>
  | (Extract<NameAnswer, { found: 'failure' }> & { readonly excused: boolean; readonly timedOut: boolean })

async function family(query: Promise<Records>): Promise<FamilyAnswer> {
  // Also of an alias whose end has no address.
  let code = 'ENODATA'
  try {
    const records = await query
    if (records.length > 0) {
      return {
        found: 'addresses',
        addresses: records.map(({ address }) => address),
        ttlSeconds: Math.min(...records.map(({ ttl }) => ttl)),
      }
    }
  } catch (error) {
    code = (error as NodeJS.ErrnoException).code ?? (error as Error).message
  }
  // The name does not exist, or is none that DNS could hold.
  if (code === 'ENOTFOUND' || code === 'EBADNAME') return { found: 'nothing' }
  const reason = excuses[code] ?? failures[code] ?? `failed (${code})`
  return { found: 'failure', reason, excused: code in excuses, timedOut: code === 'ETIMEOUT' }
}

/** What a server says that cannot answer. */
const excuses: Readonly<Record<string, string>> = {
  ESERVFAIL: 'answered that it failed (SERVFAIL)',
  EREFUSED: 'refused the query',
  EBADRESP: 'answered something malformed',
  EFORMERR: 'answered that the query is malformed',
  ENOTIMP: 'does not serve such queries',
}

const failures: Readonly<Record<string, string>> = {
  // c-ares says so of a referral too, so it proves nothing.
  ENODATA: 'has no address for it',
  ETIMEOUT: 'timed out',
  ECONNREFUSED: 'cannot be reached',
  ECANCELLED: 'was not waited for: the service is stopping',
}
