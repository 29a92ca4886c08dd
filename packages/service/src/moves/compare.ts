/**
 * Compares the rows of an organization in two databases: the number of rows and a sum of their hashes for every table,
 * and the checkpoint for every kind: count, digest and content digest.
 *
 * All of it is compared once, before the cutover. Later steps compare only what they changed, and update the sums of
 * the kinds, so that the last step, for which writers wait, is short.
 */
import { escapeIdentifier, escapeLiteral, type Pool } from 'pg'
import { dayText, type Week } from '../db/weeks.ts'
import { kinds as deskKinds } from '../desk/index.ts'
import { digestModulus, modulo, sumOfManyTerms, versionBytes } from '../journal/body.ts'
import { firstIdAt } from '../kernel/ids.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { changedRows, keysIn, type MovingTable, sameKey } from './tables.ts'

type Queryable = Pick<Pool, 'query'>

/** Of a kind's existing rows; digests as numbers below 2^64. */
interface Sums {
  readonly count: string
  readonly digest: string
  readonly content: string
}

export type KindSums = Readonly<Record<string, Sums>>

/** Kinds are only measured in the target: its rows are those of the source. */
type Side = 'source' | 'target'

interface Measured {
  /** By table: the number of rows, and the sum of their hashes. */
  readonly rows: Readonly<Record<string, string>>
  readonly kinds: KindSums
}

/** All rows of the organization in these tables; `where`: further conditions on rows `t`, by table. */
export async function measureAll(
  db: Queryable,
  side: Side,
  organizationId: string,
  tables: readonly MovingTable[],
  where: Readonly<Record<string, string>>,
): Promise<Measured> {
  const found: [MovingTable, Found][] = []
  for (const table of tables) {
    const condition = where[table.name]
    const rows = `from ${escapeIdentifier(table.name)} t
      where t.organization_id = ${escapeLiteral(organizationId)}${condition === undefined ? '' : ` and ${condition}`}`
    found.push([table, await measure(db, side, table, rows)])
  }
  return measured(found)
}

/** The changed rows: in the source those that it noted, in the target by their keys, as JSON. */
export async function measureChanged(
  db: Queryable,
  side: Side,
  organizationId: string,
  changes: readonly { readonly table: MovingTable; readonly keys: string }[],
): Promise<Measured> {
  const found: [MovingTable, Found][] = []
  for (const { table, keys } of changes) {
    const there = `from ${keysIn(table, '$1')} join ${escapeIdentifier(table.name)} t
      on t.organization_id = ${escapeLiteral(organizationId)} where ${sameKey(table)}`
    const answer =
      side === 'source'
        ? await measure(db, side, table, changedRows(table, organizationId))
        : await measure(db, side, table, there, [keys])
    found.push([table, answer])
  }
  return measured(found)
}

interface Found extends Sums {
  readonly all: string
}

async function measure(
  db: Queryable,
  side: Side,
  { name, columns }: MovingTable,
  rows: string,
  values: readonly unknown[] = [],
): Promise<Found> {
  const row = `row(${columns.map((column) => `t.${escapeIdentifier(column)}`).join(', ')})`
  const ofKind = side === 'target' && kindOf.has(name)
  const sum = (hash: string) => `coalesce(${sumOfManyTerms(hash)}, 0)::text`
  const { rows: answer } = await db.query<Found>(
    `select count(*) || ' ' || coalesce(sum(h.hash), 0) as all${
      ofKind
        ? `, count(h.version)::text as count, ${sum('h.version')} as digest, ${sum('h.content')} as content`
        : ''
    } from (select b.hash${ofKind ? `, sha256(${versionBytes('b.bytes')}) as version, sha256(b.bytes) as content` : ''}
        from (select hash_record_extended(${row}, 0) as hash${
          ofKind ? ", case when t.removed_at is null then convert_to(t.body, 'UTF8') end as bytes" : ''
        } ${rows} offset 0) b offset 0) h`,
    [...values],
  )
  if (answer[0] === undefined) throw new Error('an aggregate has no row')
  return answer[0]
}

const kindOf = new Map(deskKinds.map(({ table }) => [table.name, table.kind]))

function measured(found: readonly (readonly [MovingTable, Found])[]): Measured {
  const kinds = found.flatMap(([{ name }, { count, digest, content }]) => {
    const kind = kindOf.get(name)
    return kind === undefined ? [] : [[kind, { count, digest, content }] as const]
  })
  return {
    rows: Object.fromEntries(found.map(([{ name }, { all }]) => [name, all])),
    kinds: Object.fromEntries(kinds),
  }
}

/** `sums` after rows with the sums `before` became rows with the sums `after`. */
export function addKinds(sums: KindSums, before: KindSums, after: KindSums): KindSums {
  const none: Sums = { count: '0', digest: '0', content: '0' }
  const modulus = BigInt(digestModulus)
  const moved = (kind: string, part: keyof Sums) => {
    const [was, less, more] = [sums, before, after].map((one) => BigInt((one[kind] ?? none)[part]))
    return String(((((was ?? 0n) - (less ?? 0n) + (more ?? 0n)) % modulus) + modulus) % modulus)
  }
  const kinds = new Set([...Object.keys(sums), ...Object.keys(after), ...Object.keys(before)])
  return Object.fromEntries(
    [...kinds].map((kind) => [
      kind,
      { count: moved(kind, 'count'), digest: moved(kind, 'digest'), content: moved(kind, 'content') },
    ]),
  )
}

/** The checkpoint of each kind that clients of this database get. */
export async function servedKinds(db: Queryable, organizationId: string): Promise<KindSums> {
  const { rows } = await db.query<Sums & { kind: string }>(
    `select k.kind, k.live_count::text as count, ${modulo('k.digest')}::text as digest,
         ${modulo('k.content_digest')}::text as content
       from kind_counters k where k.organization_id = $1`,
    [organizationId],
  )
  return Object.fromEntries(
    rows.map(({ kind, count, digest, content }) => [kind, { count, digest, content }]),
  )
}

/**
 * Conditions on rows that both must have: maintenance drops weeks of the log, and deletes stored responses after a day.
 */
export function unexpiredRows(
  now: number,
  weeks: readonly (readonly Week[])[],
): Readonly<Record<string, string>> {
  const oldest = (table: string) =>
    Math.max(
      ...weeks.map((side) =>
        Math.min(...side.filter((week) => week.table === table).map(({ begins }) => begins)),
      ),
    )
  const since: Readonly<Record<string, (week: number) => string>> = {
    events: (week) => `t.id >= '${firstIdAt(week)}'`,
    attempts: (week) => `t.delivery_id >= '${firstIdAt(week)}'`,
    deliveries: (week) => `t.log_day >= '${dayText(week)}'`,
    delivery_stats: (week) => `t.at >= '${formatTimestamp(week)}'`,
  }
  const kept = Object.entries(since).flatMap(([table, condition]) => {
    const week = oldest(table)
    return Number.isFinite(week) ? [[table, condition(week)] as const] : []
  })
  return {
    ...Object.fromEntries(kept),
    idempotency_keys: `t.created_at > '${formatTimestamp(now - responsesCompared)}'`,
  }
}

/** An hour less than they are stored, in milliseconds. */
const responsesCompared = 23 * 60 * 60 * 1000
