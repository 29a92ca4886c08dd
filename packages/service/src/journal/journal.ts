/**
 * The journal: the only way into the stream. A change goes in, its outcome comes out; in between it is committed
 * together with its event, its counters and its idempotency record, or not at all.
 */
import type { Pool, PoolClient } from 'pg'
import type { SchemaFunction } from '../db/migration.ts'
import { type Clock, stopwatch } from '../kernel/clock.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { Announcer } from './announcer.ts'
import type { Change, CommitOutcome, Unit, UnitOutcome } from './change.ts'
import { type CallOptions, decodeOutcomes, encodeUnits } from './commit-call.ts'
import type { CommitAnswer } from './commit-protocol.ts'
import { type CallPart, GroupCommit, type GroupLimits } from './group-commit.ts'
import { dependentsOf, type StreamTable } from './stream-table.ts'

export interface Journal {
  /**
   * Commits one change of one organization. When it resolves with `done`, the change is durable and the next
   * read of the stream shows it. Rejects when the database failed; the change may then have committed.
   */
  commit(organizationId: string, change: Change): Promise<CommitOutcome>
  /** Commits the changes of a unit together or not at all, with the same promise. */
  commitTogether(organizationId: string, unit: Unit): Promise<UnitOutcome>
}

/** Called with each call of the commit function that has ended well. */
export type CommitObserver = (call: {
  readonly milliseconds: number
  /** Units that it carried. */
  readonly units: number
  /** How far its stamps were ahead of the database's clock, in milliseconds; null where nobody asked. */
  readonly lead: number | null
}) => void

export function createJournal(options: {
  readonly pool: Pool
  readonly commitFunction: SchemaFunction
  /** The tables that the function was made for. */
  readonly tables: readonly StreamTable[]
  readonly clock: Clock
  /** Attempts that each delivery has. */
  readonly maxAttempts: number
  /** Told after each commit: of deliveries that it made, and of the kinds of which something changed. */
  readonly announcer: Announcer
  readonly onCommit?: CommitObserver
  readonly limits?: GroupLimits
  /** How far the clock may be ahead of the database's, in milliseconds; beyond, commits reject with `clockAheadCode`. */
  readonly maxLead?: number
}): Journal {
  const { pool, commitFunction, tables, clock, maxAttempts, announcer, onCommit, limits } = options
  const maxLead = options.maxLead ?? null
  const single = { name: commitFunction.name, text: `select ${commitFunction.name}($1, $2, $3) as answer` }
  const several = {
    name: `${commitFunction.name}_several`,
    text: `select ${commitFunction.name}((c.part->>'organization')::uuid, $1, c.part->'changes') as answer
             from jsonb_array_elements($2::jsonb) as c(part)`,
  }

  async function call(parts: readonly CallPart[], patient: boolean): Promise<UnitOutcome[][]> {
    const options = { maxAttempts, patient, maxLead }
    const now = latest(formatTimestamp(clock.now()), parts)
    const [first] = parts
    const query =
      parts.length === 1 && first !== undefined
        ? { ...single, values: [first.organizationId, now, encodeUnits(first.units, options)] }
        : { ...several, values: [now, encodeParts(parts, options)] }
    const ask = (on: Pick<Pool, 'query'>) => on.query<{ answer: CommitAnswer }>(query)
    const elapsed = stopwatch()
    const answers = await (patient ? withoutHaste(pool, ask) : ask(pool))
    onCommit?.({
      milliseconds: elapsed(),
      units: parts.reduce((sum, { units }) => sum + units.length, 0),
      lead: largestLead(answers.rows),
    })
    if (answers.rows.some(({ answer }) => answer.large)) announcer.largeCommit()
    else if (answers.rows.some(({ answer }) => answer.deliveries)) announcer.deliveries()
    return parts.map(({ organizationId, units }, part) => {
      const row = answers.rows[part]
      if (row === undefined) throw new Error('the commit function gave no answer for an organization')
      if (row.answer.done.length > 0) announcer.changes(organizationId, touched(units))
      return decodeOutcomes(units, row.answer)
    })
  }

  /** The kinds that these units write, and those that a removal among them reaches. */
  function touched(units: readonly Unit[]): ReadonlySet<string> {
    const kinds = new Set<string>()
    for (const { operation, table } of units.flatMap(({ changes }) => changes)) {
      kinds.add(table.kind)
      if (operation === 'remove') for (const kind of dependentsOf(tables, table.kind)) kinds.add(kind)
    }
    return kinds
  }

  const group = new GroupCommit(call, (unit) => reachesFar(unit, tables), limits)
  return {
    async commit(organizationId, change) {
      const outcome = await group.submit(organizationId, { changes: [change] })
      if (outcome.outcome === 'refused') return outcome.refusals.get(change.id) ?? { outcome: 'conflict' }
      return { outcome: 'done', body: outcome.bodies[0] as string }
    },
    commitTogether: (organizationId, unit) => group.submit(organizationId, unit),
  }
}

/** Of the stamps that one call gave; null when it gave none, or was not asked. */
function largestLead(rows: readonly { readonly answer: CommitAnswer }[]): number | null {
  const leads = rows.flatMap(({ answer: { lead } }) => lead ?? [])
  return leads.length === 0 ? null : Math.max(...leads)
}

/**
 * Lets a statement take as long as it needs, within reason, where the pool's would be cut off: a removal that reaches
 * very many rows would otherwise fail again at each try.
 */
async function withoutHaste<T>(pool: Pool, run: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query(`set statement_timeout = '15min'`)
    const result = await run(client)
    await client.query('reset statement_timeout')
    client.release()
    return result
  } catch (error) {
    // Not to be used again with a limit of another's.
    client.release(true)
    throw error
  }
}

/** A handful of changes is a matter of milliseconds. More, or a removal that reaches any number of rows, is not. */
const fewChanges = 32

function reachesFar({ changes }: Unit, tables: readonly StreamTable[]): boolean {
  if (changes.length > fewChanges) return true
  return changes.some(
    ({ operation, table }) => operation === 'remove' && dependentsOf(tables, table.kind).length > 0,
  )
}

/** Not earlier than any decision of the call, though the clock may have stepped back since: no stamp is either. */
function latest(now: string, parts: readonly CallPart[]): string {
  let last = now
  const decided = parts.flatMap(({ units }) => units.flatMap(({ changes }) => changes))
  for (const { decidedAt } of decided) if (decidedAt > last) last = decidedAt
  return last
}

function encodeParts(parts: readonly CallPart[], options: CallOptions): string {
  const encoded = parts.map(
    ({ organizationId, units }) =>
      `{"organization":"${organizationId}","changes":${encodeUnits(units, options)}}`,
  )
  return `[${encoded.join(',')}]`
}
