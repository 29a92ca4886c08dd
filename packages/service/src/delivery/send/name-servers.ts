/**
 * Asks for all addresses of a name by c-ares: `getaddrinfo` would hold one of four threads for as long as a slow server
 * takes.
 */

import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

type NameAnswer =
  | { readonly found: 'addresses'; readonly addresses: readonly string[]; readonly ttlSeconds: number }
  | { readonly found: 'nothing' }
  | { readonly found: 'failure'; readonly reason: string }

/** `ip:port,…` (DESKWIRE_DNS_SERVERS), default port 53; undefined when an entry is invalid. */
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
 * `servers` in the order of asking; null for the system's. c-ares skips a silent one; this skips one that says that it
 * cannot answer.
 */
export function createNameServers(servers: readonly string[] | null) {
  const all = resolverOf(servers)
  const known = all.getServers()
  const single = known.length > 1 ? known.map((server) => resolverOf([server])) : []
  const resolvers = [all, ...single]

  return {
    /**
     * Asks for both address families. Once one has addresses, the other is waited for `graceMs` more and may be missing
     * (specification 9.2). A server that is silent is asked again while the answer is `wanted`.
     */
    async ask(name: string, graceMs: number, wanted: () => boolean): Promise<NameAnswer> {
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
    close(): void {
      for (const resolver of resolvers) resolver.cancel()
    },
  }
}

function resolverOf(servers: readonly string[] | null): Resolver {
  // Soon after quick answers c-ares shortens its tries and gives up early, so `firstAble` asks again.
  const resolver = new Resolver({ timeout: 1000, tries: 3 })
  if (servers !== null) resolver.setServers([...servers])
  return resolver
}

type Records = readonly { readonly address: string; readonly ttl: number }[]

/** The first answer, else the first failure. A query that timed out is asked again while `more` is wanted. */
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

/** The families' answers; one that is late by more than the grace is a failure. */
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

/** `excused`: the server cannot answer, and another may. `timedOut`: no server answered in the time of its tries. */
type FamilyAnswer =
  | Exclude<NameAnswer, { found: 'failure' }>
  | (Extract<NameAnswer, { found: 'failure' }> & { readonly excused: boolean; readonly timedOut: boolean })

async function family(query: Promise<Records>): Promise<FamilyAnswer> {
  // Also for an alias of a name without addresses.
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
  // The name does not exist, or is invalid in DNS.
  if (code === 'ENOTFOUND' || code === 'EBADNAME') return { found: 'nothing' }
  const reason = excuses[code] ?? failures[code] ?? `failed (${code})`
  return { found: 'failure', reason, excused: code in excuses, timedOut: code === 'ETIMEOUT' }
}

const excuses: Readonly<Record<string, string>> = {
  ESERVFAIL: 'answered that it failed (SERVFAIL)',
  EREFUSED: 'refused the query',
  EBADRESP: 'answered something malformed',
  EFORMERR: 'answered that the query is malformed',
  ENOTIMP: 'does not serve such queries',
}

const failures: Readonly<Record<string, string>> = {
  // c-ares also reports a referral like this, so it proves nothing.
  ENODATA: 'has no address for it',
  ETIMEOUT: 'timed out',
  ECONNREFUSED: 'cannot be reached',
  ECANCELLED: 'was not waited for: the service is stopping',
}
