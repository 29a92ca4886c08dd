/**
 * Moves an organization to another database while it is in use (decision 66). The progress is stored in the two
 * databases alone: a move that was killed continues when it is run again. While a database does not answer, the move
 * waits.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { recheckAfter } from '../auth/authenticator.ts'
import type { Directory } from '../databases/directory.ts'
import { explainDatabaseFailure } from '../db/failure.ts'
import { type Clock, stopwatch } from '../kernel/timestamps.ts'
import { deleteOrganization, removeRows } from '../organization/deletion.ts'
import { logWeeks, makeSameLogWeeks } from '../retention/log-weeks.ts'
import { beginCapture, endCapture } from './capture.ts'
import { unexpiredRows } from './compare.ts'
import { compareStep, copyStep, type Sides } from './copy.ts'
import { arrive, type FenceLimits, type Hook, leave } from './cutover.ts'
import { MoveError, type Names, requireMovable } from './requirements.ts'
import { movingTables } from './tables.ts'

export { MoveError }

export interface Databases {
  readonly pools: ReadonlyMap<string, Pool>
  readonly directory: Pick<Directory, 'databaseOf' | 'note' | 'cutOver'>
  /** Of the first of them. */
  readonly clock: Clock
}

interface Progress {
  readonly phase: 'copying' | 'comparing' | 'turning' | 'waiting'
  readonly rows: number
}

export interface MoveOptions {
  readonly onProgress?: (progress: Progress) => void
  readonly rowsAStep?: number
  /** Milliseconds to wait for a database that does not answer. */
  readonly patience?: number
  readonly between?: Hook
  readonly fence?: FenceLimits
}

interface Moved {
  readonly outcome: 'moved' | 'unchanged'
  readonly from: string
  readonly to: string
  readonly rows: number
  /** Milliseconds that writers of the organization waited for the cutover; null when an earlier run made it. */
  readonly paused: number | null
}

/** Attempts at the cutover, a second apart; one fails when a long write is under way. */
const cutoversTried = 60
/** Changes that may be copied while writers wait, in some hundredths of a second. */
const fewChanges = 500
/** With more changes than this, a move that was interrupted starts again: one step reads all their keys into memory. */
const maxChanges = 300_000
/** Steps until the changes are few. If writers are as fast as the steps, they wait longer for the cutover. */
const stepsToFew = 20
/** Milliseconds to wait for delivery attempts before the cutover; longer ones are repeated. */
const drainWithin = 2_000
/** Milliseconds from then on in which no delivery begins, also when the mover dies. */
const drainFor = 5_000
const failuresAtMost = 200
/** Milliseconds between tries while a database does not answer. */
const triesApart = 500

/**
 * Moves the organization to the database `to`, or finishes an interrupted move. @throws MoveError when it cannot be
 * moved.
 */
export async function moveOrganization(
  databases: Databases,
  organizationId: string,
  to: string,
  options: MoveOptions = {},
): Promise<Moved> {
  const { onProgress = () => {}, patience = 60_000 } = options
  const run: Run = { runner: randomUUID(), rows: 0, failures: 0, heard: stopwatch() }
  for (;;) {
    try {
      return await goOn(databases, organizationId, to, options, run)
    } catch (error) {
      if (!isPassing(error) || run.heard() > patience || ++run.failures > failuresAtMost) throw error
      onProgress({ phase: 'waiting', rows: run.rows })
      await delay(triesApart)
    }
  }
}

interface Run {
  readonly runner: string
  rows: number
  failures: number
  heard: () => number
}

/** The connection broke, or the server is short of something. */
function isPassing(error: unknown): boolean {
  if (error instanceof MoveError) return false
  if (error instanceof DatabaseError) return /^(08|40|53|55P03|57|25P0[34])/.test(error.code ?? '')
  return explainDatabaseFailure(error) !== null
}

async function goOn(
  databases: Databases,
  organizationId: string,
  to: string,
  options: MoveOptions,
  run: Run,
): Promise<Moved> {
  const { between = () => {}, onProgress = () => {} } = options
  const { from, source, target } = await sidesOf(databases, organizationId, to)
  if (from === to) return { outcome: 'unchanged', from, to, rows: run.rows, paused: null }
  const departed = { organizationId, source, target, from, to, directory: databases.directory }
  const departure = await readDeparture(source, organizationId)
  if (departure !== null && departure.target !== to)
    throw new MoveError(
      `organization ${organizationId} is being moved to ${departure.target}: finish that, or take it back with --abort`,
    )
  if (departure !== null && departure.state !== 'copying') {
    await arrive(departed, between)
    return { outcome: 'moved', from, to, rows: run.rows, paused: null }
  }
  await requireMovable(source, target, organizationId, { from, to })
  const client = await holdMove(source, organizationId)
  try {
    const sides = await begin(
      { organizationId, source, target, runner: run.runner, names: { from, to } },
      between,
    )
    await copy(sides, databases.clock, options, run)
    onProgress({ phase: 'turning', rows: run.rows })
    const waited = await cutOver(sides, run, between, options.fence)
    await between('left')
    await arrive(departed, between, sides.tables)
    return { outcome: 'moved', from, to, rows: run.rows, paused: waited() }
  } finally {
    client.release(true)
  }
}

async function sidesOf({ pools, directory }: Databases, organizationId: string, to: string) {
  const placement = await directory.databaseOf(organizationId)
  if (placement === null) throw new MoveError(`there is no organization ${organizationId}`)
  return { from: placement.database, source: poolOf(pools, placement.database), target: poolOf(pools, to) }
}

function poolOf(pools: Databases['pools'], name: string): Pool {
  const pool = pools.get(name)
  if (pool !== undefined) return pool
  throw new MoveError(
    `there is no database ${name}: DESKWIRE_DATABASES names ${[...pools.keys()].join(', ')}`,
  )
}

async function readDeparture(source: Pool, organizationId: string) {
  const { rows } = await source.query<{ target: string; state: 'copying' | 'left' | 'arrived' }>(
    'select m.target, m.state from organization_moves m where m.organization_id = $1',
    [organizationId],
  )
  return rows[0] ?? null
}

/** An advisory lock number that nothing else on the server uses. */
const moverLock = 673_720_166

/** Milliseconds for which a killed mover may seem to be there. */
const moverGoneWithin = 5_000

/** Ensures that there is one mover of an organization; the connection holds the lock. */
async function holdMove(source: Pool, organizationId: string): Promise<PoolClient> {
  const client = await source.connect()
  const elapsed = stopwatch()
  try {
    do {
      const { rows } = await client.query<{ mine: boolean }>(
        `select pg_try_advisory_lock(${moverLock}, hashtext($1)) as mine`,
        [organizationId],
      )
      if (rows[0]?.mine === true) return client
      await delay(100)
    } while (elapsed() < moverGoneWithin)
  } catch (error) {
    client.release(true)
    throw error
  }
  client.release()
  throw new MoveError(`somebody else is moving organization ${organizationId} just now`)
}

/**
 * Lets the source note changes and the target store the progress. Starts again unless everything since the last run was
 * noted.
 */
async function begin(parties: Omit<Sides, 'tables'>, between: Hook): Promise<Sides> {
  const { organizationId, source, target, runner } = parties
  const { from, to }: Names = parties.names
  const tables = await movingTables(source)
  const sides = { ...parties, tables }
  await source.query(
    `insert into organization_moves as m (organization_id, target, state, runner, began_at) values ($1, $2, 'copying', $3, now())
       on conflict (organization_id) do update set runner = excluded.runner where m.state = 'copying'`,
    [organizationId, to, runner],
  )
  await between('noted')
  const unbroken = await beginCapture(source, organizationId, tables)
  await between('capturing')
  const { rowCount } = await target.query(
    'update organization_arrivals set runner = $2 where organization_id = $1 and source = $3',
    [organizationId, runner, from],
  )
  if (unbroken && rowCount === 1 && (await fewEnough(sides))) return sides
  // Some changes were not noted, so the copy cannot be continued.
  await clear(target, organizationId)
  await source.query('delete from move_changes where organization_id = $1', [organizationId])
  await between('cleared')
  await makeSameLogWeeks(target, source)
  await target.query(
    'insert into organization_arrivals (organization_id, source, runner) values ($1, $2, $3)',
    [organizationId, from, runner],
  )
  return sides
}

/** Whether the changes since the last run fit into one step; otherwise a new copy is faster. */
async function fewEnough({ source, organizationId }: Sides): Promise<boolean> {
  const { rows } = await source.query<{ few: boolean }>(
    'select count(*) <= $2 as few from (select 1 from move_changes c where c.organization_id = $1 limit $2 + 1) c',
    [organizationId, maxChanges],
  )
  return rows[0]?.few === true
}

/** Removes an unfinished copy: the target has no such organization. */
async function clear(target: Pool, organizationId: string): Promise<void> {
  const { rowCount } = await target.query('select 1 from organizations o where o.organization_id = $1', [
    organizationId,
  ])
  if (rowCount !== 0) throw new Error(`organization ${organizationId} is no unfinished copy`)
  await removeRows(target, organizationId)
}

/** Copies until the target differs from the source by a few changes. */
async function copy(sides: Sides, clock: Clock, options: MoveOptions, run: Run): Promise<void> {
  const { onProgress = () => {}, between = () => {}, rowsAStep } = options
  const made = async (step: ReturnType<typeof copyStep>) => {
    const done = await step
    run.rows += done.rows
    run.heard = stopwatch()
    const phase = done.complete && !done.compared ? 'comparing' : 'copying'
    onProgress({ phase, rows: run.rows })
    await between(phase)
    return done
  }
  let step = await made(copyStep(sides, rowsAStep))
  while (!step.complete) step = await made(copyStep(sides, rowsAStep))
  if (!step.compared) {
    const weeks = await Promise.all([logWeeks(sides.source), logWeeks(sides.target)])
    step = await made(compareStep(sides, unexpiredRows(clock.now(), weeks)))
  }
  for (let n = 0; n < stepsToFew && (n === 0 || step.changes > fewChanges); n++)
    step = await made(copyStep(sides))
}

/**
 * Retries until the organization has left. Returns a stopwatch of the time that writers have waited, in milliseconds.
 */
async function cutOver(
  sides: Sides,
  run: Run,
  between: Hook,
  fence: FenceLimits | undefined,
): Promise<() => number> {
  for (let tries = 1; ; tries++) {
    await drain(sides)
    await between('drained')
    await copyStep(sides)
    const waited = await leave(sides, between, fence)
    if (waited !== 'busy') return waited
    if (tries === cutoversTried)
      throw new MoveError(
        'somebody has written for so long whenever the organization was to be turned: move it later',
      )
    run.heard = stopwatch()
    await delay(1_000)
    await copyStep(sides)
  }
}

/** Lets delivery attempts under way end, and no other begin. */
async function drain({ source, organizationId }: Sides): Promise<void> {
  await source.query(
    `update organization_moves set draining_until = clock_timestamp() + interval '${drainFor} milliseconds'
       where organization_id = $1`,
    [organizationId],
  )
  const elapsed = stopwatch()
  while (elapsed() < drainWithin) {
    const { rowCount } = await source.query(
      'select 1 from endpoint_queues l where l.organization_id = $1 and l.lease_id is not null limit 1',
      [organizationId],
    )
    if (rowCount === 0) return
    await delay(20)
  }
}

/** Aborts a move before its cutover: removes the copy and the triggers. */
export async function abortMove(databases: Databases, organizationId: string): Promise<'aborted' | 'none'> {
  const placement = await databases.directory.databaseOf(organizationId)
  if (placement === null) throw new MoveError(`there is no organization ${organizationId}`)
  const source = poolOf(databases.pools, placement.database)
  const departure = await readDeparture(source, organizationId)
  if (departure === null) return 'none'
  if (departure.state !== 'copying')
    throw new MoveError(
      `organization ${organizationId} has left for ${departure.target} already: finish the move with deskwire organizations move ${organizationId} --to ${departure.target}`,
    )
  const client = await holdMove(source, organizationId)
  try {
    const target = databases.pools.get(departure.target)
    // Nothing is removed from a database that the settings no longer name.
    if (target !== undefined) await clear(target, organizationId)
    await endCapture(source, organizationId)
    await source.query('delete from move_changes where organization_id = $1', [organizationId])
    await source.query(`delete from organization_moves where organization_id = $1 and state = 'copying'`, [
      organizationId,
    ])
    return 'aborted'
  } finally {
    client.release(true)
  }
}

/**
 * Removes the rows that a finished move left in a database; returns how many. @throws MoveError if they are served, or
 * there are none.
 */
export async function dropSource(
  databases: Databases,
  organizationId: string,
  database: string,
  onPiece?: (rows: number) => void,
): Promise<number> {
  const placement = await databases.directory.databaseOf(organizationId)
  const pool = poolOf(databases.pools, database)
  if (placement?.database === database)
    throw new MoveError(`organization ${organizationId} lives in ${database}`)
  const { rows } = await pool.query<{ away: string | null }>(
    'select o.away from organizations o where o.organization_id = $1',
    [organizationId],
  )
  if (rows[0] === undefined)
    throw new MoveError(`${database} holds nothing of organization ${organizationId}`)
  if (rows[0].away === null)
    throw new MoveError(
      `${database} would serve organization ${organizationId} too, which lives in ${placement?.database ?? 'no database'}: see the guide on several databases`,
    )
  // A request that was let in before the move and reads after this looks again where the organization is.
  await delay(2 * recheckAfter)
  await endCapture(pool, organizationId)
  return (
    (await deleteOrganization(
      pool,
      databases.clock,
      organizationId,
      onPiece === undefined ? {} : { onPiece },
    )) ?? 0
  )
}
