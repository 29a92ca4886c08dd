/**
 * Finds the shard of a request: that of its organization, from the directory (`directory.ts`). Its answers are cached
 * but never relied on: the shard checks that it serves the organization, in the look-up of the token and in every
 * change. If it does not, the directory is asked again while the request waits (decision 65).
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Caller, Lookup, TokenLookup } from '../auth/authenticator.ts'
import { hashToken } from '../auth/token.ts'
import { LruMap } from '../kernel/lru-map.ts'
import type { Clock } from '../kernel/timestamps.ts'
import type { Directory, Owner } from './directory.ts'

interface RoutedDatabase {
  readonly name: string
  readonly lookUp: (token: string) => Promise<TokenLookup>
  /** Whether it has this release's schema, and the encryption key of this process. */
  readonly isReady: () => boolean
  /** Whether it answered a moment ago. */
  readonly answers: () => Promise<boolean>
}

/** The shard of the organization cannot be used. Nothing was sent to it. */
export class DatabaseUnavailable extends Error {}

const cachedAtMost = 100_000
/** Milliseconds for which answers are cached. */
const goodFor = 60_000
/**
 * Milliseconds that a shard may take for a look-up; after that it counts as unavailable, so that only its organizations
 * wait.
 */
const respondsWithin = 3_000
/** How often, and how far apart in milliseconds, to ask again when no shard serves the organization. */
const tries = 40
const triesApart = 25

interface Known extends Pick<Owner, 'database' | 'moves'> {
  readonly readAt: number
}

export type DatabaseRouter = ReturnType<typeof createDatabaseRouter>

export function createDatabaseRouter(options: {
  readonly directory: Pick<Directory, 'ownerOf' | 'databaseOf'>
  /** In their order, the directory's first. */
  readonly shards: readonly [RoutedDatabase, ...RoutedDatabase[]]
  readonly clock: Clock
}) {
  const { directory, shards, clock } = options
  const [first] = shards
  const indexes = new Map(shards.map(({ name }, index) => [name, index]))
  const organizations = new LruMap<string, string>(cachedAtMost)
  const placements = new LruMap<string, Known>(cachedAtMost)
  /** Shards whose look-up took too long, until they answer again. */
  const silent = new Set<RoutedDatabase>()

  async function ownerOf(hash: string): Promise<Owner | null> {
    const organizationId = organizations.get(hash)
    const known = organizationId === undefined ? undefined : placements.get(organizationId)
    if (organizationId === undefined || known === undefined) return learnOwner(hash)
    const age = clock.now() - known.readAt
    if (age < 0 || age >= goodFor) {
      // Refreshed in the background: a request of a known organization does not wait for the directory.
      placements.set(organizationId, { ...known, readAt: clock.now() })
      void learnOwner(hash).catch(() => {})
    }
    return { organizationId, ...known }
  }

  async function learnOwner(hash: string): Promise<Owner | null> {
    const owner = await answered(usable(first.name).shard, directory.ownerOf(hash))
    if (owner === null) organizations.delete(hash)
    else {
      organizations.set(hash, owner.organizationId)
      learn(owner.organizationId, owner)
    }
    return owner
  }

  function learn(organizationId: string, { database, moves }: Pick<Owner, 'database' | 'moves'>): void {
    // Of two concurrent answers, the one with more moves is right.
    if ((placements.get(organizationId)?.moves ?? -1) > moves) return
    placements.set(organizationId, { database, moves, readAt: clock.now() })
  }

  /** @throws DatabaseUnavailable */
  function usable(database: string): { readonly shard: RoutedDatabase; readonly index: number } {
    const index = indexes.get(database)
    const shard = index === undefined ? undefined : shards[index]
    if (shard === undefined || index === undefined)
      throw new DatabaseUnavailable(`the database ${database} is not one that this process was given`)
    if (!shard.isReady()) throw new DatabaseUnavailable(`the database ${database} is not ready`)
    if (silent.has(shard)) {
      void shard.answers().then((does) => does && silent.delete(shard))
      throw new DatabaseUnavailable(`the database ${database} does not answer`)
    }
    return { shard, index }
  }

  /** Limits the time of an answer. @throws DatabaseUnavailable, as a rejection */
  function answered<A>(shard: RoutedDatabase, answer: Promise<A>): Promise<A> {
    const { promise, resolve, reject } = Promise.withResolvers<A>()
    const late = setTimeout(() => {
      silent.add(shard)
      reject(new DatabaseUnavailable(`the database ${shard.name} does not answer`))
    }, respondsWithin)
    answer.then(resolve, reject).finally(() => clearTimeout(late))
    return promise
  }

  return {
    /** The owner of a token, with the index of the shard. @throws DatabaseUnavailable */
    async lookUp(token: string): Promise<Lookup> {
      const hash = hashToken(token)
      for (let n = 0; ; n++) {
        const isNews = !placements.has(organizations.get(hash) ?? '')
        const owner = await ownerOf(hash)
        if (owner === null) return { outcome: 'unknown' }
        const { shard, index } = usable(owner.database)
        const found = await answered(shard, shard.lookUp(token))
        if (found.outcome === 'elsewhere') {
          if (n === tries) throw new DatabaseUnavailable('no database serves the organization')
          placements.delete(owner.organizationId)
          if (n > 0) await delay(triesApart)
          continue
        }
        if (found.outcome === 'unknown') {
          // Revoked; or the organization has moved, and its rows were removed here.
          organizations.delete(hash)
          placements.delete(owner.organizationId)
          if (isNews) return found
          continue
        }
        return 'caller' in found ? { ...found, caller: { ...found.caller, shard: index } } : found
      }
    },

    /** The index of the token's shard; null for an unknown token. @throws DatabaseUnavailable */
    async shardOf(token: string): Promise<number | null> {
      const owner = await ownerOf(hashToken(token))
      return owner === null ? null : usable(owner.database).index
    },

    /**
     * The caller with its current shard, as the earlier one does not serve the organization. @throws
     * DatabaseUnavailable
     */
    async follow(caller: Caller): Promise<Caller> {
      const { organizationId } = caller
      const placement = await answered(usable(first.name).shard, directory.databaseOf(organizationId))
      if (placement === null) throw new DatabaseUnavailable('no database has the organization')
      placements.delete(organizationId)
      learn(organizationId, placement)
      return { ...caller, shard: usable(placement.database).index }
    },

    /** Drops what is cached of the organization; null: of all. */
    forget(organizationId: string | null): void {
      if (organizationId !== null) placements.delete(organizationId)
      // They stay usable when the directory does not answer.
      else for (const [id, known] of [...placements]) placements.set(id, { ...known, readAt: 0 })
    },
  }
}
