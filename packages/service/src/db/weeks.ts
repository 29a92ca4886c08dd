/**
 * Tables with one partition per week (Monday to Sunday, UTC), created ahead and dropped as a whole. Weeks, not days, as
 * planning costs time for each partition. Rows of a week without a partition go to the default partition, and a new
 * partition takes them over; with too many of them the week gets no partition.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { escapeIdentifier, type Pool } from 'pg'
import { stopwatch } from '../kernel/timestamps.ts'
import { type Tx, transaction } from './pool.ts'

export interface WeekTable {
  readonly name: string
  /** The partition key. */
  readonly column: string
  /** The start of a week as a literal of the partition key; `week` is its first millisecond. */
  readonly begin: (week: number) => string
  /** The indexes that only the partitions have: columns in brackets, and a condition if there is one. */
  readonly indexes: readonly string[]
}

export interface Week {
  readonly table: string
  /** Milliseconds since the Unix epoch. */
  readonly begins: number
  /** Of one that could not be created: the database's message. */
  readonly failure?: string
}

const day = 24 * 60 * 60 * 1000
/** In milliseconds. */
export const weekLength = 7 * day
/** The first Monday after the Unix epoch. */
const firstMonday = 4 * day

/** An advisory lock number that nothing else on the server uses. */
const lockNumber = 6_737_201_102
/**
 * Attaching waits for readers of the default partition, dropping for every use of the table, and later statements queue
 * behind either.
 */
const lockTimeout = '250ms'
const triesApart = 100
/** Rows that a new partition takes over at most; writers wait for some tenths of a second. */
const takenOverAtMost = 20_000

/** The first millisecond of the week that contains this one. */
export function weekOf(milliseconds: number): number {
  return Math.floor((milliseconds - firstMonday) / weekLength) * weekLength + firstMonday
}

/** `2026-01-31`, a date literal of PostgreSQL. */
export function dayText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10)
}

/** The week partitions of these tables, oldest first. */
export async function weeksOf(
  db: Pick<Pool, 'query'>,
  tables: readonly WeekTable[],
): Promise<readonly Week[]> {
  const { rows } = await db.query<{ parent: string; name: string }>(
    `select p.relname as parent, c.relname as name from pg_class p
       join pg_inherits i on i.inhparent = p.oid join pg_class c on c.oid = i.inhrelid
       where p.relnamespace = current_schema()::regnamespace and p.relname = any($1) and c.relname ~ '_\\d{8}$'
       order by right(c.relname, 8), p.relname`,
    [tables.map(({ name }) => name)],
  )
  return rows.map(({ parent, name }) => {
    const [, year, month, dayOfMonth] = /(\d{4})(\d{2})(\d{2})$/.exec(name) ?? []
    return { table: parent, begins: Date.parse(`${year}-${month}-${dayOfMonth}T00:00:00.000Z`) }
  })
}

/** `count` weeks of each of these tables, from the one that contains `from`. */
export function weeksFrom(tables: readonly WeekTable[], from: number, count: number): readonly Week[] {
  const begins = Array.from({ length: count }, (_, n) => weekOf(from) + n * weekLength)
  return begins.flatMap((week) => tables.map(({ name }) => ({ table: name, begins: week })))
}

function keyOf({ table, begins }: Week): string {
  return `${table} ${begins}`
}

export async function missingWeeks(
  db: Pick<Pool, 'query'>,
  tables: readonly WeekTable[],
  wanted: readonly Week[],
): Promise<readonly Week[]> {
  const existing = new Set((await weeksOf(db, tables)).map(keyOf))
  return wanted.filter((week) => !existing.has(keyOf(week)))
}

/**
 * Creates missing partitions and returns the weeks that still have none: the table was locked for `patience`
 * milliseconds, the default partition has too many rows of that week, or the database failed, as without space on its
 * disk. Their rows go to the default partition. Any number of processes may run this at once.
 */
export async function makeWeeks(
  pool: Pool,
  tables: readonly WeekTable[],
  wanted: readonly Week[],
  patience: number,
): Promise<readonly Week[]> {
  const elapsed = stopwatch()
  const full = new Set<string>()
  const failures = new Map<string, string>()
  for (;;) {
    const missing = await missingWeeks(pool, tables, wanted)
    const possible = missing.filter((week) => !full.has(keyOf(week)) && !failures.has(keyOf(week)))
    if (possible.length === 0 || (elapsed() > 0 && elapsed() >= patience))
      return missing.map((week) => {
        const failure = failures.get(keyOf(week))
        return failure === undefined ? week : { ...week, failure }
      })
    for (const week of possible) {
      const table = tables.find(({ name }) => name === week.table)
      if (table === undefined) throw new Error(`no table ${week.table} has weeks`)
      const outcome = await alone(pool, (tx) => makeWeek(tx, table, week.begins)).catch((error: Error) => {
        failures.set(keyOf(week), error.message)
      })
      if (outcome === 'full') full.add(keyOf(week))
      else if (outcome === 'held') await delay(triesApart)
    }
  }
}

/**
 * Drops the week with its rows, except those for which `keep` holds, SQL about a row `t`: they move to the default
 * partition. If there are so many that writers would wait for long, they stay in the week. Does nothing while the table
 * is locked.
 */
export async function dropWeek(
  pool: Pool,
  table: WeekTable,
  begins: number,
  keep: string | null,
): Promise<void> {
  const name = partitionName(table.name, begins)
  await alone(pool, async (tx) => {
    const { rows } = await tx.query<{ there: boolean }>('select to_regclass($1) is not null as there', [name])
    if (rows[0]?.there !== true) return 'done'
    const kept = keep === null ? 0 : await countUpTo(tx, takenOverAtMost + 1, `from ${name} t where ${keep}`)
    if (kept > takenOverAtMost) return keepOnly(tx, table, begins, keep ?? '')
    await tx.query(`alter table ${table.name} detach partition ${name}`)
    if (kept > 0) await copyRows(tx, table, `from ${name} t where ${keep}`, `${table.name}_default`)
    await tx.query(`drop table ${name}`)
    return 'done'
  })
}

/**
 * Replaces the week by a copy with only these rows, if it has others: nobody waits for the copying but who would change
 * the week.
 */
async function keepOnly(tx: Tx, table: WeekTable, begins: number, keep: string): Promise<'done'> {
  const name = partitionName(table.name, begins)
  const copy = `${name}_kept`
  await tx.query(`lock table ${name} in share mode`)
  if ((await countUpTo(tx, 1, `from ${name} t where not (${keep})`)) === 0) return 'done'
  await createPartition(tx, table, copy)
  await copyRows(tx, table, `from ${name} t where ${keep}`, copy)
  await tx.query(`alter table ${table.name} detach partition ${name}`)
  await tx.query(`drop table ${name}`)
  await tx.query(`alter table ${copy} rename to ${name}`)
  await attachPartition(tx, table, begins)
  return 'done'
}

/**
 * Creates one partition unless it exists, in the caller's transaction. `full`: the default partition has too many rows
 * of that week.
 */
export async function makeWeek(tx: Tx, table: WeekTable, begins: number): Promise<'done' | 'full'> {
  const name = partitionName(table.name, begins)
  const [from, to] = [table.begin(begins), table.begin(begins + weekLength)]
  const { rows } = await tx.query<{ taken: boolean }>('select to_regclass($1) is not null as taken', [name])
  if (rows[0]?.taken) return 'done'
  const strays = `from only ${table.name}_default t where t.${table.column} >= ${from} and t.${table.column} < ${to}`
  const count = await countUpTo(tx, takenOverAtMost + 1, strays)
  if (count > takenOverAtMost) return 'full'
  await createPartition(tx, table, name)
  if (count > 0) await takeOver(tx, table.name, name, strays)
  await attachPartition(tx, table, begins)
  return 'done'
}

/** To be attached: creating it in place would lock out every user of the table. */
async function createPartition(tx: Tx, table: WeekTable, name: string): Promise<void> {
  await tx.query(`create table ${name} (like ${table.name} including all)`)
  await leaveUncounted(tx, table.name, name)
  for (const index of table.indexes) await tx.query(`create index on ${name} ${index}`)
}

async function attachPartition(tx: Tx, { name, begin }: WeekTable, begins: number): Promise<void> {
  await tx.query(
    `alter table ${name} attach partition ${partitionName(name, begins)}
       for values from (${begin(begins)}) to (${begin(begins + weekLength)})`,
  )
}

/** Moves rows from the default partition to their own. */
async function takeOver(tx: Tx, table: string, partition: string, strays: string): Promise<void> {
  await tx.query(`lock table only ${table}_default in access exclusive mode`)
  const columns = await storedColumns(tx, table)
  await tx.query(
    `with gone as (delete ${strays} returning ${columns}) insert into ${partition} (${columns}) select ${columns} from gone`,
  )
}

async function copyRows(tx: Tx, { name }: WeekTable, from: string, to: string): Promise<void> {
  const columns = await storedColumns(tx, name)
  await tx.query(`insert into ${to} (${columns}) select ${columns} ${from}`)
}

async function countUpTo(tx: Tx, most: number, from: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from (select 1 ${from} limit ${most}) s`,
  )
  return rows[0]?.count ?? 0
}

/** Separated by commas, without generated ones. */
async function storedColumns(tx: Tx, table: string): Promise<string> {
  const { rows } = await tx.query<{ name: string }>(
    `select a.attname::text as name from pg_attribute a
       where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum`,
    [table],
  )
  return rows.map(({ name }) => escapeIdentifier(name)).join(', ')
}

/** Copies the statistics targets, which `like` leaves out. */
async function leaveUncounted(tx: Tx, table: string, partition: string): Promise<void> {
  const { rows } = await tx.query<{ column: string }>(
    `select a.attname as column from pg_attribute a
       where a.attrelid = $1::regclass and a.attstattarget = 0 and a.attnum > 0 and not a.attisdropped`,
    [table],
  )
  if (rows.length === 0) return
  const each = rows.map(({ column }) => `alter column ${column} set statistics 0`)
  await tx.query(`alter table ${partition} ${each.join(', ')}`)
}

/** In one transaction; `held` when another process is doing it or a lock is not available. */
async function alone<A extends string>(pool: Pool, work: (tx: Tx) => Promise<A>): Promise<A | 'held'> {
  try {
    return await transaction(pool, async (tx) => {
      await tx.query(`set local lock_timeout = '${lockTimeout}'`)
      const { rows } = await tx.query<{ alone: boolean }>(
        `select pg_try_advisory_xact_lock(${lockNumber}) as alone`,
      )
      return rows[0]?.alone === true ? await work(tx) : 'held'
    })
  } catch (error) {
    if (passing.has((error as { code?: string }).code ?? '')) return 'held'
    throw error
  }
}

/** lock_not_available; check_violation: a row of that week arrived in the default partition meanwhile. */
const passing = new Set(['55P03', '23514'])

function partitionName(table: string, begins: number): string {
  return `${table}_${dayText(begins).replaceAll('-', '')}`
}
