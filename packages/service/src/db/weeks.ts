/**
 * Tables that hold a partition a week of UTC, from Monday on: made ahead, so that none is missing when the week comes, and
 * dropped as a whole, which costs the same however many rows a week had. A row of a week that has no partition goes to the
 * table's default partition. When the partition is made, it takes these rows over; a week with too many of them stays without one,
 * and its rows are removed one by one.
 *
 * Weeks and not days, as a statement over a month pays for each partition when it is planned: a page of a log of a million
 * rows took 7 ms to plan over 31 days.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { escapeIdentifier, type Pool } from 'pg'
import { stopwatch } from '../kernel/timestamps.ts'
import { type Tx, transaction } from './transaction.ts'

/** A table whose partitions are weeks. */
export interface WeekTable {
  readonly name: string
  /** The partition key. */
  readonly column: string
  /** What a week begins with, as a literal of the partition key; `week` is its first millisecond. */
  readonly begin: (week: number) => string
  /** The columns of the partitions' own indexes, beside those that the table has. */
  readonly indexes: readonly string[]
}

/** A partition. */
export interface Week {
  readonly table: string
  /** Milliseconds since the Unix epoch of the week's beginning. */
  readonly begins: number
}

const day = 24 * 60 * 60 * 1000
/** In milliseconds. */
export const weekLength = 7 * day
/** The first Monday of the Unix epoch. */
const firstMonday = 4 * day

/** PostgreSQL's number for "the weeks of Deskwire": any constant that nothing else on the server locks. */
const lockNumber = 6_737_201_102
/** Attaching waits for readers of the default partition, dropping for everybody, and everybody who comes then waits behind: not for longer than this. */
const lockTimeout = '250ms'
/** Between two tries, in milliseconds. */
const triesApart = 100
/** Rows of the default partition that a new partition takes over: writers of the table wait for some tenths of a second. */
const takenOverAtMost = 20_000

/** The first millisecond of the week that holds this one. */
export function weekOf(milliseconds: number): number {
  return Math.floor((milliseconds - firstMonday) / weekLength) * weekLength + firstMonday
}

/** `2026-01-31`, as PostgreSQL reads a date. */
export function dayText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10)
}

/** The partitions of weeks that these tables have, the oldest first. */
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

/** The week that holds `from` and the weeks after it, `count` in all, of each of these tables. */
export function weeksFrom(tables: readonly WeekTable[], from: number, count: number): readonly Week[] {
  const begins = Array.from({ length: count }, (_, n) => weekOf(from) + n * weekLength)
  return begins.flatMap((week) => tables.map(({ name }) => ({ table: name, begins: week })))
}

/** Those of these weeks that have no partition. */
export async function missingWeeks(
  db: Pick<Pool, 'query'>,
  tables: readonly WeekTable[],
  wanted: readonly Week[],
): Promise<readonly Week[]> {
  const standing = new Set((await weeksOf(db, tables)).map(({ table, begins }) => `${table} ${begins}`))
  return wanted.filter(({ table, begins }) => !standing.has(`${table} ${begins}`))
}

/**
 * Makes the partitions of these weeks that are missing, and answers those that still are: others have held the table for `patience`
 * milliseconds, or the default partition has too many rows of that week. Any number of processes may do so at once.
 */
export async function makeWeeks(
  pool: Pool,
  tables: readonly WeekTable[],
  wanted: readonly Week[],
  patience: number,
): Promise<readonly Week[]> {
  const elapsed = stopwatch()
  const full = new Set<Week>()
  for (;;) {
    const missing = await missingWeeks(pool, tables, wanted)
    const possible = missing.filter((week) => !full.has(week))
    if (possible.length === 0 || (elapsed() > 0 && elapsed() >= patience)) return missing
    for (const week of possible) {
      const table = tables.find(({ name }) => name === week.table)
      if (table === undefined) throw new Error(`no table ${week.table} has weeks`)
      const outcome = await alone(pool, (tx) => makeWeek(tx, table, week.begins))
      if (outcome === 'full') full.add(week)
      else if (outcome === 'held') await delay(triesApart)
    }
  }
}

/** Drops the week with all its rows. Answers whether it is gone. */
export async function dropWeek(pool: Pool, { table, begins }: Week): Promise<boolean> {
  const outcome = await alone(pool, async (tx) => {
    await tx.query(`drop table if exists ${partitionName(table, begins)}`)
    return 'done'
  })
  return outcome === 'done'
}

/** Makes one partition unless it is there, as part of the caller's transaction. `full`: nothing is done, as the default partition has too many rows of it. */
export async function makeWeek(tx: Tx, table: WeekTable, begins: number): Promise<'done' | 'full'> {
  const name = partitionName(table.name, begins)
  const [from, to] = [table.begin(begins), table.begin(begins + weekLength)]
  const { rows } = await tx.query<{ taken: boolean }>('select to_regclass($1) is not null as taken', [name])
  if (rows[0]?.taken) return 'done'
  const strays = `from only ${table.name}_default t where t.${table.column} >= ${from} and t.${table.column} < ${to}`
  const { rows: found } = await tx.query<{ count: number }>(
    `select count(*)::int as count from (select 1 ${strays} limit ${takenOverAtMost + 1}) s`,
  )
  const count = found[0]?.count ?? 0
  if (count > takenOverAtMost) return 'full'
  // Apart first and attached then: making it in its place would lock out everybody who uses the table.
  await tx.query(`create table ${name} (like ${table.name} including all)`)
  await leaveUncounted(tx, table.name, name)
  for (const columns of table.indexes) await tx.query(`create index on ${name} (${columns})`)
  if (count > 0) await takeOver(tx, table.name, name, strays)
  await tx.query(`alter table ${table.name} attach partition ${name} for values from (${from}) to (${to})`)
  return 'done'
}

/** Brings rows of the default partition to the partition that they belong to. */
async function takeOver(tx: Tx, table: string, partition: string, strays: string): Promise<void> {
  await tx.query(`lock table only ${table}_default in access exclusive mode`)
  const { rows } = await tx.query<{ name: string }>(
    `select a.attname::text as name from pg_attribute a
       where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum`,
    [table],
  )
  const columns = rows.map(({ name }) => escapeIdentifier(name)).join(', ')
  await tx.query(
    `with gone as (delete ${strays} returning ${columns}) insert into ${partition} (${columns}) select ${columns} from gone`,
  )
}

/** What the planner need not know of the table's columns, it need not know of the partition's: a copy leaves that out. */
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

/** In one transaction, unless another process is at it or a lock cannot be had: `held`. */
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

/** lock_not_available; check_violation: a row of that week has come to the default partition meanwhile. */
const passing = new Set(['55P03', '23514'])

function partitionName(table: string, begins: number): string {
  return `${table}_${dayText(begins).replaceAll('-', '')}`
}
