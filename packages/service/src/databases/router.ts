/**
 * Which of several databases answers a request: the home of its organization, as the directory has it (`directory.ts`). What the
 * directory said is kept, so that it is asked for a token once, and can be away; and is never relied on: each home is asked whether
 * it serves the organization, by the look-up of the token and by every change. One that does not says so, and then the directory is asked
 * anew, while the request waits (decision 65).
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Caller, LookUp, TokenLookup } from '../auth/look-up.ts'
import { hashToken } from '../auth/token.ts'
import { LruMap } from '../kernel/lru-map.ts'
import type { Clock } from '../kernel/timestamps.ts'
import type { Directory, Owner } from './directory.ts'

/** One of the databases, for whom it is asked about. */
interface RoutedDatabase {
  /** As the directory calls it. */
  readonly name: string
  readonly lookUp: (token: string) => Promise<TokenLookup>
  /** Whether it can be used: it has this release's schema, and the encryption key of this process. */
  readonly isReady: () => boolean
  /** Whether it answers, as it was a moment ago. */
  readonly answers: () => Promise<boolean>
}

/** The database that has the organization cannot be used. Nothing was asked of it. */
export class DatabaseUnavailable extends Error {}

export interface DatabaseRouter {
  /** Whom a token belongs to, with the place of the home. @throws DatabaseUnavailable */
  readonly lookUp: LookUp
  /** The place of the home in which this token is; null where nobody knows it. @throws DatabaseUnavailable */
  placeOf(token: string): Promise<number | null>
  /** The caller, with the home that the directory knows now: the one that it had does not serve the organization. @throws DatabaseUnavailable */
  follow(caller: Caller): Promise<Caller>
  /** What was said of the organization is not to be believed any more; of all, when none is named. */
  forget(organizationId: string | null): void
}

/** Tokens and organizations of which is kept what the directory has said; the longest unused are forgotten. */
const keptAtMost = 100_000
/** For how long it is, in milliseconds. */
const goodFor = 60_000
/** How long a home may take for a look-up before it is taken to be away, in milliseconds: its own organizations wait, and no others. */
const answersWithin = 3_000
/** How often, and how far apart in milliseconds, two are asked that both say that they do not serve an organization. */
const tries = 40
const triesApart = 25

interface Known extends Pick<Owner, 'database' | 'moves'> {
  readonly readAt: number
}

export function createDatabaseRouter(options: {
  readonly directory: Pick<Directory, 'ownerOf' | 'homeOf'>
  /** In their order, the directory's first. */
  readonly homes: readonly [RoutedDatabase, ...RoutedDatabase[]]
  readonly clock: Clock
}): DatabaseRouter {
  const { directory, homes, clock } = options
  const [first] = homes
  const places = new Map(homes.map(({ name }, place) => [name, place]))
  const organizations = new LruMap<string, string>(keptAtMost)
  const residences = new LruMap<string, Known>(keptAtMost)
  /** DatabaseRouter that let a look-up wait for too long, until they answer again. */
  const silent = new Set<RoutedDatabase>()

  async function ownerOf(hash: string): Promise<Owner | null> {
    const organizationId = organizations.get(hash)
    const known = organizationId === undefined ? undefined : residences.get(organizationId)
    if (organizationId === undefined || known === undefined) return learnOwner(hash)
    const age = clock.now() - known.readAt
    if (age < 0 || age >= goodFor) {
      // Looked at again beside the request: who is known goes on without the directory.
      residences.set(organizationId, { ...known, readAt: clock.now() })
      void learnOwner(hash).catch(() => {})
    }
    return { organizationId, ...known }
  }

  async function learnOwner(hash: string): Promise<Owner | null> {
    const owner = await answered(usable(first.name).home, directory.ownerOf(hash))
    if (owner === null) organizations.delete(hash)
    else {
      organizations.set(hash, owner.organizationId)
      learn(owner.organizationId, owner)
    }
    return owner
  }

  function learn(organizationId: string, { database, moves }: Pick<Owner, 'database' | 'moves'>): void {
    // Of two answers that cross, the later move is right.
    if ((residences.get(organizationId)?.moves ?? -1) > moves) return
    residences.set(organizationId, { database, moves, readAt: clock.now() })
  }

  /** @throws DatabaseUnavailable */
  function usable(database: string): { readonly home: RoutedDatabase; readonly place: number } {
    const place = places.get(database)
    const home = place === undefined ? undefined : homes[place]
    if (home === undefined || place === undefined)
      throw new DatabaseUnavailable(`the database ${database} is not one that this process was given`)
    if (!home.isReady()) throw new DatabaseUnavailable(`the database ${database} is not ready`)
    if (silent.has(home)) {
      void home.answers().then((does) => does && silent.delete(home))
      throw new DatabaseUnavailable(`the database ${database} does not answer`)
    }
    return { home, place }
  }

  /** What it answers, in time. @throws DatabaseUnavailable, as a rejection */
  function answered<A>(home: RoutedDatabase, answer: Promise<A>): Promise<A> {
    const { promise, resolve, reject } = Promise.withResolvers<A>()
    const late = setTimeout(() => {
      silent.add(home)
      reject(new DatabaseUnavailable(`the database ${home.name} does not answer`))
    }, answersWithin)
    answer.then(resolve, reject).finally(() => clearTimeout(late))
    return promise
  }

  return {
    async lookUp(token) {
      const hash = hashToken(token)
      for (let n = 0; ; n++) {
        const isNews = !residences.has(organizations.get(hash) ?? '')
        const owner = await ownerOf(hash)
        if (owner === null) return { outcome: 'unknown' }
        const { home, place } = usable(owner.database)
        const found = await answered(home, home.lookUp(token))
        if (found.outcome === 'elsewhere') {
          if (n === tries) throw new DatabaseUnavailable('no database serves the organization')
          residences.delete(owner.organizationId)
          if (n > 0) await delay(triesApart)
          continue
        }
        if (found.outcome === 'unknown') {
          // Revoked; or of an organization that has moved, and of which nothing is left where it was.
          organizations.delete(hash)
          residences.delete(owner.organizationId)
          if (isNews) return found
          continue
        }
        return 'caller' in found ? { ...found, caller: { ...found.caller, home: place } } : found
      }
    },

    async placeOf(token) {
      const owner = await ownerOf(hashToken(token))
      return owner === null ? null : usable(owner.database).place
    },

    async follow(caller) {
      const { organizationId } = caller
      const residence = await answered(usable(first.name).home, directory.homeOf(organizationId))
      if (residence === null) throw new DatabaseUnavailable('no database has the organization')
      residences.delete(organizationId)
      learn(organizationId, residence)
      return { ...caller, home: usable(residence.database).place }
    },

    forget(organizationId) {
      if (organizationId !== null) residences.delete(organizationId)
      // Kept for when the directory does not answer.
      else for (const [id, known] of [...residences]) residences.set(id, { ...known, readAt: 0 })
    },
  }
}
