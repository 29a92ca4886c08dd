/**
 * One step of a copy: reads, in one snapshot of the source, the rows that have changed since the last step and the next
 * rows to copy, and writes them to the target in one commit, with its progress. So the target always has the rows of
 * one moment of the source, and a mover that is killed loses one step. The source forgets changes after that commit;
 * what is not forgotten is copied again.
 */
import { pipeline } from 'node:stream/promises'
import { escapeIdentifier, escapeLiteral, type Pool, type PoolClient } from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { sessionSettings } from '../backup/backup.ts'
import { allowStatements } from '../db/client.ts'
import { type Tx, transaction } from '../db/pool.ts'
import { addKinds, type KindSums, measureAll, measureChanged, servedKinds } from './compare.ts'
import { MoveError, type Names } from './requirements.ts'
import { changedRows, keysIn, type MovingTable, sameKey } from './tables.ts'

export interface Sides {
  readonly organizationId: string
  readonly source: Pool
  readonly target: Pool
  readonly tables: readonly MovingTable[]
  readonly names: Names
  /** The current mover: an earlier one that was thought dead cannot change anything. */
  readonly runner: string
}

type Key = Readonly<Record<string, string | number>>

/** The progress of a table: copied up to this key, or all of it. */
interface Copied {
  readonly after?: Key
  readonly done?: true
}

interface Arrival {
  readonly copied: Readonly<Record<string, Copied>>
  /** The sums of the rows in the target, once they were compared. */
  readonly sums: KindSums | null
}

interface Changes {
  readonly table: MovingTable
  /** Their keys, as JSON. */
  readonly keys: string
  readonly ids: readonly string[]
}

interface Step {
  readonly rows: number
  readonly changes: number
  /** Every table is copied, apart from new changes. */
  readonly complete: boolean
  readonly compared: boolean
}

/**
 * Rows that one step copies for the first time: some hundredths of a second, and too few to delay other commits in the
 * log.
 */
const rowsAStep = 1_000

interface Connections {
  readonly source: PoolClient
  readonly target: Tx
}

/** `limit`: rows that are copied for the first time at most. */
export function copyStep(sides: Sides, limit = rowsAStep): Promise<Step> {
  return step(sides, async (connections, arrival) => {
    let [{ copied, sums }, rows] = [arrival, 0]
    while (rows < limit) {
      const portion = await nextPortion(connections.source, sides, copied, limit - rows)
      if (portion === null) return { copied, sums, rows, complete: true }
      rows += await copyPortion(connections, sides, portion)
      copied = { ...copied, [portion.table.name]: portion.reached }
      sums = null
    }
    return { copied, sums, rows, complete: false }
  })
}

/**
 * Copies changes and compares everything copied. `kept`: conditions on rows that both must have, by table. @throws
 * MoveError
 */
export function compareStep(sides: Sides, kept: Readonly<Record<string, string>>): Promise<Step> {
  const { organizationId } = sides
  const tables = sides.tables.filter(({ atCutover }) => !atCutover)
  return step(sides, async ({ source, target }, { copied }) => {
    const [here, there] = await Promise.all([
      measureAll(source, 'source', organizationId, tables, kept),
      measureAll(target, 'target', organizationId, tables, kept),
    ])
    requireSame(here.rows, there.rows)
    await requireServed(source, organizationId, there.kinds)
    return { copied, sums: there.kinds, rows: 0, complete: true }
  })
}

/** The last step, in the transaction that holds the fence. @throws MoveError when the databases differ. */
export async function lastStep(connections: Connections, sides: Sides): Promise<void> {
  const { source, target } = connections
  for (const setting of byKey) await source.query(`set local ${setting}`)
  await prepareTarget(target, sides)
  const arrival = await readArrival(target, sides)
  const { sums } = await copyChanges(connections, sides, await readChanges(source, sides), arrival)
  if (sums === null) throw new Error('the last step comes after the comparison')
  await requireServed(source, sides.organizationId, sums)
  // If the organization does not leave after all, the copied changes stay.
  await target.query('update organization_arrivals set sums = $2 where organization_id = $1', [
    sides.organizationId,
    JSON.stringify(sums),
  ])
}

async function step(
  sides: Sides,
  rest: (
    connections: Connections,
    arrival: Arrival,
  ) => Promise<Arrival & { readonly rows: number; readonly complete: boolean }>,
): Promise<Step> {
  const { organizationId } = sides
  const done = await inSnapshot(sides.source, async (source) => {
    const changes = await readChanges(source, sides)
    const made = await transaction(sides.target, async (target) => {
      await prepareTarget(target, sides)
      const arrival = await readArrival(target, sides)
      const { rows, sums } = await copyChanges({ source, target }, sides, changes, arrival)
      const ended = await rest({ source, target }, { ...arrival, sums })
      await target.query(
        'update organization_arrivals set copied = $2, sums = $3 where organization_id = $1',
        [
          organizationId,
          JSON.stringify(ended.copied),
          ended.sums === null ? null : JSON.stringify(ended.sums),
        ],
      )
      return { rows: rows + ended.rows, complete: ended.complete, compared: ended.sums !== null }
    })
    return { ...made, ids: changes.flatMap(({ ids }) => ids) }
  })
  const { ids, ...made } = done
  if (ids.length > 0)
    await sides.source.query('delete from move_changes where organization_id = $1 and id = any($2::uuid[])', [
      organizationId,
      ids,
    ])
  return { ...made, changes: ids.length }
}

async function inSnapshot<A>(pool: Pool, work: (client: PoolClient) => Promise<A>): Promise<A> {
  const client = await pool.connect()
  let failed = true
  try {
    allowStatements(client, 0)
    await client.query('begin isolation level repeatable read, read only')
    await client.query([...sessionSettings, ...byKey].map((setting) => `set local ${setting}`).join('; '))
    const answer = await work(client)
    await client.query('commit')
    failed = false
    return answer
  } finally {
    // An abandoned COPY ends with its connection.
    client.release(failed)
  }
}

/** Each change is looked up by key, whatever the planner expects, and one core is left to others. */
const byKey = ['enable_hashjoin = off', 'enable_mergejoin = off', 'max_parallel_workers_per_gather = 0']

async function prepareTarget(target: Tx, { organizationId, runner }: Sides): Promise<void> {
  allowStatements(target, 0)
  await target.query([...sessionSettings, ...byKey].map((setting) => `set local ${setting}`).join('; '))
  const { rowCount } = await target.query(
    'select 1 from organization_arrivals a where a.organization_id = $1 and a.runner = $2 for update',
    [organizationId, runner],
  )
  if (rowCount !== 1)
    throw new MoveError(
      'somebody else has begun to move the organization: this run has ended, and that one goes on',
    )
}

async function readArrival(target: Tx, { organizationId }: Sides): Promise<Arrival> {
  const { rows } = await target.query<Arrival>(
    'select a.copied, a.sums from organization_arrivals a where a.organization_id = $1',
    [organizationId],
  )
  return rows[0] ?? { copied: {}, sums: null }
}

async function readChanges(
  source: PoolClient,
  { organizationId, tables }: Sides,
): Promise<readonly Changes[]> {
  const { rows } = await source.query<{ name: string; keys: string; ids: string[] }>(
    `select c.table_name as name, jsonb_agg(distinct c.key)::text as keys, array_agg(c.id) as ids
       from move_changes c where c.organization_id = $1 group by c.table_name`,
    [organizationId],
  )
  return rows.flatMap(({ name, keys, ids }) => {
    const table = tables.find((one) => one.name === name)
    return table === undefined ? [] : [{ table, keys, ids }]
  })
}

/**
 * Replaces changed rows. All are deleted first, as unique values can move between rows. After the comparison, compares
 * changes too.
 */
async function copyChanges(
  { source, target }: Connections,
  { organizationId }: Sides,
  changes: readonly Changes[],
  { copied, sums }: Arrival,
): Promise<{ readonly rows: number; readonly sums: KindSums | null }> {
  const before = sums === null ? null : await measureChanged(target, 'target', organizationId, changes)
  for (const { table, keys } of changes)
    await target.query(
      `delete from ${escapeIdentifier(table.name)} t using ${keysIn(table, '$2')}
         where t.organization_id = $1 and ${sameKey(table)}`,
      [organizationId, keys],
    )
  let rows = 0
  for (const { table } of changes) {
    const reached = reachedOf(table, copied[table.name])
    if (reached === null) continue
    rows += await copyRows({ source, target }, table, `${changedRows(table, organizationId)}${reached}`)
  }
  if (sums === null || before === null) return { rows, sums: null }
  const [here, there] = await Promise.all([
    measureChanged(source, 'source', organizationId, changes),
    measureChanged(target, 'target', organizationId, changes),
  ])
  requireSame(here.rows, there.rows)
  return { rows, sums: addKinds(sums, before.kinds, there.kinds) }
}

async function requireServed(source: PoolClient, organizationId: string, sums: KindSums): Promise<void> {
  const served = await servedKinds(source, organizationId)
  const none = { count: '0', digest: '0', content: '0' }
  requireSame(served, Object.fromEntries(Object.keys(served).map((kind) => [kind, sums[kind] ?? none])))
}

function requireSame(
  here: Readonly<Record<string, unknown>>,
  there: Readonly<Record<string, unknown>>,
): void {
  for (const name of new Set([...Object.keys(here), ...Object.keys(there)])) {
    const [one, other] = [JSON.stringify(here[name]), JSON.stringify(there[name])]
    if (one !== other)
      throw new MoveError(
        `the copy is not what the source is (${name}: ${one} became ${other}): nothing was turned; take it back with --abort, move again, and report this`,
      )
  }
}

interface Portion {
  readonly table: MovingTable
  readonly after: Key | undefined
  /** Null for all that are left. */
  readonly upTo: Key | null
  readonly reached: Copied
}

async function nextPortion(
  source: PoolClient,
  { organizationId, tables }: Sides,
  copied: Arrival['copied'],
  limit: number,
): Promise<Portion | null> {
  const table = tables.find(({ name, atCutover }) => !atCutover && copied[name]?.done !== true)
  if (table === undefined) return null
  const after = copied[table.name]?.after
  const columns = table.key.map(({ name }) => `t.${escapeIdentifier(name)}`)
  const members = table.key.map(({ name }) => `'${name}', t.${escapeIdentifier(name)}`)
  const { rows } = await source.query<{ key: Key }>(
    `select jsonb_build_object(${members.join(', ')}) as key from ${escapeIdentifier(table.name)} t
       where t.organization_id = $1${after === undefined ? '' : ` and ${compare(table, '>', after)}`}
       order by ${columns.join(', ')} offset ${limit - 1} limit 1`,
    [organizationId],
  )
  const last = rows[0]?.key ?? null
  return { table, after, upTo: last, reached: last === null ? { done: true } : { after: last } }
}

function copyPortion(
  connections: Connections,
  { organizationId }: Sides,
  { table, after, upTo }: Portion,
): Promise<number> {
  const bounds = [
    ...(after === undefined ? [] : [compare(table, '>', after)]),
    ...(upTo === null ? [] : [compare(table, '<=', upTo)]),
  ]
  const rows = `from ${escapeIdentifier(table.name)} t where t.organization_id = ${escapeLiteral(organizationId)}`
  return copyRows(connections, table, [rows, ...bounds].join(' and '))
}

/** SQL: a condition on the copied rows of a table; null when there are none. */
function reachedOf(table: MovingTable, copied: Copied | undefined): string | null {
  if (copied === undefined) return null
  return copied.after === undefined ? '' : ` and ${compare(table, '<=', copied.after)}`
}

function compare({ key }: MovingTable, how: '>' | '<=', bound: Key): string {
  const columns = key.map(({ name }) => `t.${escapeIdentifier(name)}`)
  const values = key.map(({ name, type }) => `${escapeLiteral(String(bound[name]))}::${type}`)
  return `(${columns.join(', ')}) ${how} (${values.join(', ')})`
}

async function copyRows(
  { source, target }: Connections,
  { name, columns }: MovingTable,
  rows: string,
): Promise<number> {
  const listed = columns.map(escapeIdentifier)
  const from = source.query(
    copyTo(
      `copy (select ${listed.map((column) => `t.${column}`).join(', ')} ${rows}) to stdout (format binary)`,
    ),
  )
  const into = target.query(
    copyFrom(`copy ${escapeIdentifier(name)} (${listed.join(', ')}) from stdin (format binary)`),
  )
  await pipeline(from, into)
  return into.rowCount
}
