/**
 * Tables that hold a partition a week of UTC, from Monday on: made ahead, so that none is missing when the week comes, and
 * dropped as a whole, which costs the same however many rows a week had. A row of a week that has no partition goes to the
 * table's default partition; that week then stays without one, and its rows are removed one by one.
 *
 * Weeks and not days, as a statement over a month pays for each partition when it is planned: a page of a log of a million
 * rows took 7 ms to plan over 31 days.
 */
import type { Pool } from 'pg'
import { type Tx, transaction } from './transaction.ts'

/** A table whose partitions are weeks. */
export interface WeekTable {
  readonly name: string
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
/**
 * Attaching waits for readers of the default partition, dropping for everybody, and everybody who comes then waits
 * behind: not for longer than this. What did not get its lock is tried again at the next turn.
 */
const lockTimeout = '250ms'

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

/**
 * Makes the partitions of the week that holds `from` and of the weeks after it, `count` in all. Any number of processes
 * may do so at once: one does, the others pass. Answers how many were made.
 */
export async function makeWeeks(
  pool: Pool,
  tables: readonly WeekTable[],
  from: number,
  count: number,
): Promise<number> {
  const standing = new Set((await weeksOf(pool, tables)).map(({ table, begins }) => `${table} ${begins}`))
  let made = 0
  for (let n = 0; n < count; n++) {
    const begins = weekOf(from) + n * weekLength
    for (const table of tables) {
      if (standing.has(`${table.name} ${begins}`)) continue
      if (await alone(pool, (tx) => makeWeek(tx, table, begins))) made++
    }
  }
  return made
}

/** Drops the week with all its rows. Answers whether it is gone. */
export async function dropWeek(pool: Pool, { table, begins }: Week): Promise<boolean> {
  return alone(pool, async (tx) => {
    await tx.query(`drop table if exists ${partitionName(table, begins)}`)
    return true
  })
}

/** Makes one partition, as part of the caller's transaction. Answers whether it was missing. */
export async function makeWeek(tx: Tx, table: WeekTable, begins: number): Promise<boolean> {
  const name = partitionName(table.name, begins)
  const [from, to] = [table.begin(begins), table.begin(begins + weekLength)]
  const { rows } = await tx.query<{ taken: boolean }>('select to_regclass($1) is not null as taken', [name])
  if (rows[0]?.taken) return false
  // Apart first and attached then: making it in its place would lock out everybody who uses the table.
  await tx.query(`create table ${name} (like ${table.name} including all)`)
  await leaveUncounted(tx, table.name, name)
  for (const columns of table.indexes) await tx.query(`create index on ${name} (${columns})`)
  await tx.query(`alter table ${table.name} attach partition ${name} for values from (${from}) to (${to})`)
  return true
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

/** In one transaction, unless another process is at it. False too when a lock could not be had, or rows stand in the way. */
async function alone(pool: Pool, work: (tx: Tx) => Promise<boolean>): Promise<boolean> {
  try {
    return await transaction(pool, async (tx) => {
      await tx.query(`set local lock_timeout = '${lockTimeout}'`)
      const { rows } = await tx.query<{ alone: boolean }>(
        `select pg_try_advisory_xact_lock(${lockNumber}) as alone`,
      )
      return rows[0]?.alone === true && (await work(tx))
    })
  } catch (error) {
    if (passing.has((error as { code?: string }).code ?? '')) return false
    throw error
  }
}

/** lock_not_available; check_violation: the default partition has rows of that week. */
const passing = new Set(['55P03', '23514'])

function partitionName(table: string, begins: number): string {
  return `${table}_${dayText(begins).replaceAll('-', '')}`
}
