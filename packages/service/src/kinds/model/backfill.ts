/**
 * Upgrades rows of earlier releases to the current version of their kind. The journal writes them with a stamp, so that
 * copies get them, but without an event, as nothing happened. The rows show which remain, so it can be interrupted. One
 * process of an installation runs it at a time.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { isHeldElsewhere } from '../../db/failure.ts'
import type { SchemaFunction } from '../../db/migration.ts'
import { transaction } from '../../db/pool.ts'
import { timestampText } from '../../journal/body.ts'
import type { Change } from '../../journal/change.ts'
import { defaultLimits } from '../../journal/group-commit.ts'
import { createJournal } from '../../journal/journal.ts'
import { createNotifier } from '../../journal/notifier.ts'
import {
  countOutdated,
  type OutdatedRow,
  organizationsWith,
  organizationsWithOutdated,
  readOutdated,
} from '../../journal/outdated.ts'
import { nilUuid } from '../../kernel/ids.ts'
import { loggable } from '../../kernel/log.ts'
import { periodic } from '../../kernel/periodic.ts'
import type { Clock } from '../../kernel/timestamps.ts'
import { mapYielding } from '../../kernel/yielding.ts'
import type { Kind } from './kind.ts'
import { parseRepresentation, upgrading } from './representation.ts'
import { documentVersion, searchTerms } from './search.ts'

export interface Backfill {
  /** Upgrades all outdated rows, and looks again every minute until stopped. */
  start(): void
  /** Ends after the piece under way, for which it waits at most 5 s. */
  stop(): Promise<void>
  /** Returns the number of upgraded rows: 0 where another process runs it. Rejects when the signal aborts. */
  run(signal?: AbortSignal): Promise<number>
}

/** As many as a commit has, so that writers do not wait longer for a piece than for another commit. */
const rowsAtOnce = 32
/** In milliseconds, from the end of a run to the next: processes of an earlier release may still write. */
const every = 60_000
/** In milliseconds, for the piece under way. */
const stopWithin = 5_000
/** Per kind and run: a wrong upgrade may fail for millions. */
const failuresLogged = 10
/** Of its advisory lock: any constant that nothing else on the server uses. */
const lockNumber = 673_720_111

/**
 * With a journal of its own. Writes of `pool` must be durable when acknowledged, as they are part of the stream. Takes
 * two connections.
 */
export function createBackfill(services: {
  readonly pool: Pool
  readonly clock: Clock
  readonly log: FastifyBaseLogger
  readonly kinds: readonly Kind[]
  readonly commitFunction: SchemaFunction
  /** How far the clock may be ahead of the database's, in milliseconds; default: no limit. */
  readonly maxClockSkew?: number
}): Backfill {
  const { log, kinds, ...journalParts } = services
  const { pool, clock } = journalParts
  const journal = createJournal({
    ...journalParts,
    tables: kinds.map(({ table }) => table),
    // Its commits have no events, so no deliveries.
    maxAttempts: 1,
    notifier: createNotifier(pool, (error) =>
      log.warn({ err: loggable(error) }, 'workers and readers could not be notified of upgraded rows'),
    ),
    // Gives up at once where an organization's clock is held, so that others need not wait.
    limits: { ...defaultLimits, giveUpAfter: 0 },
  })
  const loop = periodic({
    every,
    stopWithin,
    run: async (signal) => {
      await run(signal)
    },
    onFailure: (error) => log.warn({ err: loggable(error) }, 'the upgrade of rows failed; it will go on'),
  })
  return { start: loop.start, stop: loop.stop, run }

  async function run(signal?: AbortSignal): Promise<number> {
    let upgraded = 0
    await unlessElsewhere(pool, lockNumber, async () => {
      for (const kind of kinds) {
        // Most kinds have never changed.
        if (kind.upgrades.length > 0) upgraded += await upgradeKind(kind, signal)
        const unindexed = await organizationsToReindex(pool, kind)
        const reindex = (organizationId: string, after: string | null) =>
          reindexPiece(pool, kind, organizationId, after)
        const documents = await inPieces(unindexed, reindex, signal)
        if (documents > 0) log.info({ kind: kind.name, documents }, 'search documents were written again')
      }
    })
    return upgraded
  }

  async function upgradeKind(kind: Kind, signal: AbortSignal | undefined): Promise<number> {
    const found = await organizationsWithOutdated(pool, kind.table)
    if (found.length === 0) return 0
    const { version } = kind.table
    log.info({ kind: kind.name, version, organizations: found.length }, 'rows are being upgraded')
    let failed = 0
    const onFailure: OnFailure = (row, why) => {
      if (failed++ < failuresLogged) log.warn({ kind: kind.name, ...row, ...why }, 'a row cannot be upgraded')
    }
    const upgrade = (organizationId: string, after: string | null) =>
      upgradePiece(kind, organizationId, after, onFailure)
    const upgraded = await inPieces(found, upgrade, signal)
    log.info({ kind: kind.name, version, rows: upgraded, failed }, 'rows were upgraded')
    return upgraded
  }

  /** A piece of each organization in turn, until none has rows left or all are busy. Returns what was changed. */
  async function inPieces(
    organizations: readonly string[],
    change: (organizationId: string, after: string | null) => Promise<Piece | 'busy'>,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    /** By organization, the last row of the pieces so far. */
    const positions = new Map<string, string | null>(organizations.map((id) => [id, null]))
    let changed = 0
    for (let busy = 0; positions.size > busy; ) {
      busy = 0
      for (const [organizationId, after] of positions) {
        signal?.throwIfAborted()
        const piece = await change(organizationId, after)
        if (piece === 'busy') busy++
        else {
          changed += piece.changed
          if (piece.last === null) positions.delete(organizationId)
          else positions.set(organizationId, piece.last)
        }
      }
    }
    return changed
  }

  /** Upgrades the rows after `after`. `last`: the last of them; null when there are no more. */
  async function upgradePiece(
    kind: Kind,
    organizationId: string,
    after: string | null,
    onFailure: OnFailure,
  ): Promise<Piece | 'busy'> {
    const rows = await readOutdated(pool, kind.table, organizationId, after, rowsAtOnce)
    const changes = await mapYielding(rows, (row) => changeOf(kind, organizationId, row, onFailure))
    const commits = changes.flatMap((change) =>
      change === null ? [] : [commit(organizationId, change, onFailure)],
    )
    const outcomes = await Promise.allSettled(commits)
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined && isHeldElsewhere(failed.reason)) return 'busy'
    if (failed !== undefined) throw failed.reason
    const changed = outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value).length
    return { changed, last: rows.length < rowsAtOnce ? null : (rows.at(-1)?.id ?? null) }
  }

  /** Null for a row that cannot be upgraded: it stays as it is, and the others continue. */
  function changeOf(
    kind: Kind,
    organizationId: string,
    row: OutdatedRow,
    onFailure: OnFailure,
  ): Change | null {
    try {
      return upgrading(kind, clock, row)
    } catch (error) {
      onFailure({ organizationId, id: row.id }, { err: loggable(error as Error) })
      return null
    }
  }

  /** Whether the row was upgraded. A row that was changed meanwhile is current. */
  async function commit(organizationId: string, change: Change, onFailure: OnFailure): Promise<boolean> {
    const outcome = await journal.commit(organizationId, change)
    if (outcome.outcome === 'refused' && outcome.error.reason === 'duplicate')
      onFailure({ organizationId, id: change.id }, { reason: 'another row has a value that it would get' })
    return outcome.outcome === 'done'
  }
}

interface Piece {
  readonly changed: number
  /** The last row of it; null when there are no more. */
  readonly last: string | null
}

type OnFailure = (
  row: { readonly organizationId: string; readonly id: string },
  why: { readonly err: unknown } | { readonly reason: string },
) => void

export const outdatedCounted = 100_000

/** Counts up to `outdatedCounted` of each kind. A kind that never changed is not queried. */
export async function outdatedRows(
  pool: Pool,
  kinds: readonly Kind[],
): Promise<readonly { readonly kind: string; readonly rows: number }[]> {
  return Promise.all(
    kinds.map(async ({ name, table }) => ({
      kind: name,
      rows: table.version === 1 ? 0 : await countOutdated(pool, table, outdatedCounted),
    })),
  )
}

/**
 * Runs work unless another process of the installation is running it. `lockNumber`: a constant that no other work locks
 * by. The session lock ends with its process. Uses one connection of the pool.
 */
async function unlessElsewhere(pool: Pool, lockNumber: number, work: () => Promise<void>): Promise<void> {
  const client = await pool.connect()
  let unlocked = false
  try {
    const { rows } = await client.query<{ mine: boolean }>(
      `select pg_try_advisory_lock(${lockNumber}) as mine`,
    )
    if (rows[0]?.mine) {
      await work()
      await client.query(`select pg_advisory_unlock(${lockNumber})`)
    }
    unlocked = true
  } finally {
    // Closing a session that may hold the lock releases it.
    client.release(!unlocked)
  }
}

const isOutdated = `left(t.terms, ${documentVersion.length}) <> '${documentVersion}'`

/** Organizations with such documents. */
function organizationsToReindex(pool: Pool, { table }: Kind): Promise<readonly string[]> {
  if (!table.searchable) return Promise.resolve([])
  return organizationsWith(pool, `${table.name}_words`, isOutdated)
}

/** As many as writers of the organization can wait for. */
const documentsAtOnce = 32

/** Writes the documents after the id `after`. `last`: the last of them; null when there are no more. */
async function reindexPiece(
  pool: Pool,
  kind: Kind,
  organizationId: string,
  after: string | null,
): Promise<{ readonly changed: number; readonly last: string | null } | 'busy'> {
  const { name } = kind.table
  const { rows } = await pool.query<OutdatedRow>(
    `select r.id, r.body, ${timestampText('r.updated_at')} as "updatedAt", r.body_version as version
       from (select t.organization_id, t.id from ${name}_words t
           where t.organization_id = $1 and t.id > $2 and ${isOutdated} order by t.id limit ${documentsAtOnce}) o
         join ${name} r on r.organization_id = o.organization_id and r.id = o.id order by r.id`,
    [organizationId, after ?? nilUuid],
  )
  const terms = await mapYielding(rows, (row) => termsOf(kind, row))
  try {
    return await transaction(pool, async (tx) => {
      // No writer commits meanwhile, and a row that has changed since has a document of that change.
      await tx.query(`set local lock_timeout = '250ms'`)
      await tx.query('select 1 from organization_clocks c where c.organization_id = $1 for update', [
        organizationId,
      ])
      const { rowCount } = await tx.query(
        `update ${name}_words w set terms = n.terms
           from unnest($2::uuid[], $3::timestamptz[], $4::text[]) as n(id, updated_at, terms)
             join ${name} r on r.organization_id = $1 and r.id = n.id and r.updated_at = n.updated_at
           where w.organization_id = $1 and w.id = n.id and n.terms is not null and ${isOutdated.replace('t.', 'w.')}`,
        [organizationId, rows.map(({ id }) => id), rows.map(({ updatedAt }) => updatedAt), terms],
      )
      const last = rows.length < documentsAtOnce ? null : (rows.at(-1)?.id ?? null)
      return { changed: rowCount ?? 0, last }
    })
  } catch (error) {
    if (isHeldElsewhere(error)) return 'busy'
    throw error
  }
}

/** Null for a row that cannot be read, as upgrading it fails. */
function termsOf(kind: Kind, row: OutdatedRow): string | null {
  try {
    return searchTerms(kind, parseRepresentation(kind, row).state)
  } catch {
    return null
  }
}
