/**
 * Resolves a host and checks every address. Answers are cached for their TTL, 30 s at most; registration asks anew,
 * as its verdict is kept.
 */

import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { LruMap } from '../../kernel/lru-map.ts'
import { isWithin, type Networks } from '../../kernel/networks.ts'
import type { Clock } from '../../kernel/timestamps.ts'
import { deliveryTuning } from '../tuning.ts'
import { exempted, refusedBlock } from './address.ts'
import { createNameServers } from './name-servers.ts'

export type Resolution =
  /** IPv4 first, a few of each family: all were public or trusted. */
  | { readonly outcome: 'addresses'; readonly addresses: readonly string[] }
  /** At least one address is neither public nor trusted. `block`: its special-purpose block, for the operator only. */
  | { readonly outcome: 'not_public'; readonly detail: string; readonly block: string }
  | { readonly outcome: 'no_such_name'; readonly detail: string }
  | { readonly outcome: 'failed'; readonly detail: string }

interface ResolveOptions {
  readonly fresh: boolean
  /** Milliseconds after which the outcome is `failed`. */
  readonly timeoutMs: number
}

export interface Resolver {
  /** What `resolve` would return without a query; undefined when it needs one. */
  known(hostname: string): Resolution | undefined
  /** `hostname` as in a URL: a name, an IPv4 address, or an IPv6 address in brackets. Never rejects. */
  resolve(hostname: string, options: ResolveOptions): Promise<Resolution>
  close(): void
}

interface Lookup {
  readonly resolution: Resolution
  readonly usableMs: number
}

/** Goes on while somebody waits for it: a silent name server is asked again until then. */
interface Query {
  readonly answer: Promise<Resolution>
  waiting: number
}

const { usedFor, remembered, perFamily, grace } = deliveryTuning.resolver

export function createResolver(options: {
  readonly servers: readonly string[] | null
  readonly trusted: Networks
  readonly clock: Clock
  readonly hostsFile?: string
}): Resolver {
  const { servers, trusted, clock, hostsFile = systemHostsFile } = options
  const nameServers = createNameServers(servers)
  const localNames = createLocalNames(hostsFile)
  const cache = new LruMap<string, Lookup & { readonly from: number }>(remembered)
  const underWay = new Map<string, Query>()

  async function lookUp(name: string, timeoutMs: number, wanted: () => boolean): Promise<Lookup> {
    const local = localNames(name)
    if (local.length > 0) {
      // The operator's own list: if it has a trusted address (127.0.0.1 for localhost), no other is needed.
      const own = local.filter((address) => isWithin(address, exempted(trusted)))
      return { resolution: check(own.length > 0 ? own : local, trusted), usableMs: usedFor }
    }
    const answer = await nameServers.ask(name, Math.min(timeoutMs / 4, grace), wanted)
    switch (answer.found) {
      case 'addresses':
        return {
          resolution: check(answer.addresses, trusted),
          usableMs: Math.min(answer.ttlSeconds * 1000, usedFor),
        }
      case 'nothing':
        return unusable('no_such_name', `${name} does not exist`)
      case 'failure':
        return unusable('failed', `The name server asked for ${name} ${answer.reason}`)
    }
  }

  function known(name: string): Resolution | undefined {
    const entry = cache.get(name)
    if (entry === undefined)
      return isIP(name) === 0 ? undefined : keep(name, checkedAddress(name), clock.now())
    const age = clock.now() - entry.from
    // A clock that was set back says nothing about the age.
    if (age >= 0 && age < entry.usableMs) return entry.resolution
    cache.delete(name)
    return undefined
  }

  /** Only addresses that may be connected to are kept: a refusal disables the endpoint, and must be current. */
  function keep(name: string, { resolution, usableMs }: Lookup, from: number): Resolution {
    if (resolution.outcome === 'addresses' && usableMs > 0) cache.set(name, { resolution, from, usableMs })
    return resolution
  }

  function checkedAddress(address: string): Lookup {
    return { resolution: check([address], trusted), usableMs: usedFor }
  }

  function shared(name: string, timeoutMs: number): Query {
    const earlier = underWay.get(name)
    if (earlier !== undefined) return earlier
    const from = clock.now()
    const query: Query = {
      answer: lookUp(name, timeoutMs, () => query.waiting > 0)
        .then((found) => keep(name, found, from))
        .finally(() => underWay.delete(name)),
      waiting: 0,
    }
    underWay.set(name, query)
    return query
  }

  return {
    known: (hostname) => known(nameOf(hostname)),
    async resolve(hostname, { fresh, timeoutMs }) {
      const name = nameOf(hostname)
      if (isIP(name) !== 0) return check([name], trusted)
      if (!fresh) return known(name) ?? within(timeoutMs, name, shared(name, timeoutMs))
      // A caller that wants a fresh answer may know that the old one changed.
      cache.delete(name)
      const query: Query = {
        answer: lookUp(name, timeoutMs, () => query.waiting > 0).then(({ resolution }) => resolution),
        waiting: 0,
      }
      return within(timeoutMs, name, query)
    },
    close: () => nameServers.close(),
  }
}

function unusable(outcome: 'no_such_name' | 'failed', detail: string): Lookup {
  return { resolution: { outcome, detail }, usableMs: 0 }
}

/** A URL's `hostname` without brackets, trailing dot and upper case. */
function nameOf(hostname: string): string {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return (bare.endsWith('.') ? bare.slice(0, -1) : bare).toLowerCase()
}

/** Names neither the address nor its block: asked with many names, that would be a map of the internal network. */
export const notPublic = 'The URL leads to an address that is not public'

function check(addresses: readonly string[], trusted: Networks): Resolution {
  for (const address of addresses) {
    const block = refusedBlock(address, trusted)
    if (block !== null) return { outcome: 'not_public', detail: notPublic, block }
  }
  const ofFamily = (family: 4 | 6) => addresses.filter((address) => isIP(address) === family)
  const some = ([4, 6] as const).flatMap((family) => ofFamily(family).slice(0, perFamily))
  return { outcome: 'addresses', addresses: some }
}

async function within(timeoutMs: number, name: string, query: Query): Promise<Resolution> {
  const { promise: late, resolve } = Promise.withResolvers<Resolution>()
  const timer = setTimeout(resolve, timeoutMs, {
    outcome: 'failed',
    detail: `No name server answered for ${name} within ${timeoutMs} ms`,
  } satisfies Resolution)
  query.waiting++
  try {
    return await Promise.race([query.answer, late])
  } finally {
    query.waiting--
    clearTimeout(timer)
  }
}

const systemHostsFile =
  process.platform === 'win32'
    ? join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts'

/** The addresses of a name (lower case, no trailing dot) that need no query; empty when it has to be asked for. */
type LocalNames = (name: string) => readonly string[]

/** Reads the hosts file when it has changed; synchronously, as the threads of asynchronous reading may be busy. */
function createLocalNames(hostsFile: string): LocalNames {
  let version = ''
  let listed: ReadonlyMap<string, readonly string[]> = new Map()
  return (name) => {
    const { mtimeMs, size, ino } = statSync(hostsFile, { throwIfNoEntry: false }) ?? {}
    const found = `${mtimeMs} ${size} ${ino}`
    if (found !== version) {
      listed = parse(mtimeMs === undefined ? '' : readIfAllowed(hostsFile))
      version = found
    }
    const addresses = listed.get(name)
    if (addresses !== undefined) return addresses
    return name === 'localhost' || name.endsWith('.localhost') ? ['127.0.0.1', '::1'] : []
  }
}

function readIfAllowed(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function parse(text: string): Map<string, readonly string[]> {
  const listed = new Map<string, readonly string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/)
    // An address with a zone reaches this machine's own links at most.
    if (isIP(address) === 0 || address.includes('%')) continue
    for (const name of names) listed.set(name, [...new Set([...(listed.get(name) ?? []), address])])
  }
  return listed
}
