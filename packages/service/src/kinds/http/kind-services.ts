/** Composes the kinds: their readers, and the routes of all of them. */
import type { Pool } from 'pg'
import type { Database } from '../../db/fair-pool.ts'
import { type BoundRoutes, bindRoutes } from '../../http/route.ts'
import { createFeed } from '../../journal/feed.ts'
import type { Journal } from '../../journal/journal.ts'
import { createRangeDigestReader } from '../../journal/range-digests.ts'
import { createRowReader } from '../../journal/rows.ts'
import { createReadClocks, createWaitingReaders, type WaitingReaders } from '../../journal/waiting-readers.ts'
import { createKeyedQueue } from '../../kernel/keyed-queue.ts'
import type { Clock } from '../../kernel/timestamps.ts'
import { createChanges } from '../model/changes.ts'
import { namedReferences } from '../model/imports.ts'
import type { Kind } from '../model/kind.ts'
import type { Rows } from '../model/units.ts'
import { createBatch } from './batch.ts'
import { createBrowse } from './browse.ts'
import { kindApi } from './routes.ts'
import { joinedFeeds, streamApi } from './stream-routes.ts'

interface DeskOptions {
  readonly pool: Pool
  readonly database: Database
  readonly clock: Clock
  readonly kinds: readonly Kind[]
  readonly journal: Journal
  readonly searchTimeout: number
  readonly erasePayloads: (organizationId: string) => Promise<void>
}

/** The caller notifies `readers` of commits. */
export function kindRoutes(options: DeskOptions): {
  readonly parts: readonly BoundRoutes[]
  readonly readers: WaitingReaders
} {
  const { pool, database, clock, kinds, journal } = options
  const readers = createWaitingReaders(createReadClocks(pool))
  const rows = createRows(database, kinds)
  const queue = createKeyedQueue()
  const parts = kinds.map((kind) => {
    const writing = { kind, journal, rows, clock, queue }
    const services = {
      rows: rows(kind),
      stream: {
        feed: createFeed(database, kind.table),
        kinds: new Set([kind.name]),
        readers,
      },
      browse: createBrowse(database, kind, options.searchTimeout),
      changes: createChanges(writing),
      batch: createBatch({ ...writing, references: namedReferences(kind, kinds) }),
      lines: createFeed(database, kind.table, 'lines'),
      digests: createRangeDigestReader(database, kind.table),
      database,
      clock,
      erasePayloads: options.erasePayloads,
    }
    return bindRoutes(() => kindApi(kind, kinds).routes, services)
  })
  const stream = { feedOf: joinedFeeds(database, kinds), readers }
  return { parts: [...parts, bindRoutes(() => streamApi(kinds).routes, stream)], readers }
}

function createRows(database: Database, kinds: readonly Kind[]): Rows {
  const readers = new Map(kinds.map((kind) => [kind.name, createRowReader(database, kind.table)]))
  return ({ name }) => {
    const reader = readers.get(name)
    if (reader === undefined) throw new Error(`this installation has no ${name}`)
    return reader
  }
}
