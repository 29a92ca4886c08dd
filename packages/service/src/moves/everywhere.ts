/**
 * Lists, suspends and deletes organizations of several databases. Moves leave copies that are not served. A change is
 * made in all databases, first in the organization's own, where it takes effect; if one cannot be reached the command
 * fails, and running it again does the rest.
 */
import type { Pool } from 'pg'
import type { Directory } from '../databases/directory.ts'
import { explainDatabaseFailure, explainFailureOf } from '../db/failure.ts'
import type { Clock } from '../kernel/timestamps.ts'
import { DeletionError, deleteOrganization, removeRows } from '../organization/deletion.ts'
import {
  listOrganizations,
  type OrganizationCopy,
  type OrganizationStatus,
} from '../organization/organization.ts'
import {
  markCopy,
  resumeOrganization,
  type SuspensionOutcome,
  suspendOrganization,
} from '../organization/suspension.ts'
import { asMover, endCapture } from './capture.ts'

export interface Member {
  /** Null for a single one. */
  readonly name: string | null
  readonly pool: Pool
  readonly prepare: () => Promise<unknown>
}

export interface Everywhere {
  /** The directory's first. */
  readonly databases: readonly [Member, ...Member[]]
  readonly directory: Pick<Directory, 'databaseOf' | 'forget' | 'forgetCreation'>
}

/** The change is not complete in every database; the message says where, and what to do. */
export class UnfinishedError extends Error {}

export type ListedOrganization = OrganizationStatus & { readonly database: string | null }

interface Listing {
  /** The name of the only database whose organizations are listed; default: all. */
  readonly only?: string | null
  /** The only organization that is listed; default: all. */
  readonly organizationId?: string | null
  /** Aborts between two databases. */
  readonly signal?: AbortSignal
}

/** The organizations of these databases, the oldest first. One with nothing but copies is being deleted. */
export async function listEverywhere(
  { databases: all, directory }: Everywhere,
  { only = null, organizationId = null, signal }: Listing = {},
): Promise<readonly ListedOrganization[]> {
  const databases = only === null ? all : all.filter(({ name }) => name === only)
  const held: (OrganizationCopy & { database: string | null })[] = []
  for (const database of new Set([all[0], ...databases])) {
    signal?.throwIfAborted()
    await prepared(database)
    if (!databases.includes(database)) continue
    for (const one of await listOrganizations(database.pool, organizationId))
      held.push({ ...one, database: database.name })
  }
  const served = new Set(held.flatMap((one) => (one.isServedElsewhere ? [] : [one.organizationId])))
  const listed = new Map<string, ListedOrganization>()
  for (const { isServedElsewhere, ...one } of held) {
    if (!isServedElsewhere) listed.set(one.organizationId, one)
    else if (!served.has(one.organizationId) && !listed.has(one.organizationId)) {
      const own = await directory.databaseOf(one.organizationId)
      // It has left one database and is about to arrive in the other.
      if (own?.database === (one.database ?? '')) listed.set(one.organizationId, one)
      else if (own === null || databases.some(({ name }) => name === own.database))
        listed.set(one.organizationId, { ...one, status: 'deleting' })
    }
  }
  return [...listed.values()].sort((a, b) =>
    a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0,
  )
}

/** Suspends or resumes it in its own database, and marks its copies. @throws UnfinishedError */
export async function changeEverywhere(
  everywhere: Everywhere,
  clock: Clock,
  organizationId: string,
  to: 'suspended' | 'active',
): Promise<SuspensionOutcome> {
  const [own, ...others] = await ownDatabaseFirst(everywhere, organizationId)
  if (own === null) return 'unknown'
  const change = to === 'suspended' ? suspendOrganization : resumeOrganization
  const outcome = await change(own.pool, clock, organizationId)
  if (outcome !== 'done' && outcome !== 'unchanged') return outcome
  await inEach(
    others,
    ({ pool }) => markCopy(pool, organizationId, to === 'suspended' ? clock.now() : null, asMover),
    `organization ${organizationId} is ${to}, but a copy of it there is not`,
  )
  return outcome
}

interface DeleteEverywhereOptions {
  readonly onPiece?: (rows: number) => void
  /**
   * Called before anything is deleted, with the organization in its own database; null without one. Rejects to delete
   * nothing.
   */
  readonly confirm?: (standing: OrganizationStatus | null) => Promise<void>
}

/**
 * Deletes all rows in all databases and returns their number; null when there are none. @throws DeletionError,
 * UnfinishedError
 */
export async function deleteEverywhere(
  everywhere: Everywhere,
  clock: Clock,
  organizationId: string,
  { onPiece = () => {}, confirm = async () => {} }: DeleteEverywhereOptions = {},
): Promise<number | null> {
  const [own, ...others] = await ownDatabaseFirst(everywhere, organizationId)
  await confirm(own === null ? null : ((await listOrganizations(own.pool, organizationId))[0] ?? null))
  // First, so that a repetition of its creation cannot create it again meanwhile.
  await everywhere.directory.forgetCreation(organizationId)
  let gone = 0
  const removed = async ({ pool }: Member) => {
    gone += await deleteFrom(pool, clock, organizationId, (rows) => onPiece(gone + rows))
  }
  if (own !== null) await removed(own)
  await inEach(others, removed, `what it has of organization ${organizationId} is still there`)
  // Last, so that an interrupted deletion can be found.
  await everywhere.directory.forget(organizationId)
  return own === null && gone === 0 ? null : gone
}

async function deleteFrom(
  pool: Pool,
  clock: Clock,
  organizationId: string,
  onPiece: (rows: number) => void,
): Promise<number> {
  const [held] = await listOrganizations(pool, organizationId)
  // The triggers of a move would refuse the change.
  if (held?.isServedElsewhere === true) await endCapture(pool, organizationId)
  const rows = held && (await deleteOrganization(pool, clock, organizationId, { onPiece }))
  if (rows != null) return rows
  let left = 0
  await removeRows(pool, organizationId, {
    onRows(rows) {
      left += rows
    },
  })
  return left
}

/**
 * Its own database (null if the directory knows none), then all others. @throws DeletionError while it leaves its own.
 */
async function ownDatabaseFirst(
  { databases, directory }: Everywhere,
  organizationId: string,
): Promise<readonly [Member | null, ...Member[]]> {
  await prepared(databases[0])
  const placement = await directory.databaseOf(organizationId)
  if (placement === null) return [null, ...databases]
  const own = databases.find(({ name }) => (name ?? '') === placement.database)
  if (own === undefined)
    throw new UnfinishedError(
      `organization ${organizationId} lives in the database ${placement.database}: name it in DESKWIRE_DATABASES, with all others`,
    )
  await prepared(own)
  const { rows } = await own.pool.query<{ target: string }>(
    `select m.target from organization_moves m where m.organization_id = $1 and m.state = 'left'`,
    [organizationId],
  )
  if (rows[0] !== undefined)
    throw new DeletionError(
      `organization ${organizationId} is being moved to ${rows[0].target}: finish that first, with deskwire organizations move ${organizationId} --to ${rows[0].target}`,
    )
  return [own, ...databases.filter((other) => other !== own)]
}

/** Runs the work on each database; a failure of one does not stop the others. */
async function inEach(
  databases: readonly Member[],
  work: (database: Member) => Promise<unknown>,
  otherwise: string,
): Promise<void> {
  const failed: string[] = []
  for (const database of databases) {
    try {
      await prepared(database)
      await work(database)
    } catch (error) {
      const reason = error instanceof UnfinishedError ? error.message : whyUnusable(database, error)
      if (reason === null) throw error
      failed.push(reason)
    }
  }
  if (failed.length > 0)
    throw new UnfinishedError(`${failed.join('; ')}; ${otherwise}: run it again when it answers`)
}

/** @throws UnfinishedError when the database cannot be used. */
async function prepared(database: Member): Promise<void> {
  try {
    await database.prepare()
  } catch (error) {
    const reason = whyUnusable(database, error)
    throw reason === null ? error : new UnfinishedError(reason, { cause: error })
  }
}

function whyUnusable({ name }: Member, error: unknown): string | null {
  return name === null ? explainDatabaseFailure(error) : explainFailureOf(name, error)
}
