/** The kinds as a running whole: one journal that writes them, their readers, and the routes of all of them. */
import type { FastifyInstance } from 'fastify'
import type { Pool } from 'pg'
import type { Database } from './db/fair-pool.ts'
import type { SchemaFunction } from './db/migration.ts'
import type { Announcer } from './journal/announcer.ts'
import { createReadClocks } from './journal/clocks.ts'
import { type Checkpoints, createFeed, createJoinedFeed } from './journal/feed.ts'
import { type CallUnderClock, type CommitObserver, createJournal } from './journal/journal.ts'
import { createRowReader } from './journal/rows.ts'
import { type Feeds, shareWaiting } from './journal/shared-feed.ts'
import { createWaitingReaders, type WaitingReaders } from './journal/waiting-readers.ts'
import type { Clock } from './kernel/clock.ts'
import { createKeyedQueue } from './kernel/keyed-queue.ts'
import { createBatch } from './resource/batch.ts'
import { createBrowse } from './resource/browse.ts'
import { registerBulkRoutes } from './resource/bulk-routes.ts'
import { createChanges } from './resource/changes.ts'
import type { Rows } from './resource/creations.ts'
import type { Kind } from './resource/kind.ts'
import { registerKindRoutes } from './resource/routes.ts'
import { streamResource } from './resource/stream-resource.ts'
import { registerStreamRoutes } from './resource/stream-routes.ts'

export interface DeskOptions {
  readonly pool: Pool
  readonly database: Database
  readonly clock: Clock
  readonly kinds: readonly Kind[]
  readonly commitFunction: SchemaFunction
  /** Attempts that each delivery has. */
  readonly maxAttempts: number
  /** Told of commits. */
  readonly announcer: Announcer
  readonly onCommit: CommitObserver
  readonly maxLead?: number
}

/** Registers the routes of all kinds. Readers that wait are woken by whoever hears of commits: that is the caller. */
export function registerDesk(
  server: FastifyInstance,
  options: DeskOptions,
  access: Parameters<typeof registerKindRoutes>[2],
): {
  readonly readers: WaitingReaders
  readonly callUnderClock: CallUnderClock
  /** Changes that wait for their organization's clock, or are being committed. */
  readonly pending: () => number
} {
  const { pool, database, clock, kinds } = options
  const tables = kinds.map((kind) => kind.table)
  const journal = createJournal({ ...options, tables })
  const readers = createWaitingReaders(createReadClocks(pool))
  // Whoever waits is sent home before the server waits for them.
  server.addHook('preClose', (done) => {
    readers.end()
    done()
  })
  const rows = createRows(database, kinds)
  const queue = createKeyedQueue()
  for (const kind of kinds) {
    const writing = { kind, journal, rows, clock, queue }
    const services = {
      kind,
      rows: rows(kind),
      stream: {
        ...shareWaiting(createFeed(database, kind.table)),
        kinds: new Set([kind.name]),
        readers,
      },
      browse: createBrowse(database, kind),
      changes: createChanges(writing),
    }
    registerKindRoutes(server, services, access)
    const bulk = { kind, batch: createBatch(writing), lines: createFeed(database, kind.table, '\n') }
    registerBulkRoutes(server, bulk, access)
  }
  registerStreamRoutes(server, { kinds, feedsOf: joinedFeeds(database), readers }, access)
  return { readers, callUnderClock: journal.callUnderClock, pending: journal.pending }
}

/** A reader of rows for each kind. */
function createRows(database: Database, kinds: readonly Kind[]): Rows {
  const readers = new Map(kinds.map((kind) => [kind.name, createRowReader(database, kind.table)]))
  return ({ name }) => {
    const reader = readers.get(name)
    if (reader === undefined) throw new Error(`this installation has no ${name}`)
    return reader
  }
}

/** Feeds of several kinds, each made when it is first asked for. */
function joinedFeeds(database: Database) {
  const known = new Map<string, Feeds<Checkpoints>>()
  return (kinds: readonly Kind[]) => {
    const resource = streamResource(kinds.map(({ name }) => name))
    const tables = kinds.map(({ table }) => table)
    const feeds = known.get(resource) ?? shareWaiting(createJoinedFeed(database, resource, tables))
    known.set(resource, feeds)
    return feeds
  }
}
