/**
 * The cutover: one commit ends the source's service of an organization, and another begins the target's.
 *
 * 1. **Fence.** One transaction in the source takes the clock row, for which every commit waits, and the lock of all
 * other writers (`capture.ts`). It copies the last changes, puts the rows that make the organization work next to the
 * target's tables, and compares counts and digests. If it fails, it is rolled back and nothing has changed; the fence
 * of a dead mover lasts three seconds at most.
 *
 * 2. **Departure.** The same transaction records that the organization has left, and commits. The source now refuses
 * every write, and no database serves the organization.
 *
 * 3. **Arrival.** One commit moves the waiting rows into their tables, and the directory is changed. Any process that
 * finds this not done does it; it can be repeated.
 */

import type { FastifyBaseLogger } from 'fastify'
import { escapeIdentifier, type Pool, type PoolClient } from 'pg'
import { sessionSettings } from '../backup/backup.ts'
import type { Directory } from '../databases/directory.ts'
import { isHeldElsewhere } from '../db/failure.ts'
import { type Tx, transaction } from '../db/pool.ts'
import { deliveriesChannel, encodeDeliveries } from '../journal/notifier.ts'
import { loggable } from '../kernel/log.ts'
import { type Periodic, periodic } from '../kernel/periodic.ts'
import { stopwatch } from '../kernel/timestamps.ts'
import { asMover, fenceOf } from './capture.ts'
import { lastStep, type Sides } from './copy.ts'
import { MoveError, requireSameKey } from './requirements.ts'
import { type MovingTable, movingTables } from './tables.ts'

export interface FenceLimits {
  /** To wait for writers that are under way; meanwhile others wait too. */
  readonly within: number
  /** Until it ends when the mover is silent, or a statement of it does not end. */
  readonly lastsFor: number
}

export const fenceLimits: FenceLimits = { within: 500, lastsFor: 3_000 }

/** Called between the steps, for tests. */
export type Hook = (step: string) => Promise<void> | void

/**
 * 'busy', without an effect, after a wait of `within`. Returns a stopwatch of the time that writers have waited, in
 * milliseconds.
 */
export async function leave(
  sides: Sides,
  between: Hook,
  limits: FenceLimits = fenceLimits,
): Promise<(() => number) | 'busy'> {
  const { organizationId, source, target, tables, runner, names } = sides
  const client = await source.connect()
  let failed = true
  try {
    await client.query('begin')
    await client.query(
      [...sessionSettings, ...fenceSettings(limits)].map((setting) => `set local ${setting}`).join('; '),
    )
    await client.query(asMover, [organizationId])
    const waited = stopwatch()
    if (!(await takeFence(client, organizationId))) return 'busy'
    await between('fenced')
    await requireRunner(client, organizationId, runner)
    await transaction(target, async (tx) => {
      await lastStep({ source: client, target: tx }, sides)
      await requireSameKey(client, tx, names)
      await copyWorkingRows(client, tx, organizationId, tables)
    })
    await between('brought')
    await stopWork(client, organizationId)
    await between('leaving')
    await client.query('commit')
    failed = false
    return waited
  } catch (error) {
    if (isHeldElsewhere(error)) return 'busy'
    throw error
  } finally {
    // Closing it ends the transaction, and with it the fence.
    client.release(failed)
  }
}

const fenceSettings = ({ within, lastsFor }: FenceLimits) => [
  `lock_timeout = '${within}ms'`,
  `statement_timeout = '${lastsFor}ms'`,
  `idle_in_transaction_session_timeout = '${lastsFor}ms'`,
]

/**
 * The clock, and the rows that the fence changes, in the order in which others lock them. A writer that waits for the
 * fence has locked the row that it is about to change, so the fence locks its own rows first.
 */
const lockedFirst = [
  'select 1 from organization_clocks c where c.organization_id = $1 for update',
  'select 1 from organizations o where o.organization_id = $1 for no key update',
  'select 1 from endpoint_queues l where l.organization_id = $1 order by l.webhook_id for update',
  `select 1 from api_keys k where k.organization_id = $1 and k.expires_at is not null and k.expiry_settled_at is null
     order by k.id for no key update`,
  'select 1 from summary_jobs j where j.organization_id = $1 order by j.conversation_id for update',
]

async function takeFence(client: PoolClient, organizationId: string): Promise<boolean> {
  try {
    for (const locked of lockedFirst) await client.query(locked, [organizationId])
    await client.query(`select pg_advisory_xact_lock(${fenceOf('$1::text')})`, [organizationId])
    return true
  } catch (error) {
    if (isHeldElsewhere(error)) return false
    throw error
  }
}

async function requireRunner(client: PoolClient, organizationId: string, runner: string): Promise<void> {
  const { rowCount } = await client.query(
    `select 1 from organization_moves m where m.organization_id = $1 and m.runner = $2 and m.state = 'copying'
       and not exists (select 1 from organizations o where o.organization_id = $1 and o.deletion_began_at is not null) for update`,
    [organizationId, runner],
  )
  if (rowCount !== 1)
    throw new MoveError('somebody else has begun to move the organization: this run has ended')
}

/** Copies the rows that make the organization work to the target, where they wait in the order of insertion. */
async function copyWorkingRows(
  source: PoolClient,
  target: Tx,
  organizationId: string,
  tables: readonly MovingTable[],
): Promise<void> {
  await target.query('delete from moved_rows where organization_id = $1', [organizationId])
  let place = 0
  for (const { name, atCutover } of tables) {
    if (!atCutover) continue
    const { rows } = await source.query<{ content: string }>(
      `select to_jsonb(t)::text as content from ${escapeIdentifier(name)} t where t.organization_id = $1${name === 'commits' ? latestOfKind : ''}`,
      [organizationId],
    )
    if (rows.length === 0) continue
    await target.query(
      `insert into moved_rows (organization_id, place, table_name, content)
         select $1, $2::int + r.place::int, $3, r.content::jsonb from unnest($4::text[]) with ordinality as r(content, place)`,
      [organizationId, place, name, rows.map(({ content }) => content)],
    )
    place += rows.length
  }
  await target.query('update organization_arrivals set ready = true where organization_id = $1', [
    organizationId,
  ])
}

/** Counters before the latest say nothing any more. */
const latestOfKind = ` and not exists (select 1 from commits k where k.organization_id = t.organization_id
      and k.kind = t.kind and k.stamp > t.stamp)`

/** Leaves the source no work for the organization. Requests admitted before can still read it. */
async function stopWork(source: PoolClient, organizationId: string): Promise<void> {
  for (const statement of [
    `update endpoint_queues set due_at = null, lease_id = null, lease_until = null, worker_id = null
       where organization_id = $1`,
    `update api_keys set expiry_settled_at = expires_at
       where organization_id = $1 and expires_at is not null and expiry_settled_at is null`,
    'delete from summary_jobs where organization_id = $1',
    'delete from erasures where organization_id = $1',
    `update organizations set away = 'moved' where organization_id = $1`,
    `update organization_clocks set away = 'moved' where organization_id = $1`,
    `update organization_moves set state = 'left' where organization_id = $1`,
  ])
    await source.query(statement, [organizationId])
}

interface Departed {
  readonly organizationId: string
  readonly source: Pool
  readonly target: Pool
  readonly from: string
  readonly to: string
  readonly directory: Pick<Directory, 'note' | 'cutOver' | 'databaseOf'>
}

/**
 * Completes an arrival; any number of processes may, and repeat it. `known`: the tables to move, if the caller has read
 * them.
 */
export async function arrive(
  departed: Departed,
  between: Hook = () => {},
  known: readonly MovingTable[] | null = null,
): Promise<void> {
  const { organizationId, source, target, from, to, directory } = departed
  const { rowCount } = await source.query(
    `select 1 from organization_moves m where m.organization_id = $1 and m.state <> 'copying' and m.target = $2`,
    [organizationId, to],
  )
  if (rowCount !== 1) throw new Error(`organization ${organizationId} has not left ${from} for ${to}`)
  await open(target, organizationId, known ?? (await movingTables(target)))
  await between('opened')
  const { rows } = await target.query<{ token_hash: Buffer }>(
    `select t.token_hash from api_key_tokens t where t.organization_id = $1
       union all select c.token_hash from console_links c where c.organization_id = $1`,
    [organizationId],
  )
  await directory.note(
    organizationId,
    rows.map(({ token_hash }) => token_hash),
  )
  await between('noted')
  const { rows: arrived } = await target.query<{ moves: number }>(
    'select o.moves from organizations o where o.organization_id = $1',
    [organizationId],
  )
  await directory.cutOver(organizationId, { from, to, moves: arrived[0]?.moves ?? 0 })
  const placement = await directory.databaseOf(organizationId)
  if (placement?.database !== to)
    throw new MoveError(
      `the directory has the organization in ${placement?.database ?? 'no database'}, which is neither where it was nor where it is`,
    )
  await between('turned')
  await source.query(
    `update organization_moves set state = 'arrived' where organization_id = $1 and state = 'left'`,
    [organizationId],
  )
}

/** Moves the waiting rows into their tables. A second process finds none. */
async function open(target: Pool, organizationId: string, tables: readonly MovingTable[]): Promise<void> {
  await transaction(target, async (tx) => {
    const { rows } = await tx.query<{ ready: boolean }>(
      'select a.ready from organization_arrivals a where a.organization_id = $1 for update',
      [organizationId],
    )
    if (rows[0]?.ready !== true) return
    for (const { name, columns, atCutover } of tables) {
      if (!atCutover) continue
      const listed = columns.map(escapeIdentifier).join(', ')
      await tx.query(
        `insert into ${escapeIdentifier(name)} (${listed})
           select ${listed} from jsonb_populate_recordset(null::${escapeIdentifier(name)},
             (select coalesce(jsonb_agg(${arriving[name] ?? 'r.content'} order by r.place), '[]') from moved_rows r
               where r.organization_id = $1 and r.table_name = $2))`,
        [organizationId, name],
      )
    }
    for (const table of ['moved_rows', 'organization_arrivals'])
      await tx.query(`delete from ${table} where organization_id = $1`, [organizationId])
    const [payload] = encodeDeliveries({ at: 0, notified: null, queues: null })
    await tx.query('select pg_notify($1, $2)', [deliveriesChannel, payload])
  })
}

/** Values that change on arrival, as SQL of a row `r`. */
const arriving: Readonly<Record<string, string>> = {
  organizations: `r.content || jsonb_build_object('away', null, 'moves', (r.content->>'moves')::int + 1)`,
  organization_clocks: `r.content || '{"away": null}'`,
}

/** Milliseconds from the end of a look to the next. */
const every = 1_000
/** After a failed look: the database does not answer, which others report. */
const everyAfterFailure = 10_000
const stopWithin = 5_000

interface Unfinished {
  readonly organization_id: string
  readonly target: string
}

/**
 * Completes the arrival of organizations whose mover was killed between departure and arrival: no database serves them.
 */
export async function finishMoves(
  from: string,
  databases: {
    readonly pools: ReadonlyMap<string, Pool>
    readonly directory: Pick<Directory, 'databaseOf' | 'note' | 'cutOver'>
  },
): Promise<number> {
  const { pools, directory } = databases
  const source = pools.get(from)
  if (source === undefined) throw new Error(`there is no database ${from}`)
  const { rows } = await source.query<Unfinished>(
    `select m.organization_id, m.target from organization_moves m where m.state = 'left'`,
  )
  let finished = 0
  for (const { organization_id: organizationId, target: to } of rows) {
    const target = pools.get(to)
    // This process does not have that database; another one will.
    if (target === undefined) continue
    await arrive({ organizationId, source, target, from, to, directory })
    finished++
  }
  return finished
}

/** Looks into each database repeatedly; a failure of one does not stop the others. */
export function createMoveFinisher(
  databases: Parameters<typeof finishMoves>[1],
  {
    log,
    isReady,
  }: {
    readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>
    readonly isReady: (name: string) => boolean
  },
): Pick<Periodic, 'start' | 'stop'> {
  const loops = [...databases.pools.keys()].map((from) =>
    periodic({
      every,
      everyAfterFailure,
      stopWithin,
      run: async () => {
        if (!isReady(from)) return
        const finished = await finishMoves(from, databases)
        if (finished > 0) log.info({ from, finished }, 'moves were finished that somebody had begun')
      },
      onFailure: (error) =>
        log.warn({ from, err: loggable(error) }, 'could not look for unfinished moves; trying again'),
    }),
  )
  return {
    start: () => {
      for (const loop of loops) loop.start()
    },
    stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))),
  }
}
