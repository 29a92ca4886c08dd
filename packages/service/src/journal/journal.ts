/**
 * The journal: the only writer of the stream. A change commits together with its events, counters, stored response
 * and deliveries (of a large commit: the jobs that create them), or not at all.
 */
import type { Pool } from 'pg'
import { answerOf, callFunction, fromOrganization } from '../db/call-function.ts'
import { type Database, unshared } from '../db/fair-pool.ts'
import type { SchemaFunction } from '../db/migration.ts'
import { type Queryable, queryWithin, withoutCommit } from '../db/pool.ts'
import { done, type Outcome, refused } from '../kernel/outcome.ts'
import type { Tracer } from '../kernel/telemetry.ts'
import { type Clock, formatTimestamp, stopwatch } from '../kernel/timestamps.ts'
import type { Change, Refusal, StorageLimits, Unit, UnitOutcome } from './change.ts'
import { commitLimitsType } from './commit-function.ts'
import { type CommitAnswer, decodeOutcomes, encodeUnits, lockTimeout } from './commit-protocol.ts'
import { type CallPart, defaultLimits, GroupCommit, type GroupLimits } from './group-commit.ts'
import type { DueQueues, Notifier } from './notifier.ts'
import { dependentsOf, type StreamTable } from './stream-table.ts'

export interface Journal {
  /**
   * Commits a change together with the `extras` of its unit. `done`: it is durable, and the next read of the stream
   * shows it. Rejects when the database failed (the change may then have committed), and with the signal's reason
   * when that aborts while the change is queued (it is then not committed).
   */
  commit(organizationId: string, change: Change, extras?: Partial<Unit>): Promise<Outcome<string, Refusal>>
  /** Commits the changes of a unit, with the same guarantees. */
  commitTogether(organizationId: string, unit: Unit): Promise<UnitOutcome>
}

/** Calls another function that takes an organization's clock row (its first argument): one at a time of each. */
export type CallUnderClock = <A>(
  called: SchemaFunction,
  values: readonly [organizationId: string, ...others: unknown[]],
) => Promise<A>

/** Called after each successful call of the commit function. */
type CommitObserver = (call: {
  readonly milliseconds: number
  readonly units: number
  /** How far its stamps were ahead of the database's clock, in milliseconds; null: not measured. */
  readonly clockSkew: number | null
}) => void

export function createJournal(options: {
  readonly pool: Pool
  /** Runs short statements; default: the pool itself. */
  readonly database?: Pick<Database, 'of' | 'forSeveral'>
  readonly commitFunction: SchemaFunction
  readonly tables: readonly StreamTable[]
  readonly clock: Clock
  readonly maxAttempts: number
  /** Notified after each commit, of due queues and changed kinds. */
  readonly notifier: Notifier
  readonly onCommit?: CommitObserver
  readonly limits?: GroupLimits
  /** How far the clock may be ahead of the database's, in milliseconds; beyond it, commits reject: `clockAheadCode`. */
  readonly maxClockSkew?: number
  readonly storage?: StorageLimits
  readonly tracer?: Tracer | null
}): Journal & {
  readonly callUnderClock: CallUnderClock
  readonly pending: () => number
  readonly idle: () => Promise<void>
} {
  const {
    pool,
    commitFunction,
    tables,
    clock,
    maxAttempts,
    notifier,
    onCommit,
    limits,
    storage,
    tracer = null,
  } = options
  const maxClockSkew = options.maxClockSkew ?? null
  const database = options.database ?? unshared(pool)
  const single = {
    name: commitFunction.name,
    text: `select ${commitFunction.name}($1, $2, $3, $4, $5) as answer ${fromOrganization}`,
  }
  const several = {
    name: `${commitFunction.name}_several`,
    text: `select ${commitFunction.name}(c.organization_id, $1, c.limits::${commitLimitsType.name}, c.changes, c.heads) as answer
             from unnest($2::uuid[], $3::text[], $4::text[], $5::text[]) as c(organization_id, limits, changes, heads)`,
  }

  function statementOf(parts: readonly CallPart[], waitsForLock: boolean, now: string) {
    const options = {
      maxAttempts,
      waitsForLock,
      withOthers: parts.length > 1,
      maxClockSkew,
      ...(storage && { storage }),
    }
    const [first] = parts
    const encoded = parts.map(({ units }) => encodeUnits(units, options))
    return parts.length === 1 && first !== undefined
      ? {
          ...single,
          values: [first.organizationId, now, encoded[0]?.limits, encoded[0]?.changes, encoded[0]?.heads],
        }
      : {
          ...several,
          values: [
            now,
            parts.map(({ organizationId }) => organizationId),
            encoded.map(({ limits }) => limits),
            encoded.map(({ changes }) => changes),
            encoded.map(({ heads }) => heads),
          ],
        }
  }

  async function call(parts: readonly CallPart[], waitsForLock: boolean): Promise<UnitOutcome[][]> {
    const now = latest(formatTimestamp(clock.now()), parts)
    const query = statementOf(parts, waitsForLock, now)
    const elapsed = stopwatch()
    const send = () =>
      waitsForLock
        ? queryWithin<{ answer: CommitAnswer }>(pool, longestCommit, query)
        : database.forSeveral.query<{ answer: CommitAnswer }>(query)
    const answers = await (tracer === null ? send() : traced(tracer, parts, send))
    onCommit?.({
      milliseconds: elapsed(),
      units: parts.reduce((sum, { units }) => sum + units.length, 0),
      clockSkew: largestClockSkew(answers.rows),
    })
    if (answers.rows.some(({ answer }) => answer.deliveries?.large)) notifier.largeCommit()
    else if (answers.rows.some(({ answer }) => answer.deliveries)) {
      notifier.deliveries({ at: Date.parse(now), queues: dueQueuesOf(parts, answers.rows) })
    }
    return parts.map(({ organizationId, units }, part) => {
      const answer = answerOf(answers.rows.slice(part, part + 1), organizationId)
      if (Object.keys(answer.done).length > 0) notifier.changes(organizationId, topicsOf(units))
      return decodeOutcomes(units, answer)
    })
  }

  /** The kinds that these units write, and those that their removals reach; and the types of their events. */
  function topicsOf(units: readonly Unit[]): ReadonlySet<string> {
    const topics = new Set<string>()
    for (const { operation, table, events } of units.flatMap(({ changes }) => changes)) {
      for (const topic of [table.kind, ...events]) topics.add(topic)
      if (operation !== 'delete') continue
      for (const { kind, removedEvent } of dependentsOf(tables, table.kind))
        for (const topic of [kind, removedEvent ?? kind]) topics.add(topic)
    }
    return topics
  }

  /** What a commit of the unit would come to, decided by the commit itself, which is then rolled back. */
  function rehearse(organizationId: string, unit: Unit): Promise<UnitOutcome> {
    return group.exclusiveTask(organizationId, async (waitsForLock) => {
      unit.signal?.throwIfAborted()
      const parts = [{ organizationId, units: [unit] }]
      const statement = statementOf(parts, waitsForLock, latest(formatTimestamp(clock.now()), parts))
      const { rows } = await withoutCommit(pool, (tx) => tx.query<{ answer: CommitAnswer }>(statement))
      return decodeOutcomes([unit], answerOf(rows, organizationId))[0] as UnitOutcome
    })
  }

  const group = new GroupCommit(call, (unit) => isLong(unit, tables), limits)

  /** The commit of a traced request has a span of its own, which includes the time in the queue. */
  async function submit(organizationId: string, unit: Unit): Promise<UnitOutcome> {
    if (unit.dryRun) return rehearse(organizationId, unit)
    const parent = tracer?.current ?? null
    if (tracer === null || parent === null) return group.submit(organizationId, unit)
    const attributes = { 'deskwire.organization_id': organizationId, 'deskwire.changes': unit.changes.length }
    const span = tracer.begin('commit', { kind: 'producer', parent, attributes })
    try {
      const committed = await group.submit(organizationId, { ...unit, span })
      span.set({ 'deskwire.outcome': committed.outcome === 'done' ? 'done' : 'refused' })
      span.end()
      return committed
    } catch (error) {
      span.end((error as { code?: string }).code ?? (error as Error).name)
      throw error
    }
  }

  return {
    async commit(organizationId, change, extras = {}) {
      const changes = [change, ...(extras.changes ?? [])]
      const outcome = await submit(organizationId, { ...extras, changes })
      if (outcome.outcome === 'refused') return refused(reasonOf(change, outcome.error))
      return outcome.outcome === 'done' ? done(outcome.value[0] as string) : outcome
    },
    commitTogether: submit,
    pending: () => group.pending,
    idle: () => group.idle(),
    callUnderClock: (called, values) =>
      group.exclusiveTask(values[0], (waitsForLock) =>
        waitsForLock
          ? callWaitingForLock(pool, called, values)
          : callFunction(database.of(values[0]), called, values),
      ),
  }
}

/** A conflict comes first: the change is decided again, and is then refused for its own reason if that remains. */
function reasonOf({ id }: Change, refusals: ReadonlyMap<string, Refusal>): Refusal {
  const conflict = [...refusals.values()].find(({ reason }) => reason === 'conflict')
  return conflict ?? refusals.get(id) ?? { reason: 'conflict' }
}

/** The call's spans belong to the commits that it carries, and not to the request that happened to begin it. */
async function traced<A>(tracer: Tracer, parts: readonly CallPart[], send: () => Promise<A>): Promise<A> {
  const units = parts.flatMap(({ units }) => units)
  const attributes = {
    'db.system.name': 'postgresql',
    'db.operation.name': 'commit',
    ...(units.length > 1 && { 'db.operation.batch.size': units.length }),
  }
  const spans = units.flatMap(({ span }) =>
    span === undefined
      ? []
      : [tracer.begin('postgresql commit', { kind: 'client', parent: span, attributes })],
  )
  try {
    const answer = await tracer.within(null, send)
    for (const span of spans) span.end()
    return answer
  } catch (error) {
    for (const span of spans) span.end((error as { code?: string }).code ?? (error as Error).name)
    throw error
  }
}

function dueQueuesOf(
  parts: readonly CallPart[],
  rows: readonly { readonly answer: CommitAnswer }[],
): DueQueues['queues'] {
  return parts.flatMap(({ organizationId }, part) =>
    Object.entries(rows[part]?.answer.deliveries?.woken ?? {}).map(([webhookId, [priority, worker]]) => ({
      organizationId,
      webhookId,
      priority,
      worker,
    })),
  )
}

async function callWaitingForLock<A>(
  pool: Queryable,
  { name }: SchemaFunction,
  values: readonly [organizationId: string, ...others: unknown[]],
): Promise<A> {
  const parameters = values.map((_, n) => `$${n + 1}`).join(', ')
  // The function is called for the row that sets the limit, so that the limit is set first.
  const { rows } = await pool.query<{ answer: A }>(
    `with waiting as materialized (select set_config('lock_timeout', '${lockTimeout}', true) as it)
       select ${name}(${parameters}) as answer from waiting w cross join organizations o
         where w.it is not null and o.organization_id = $1`,
    [...values],
  )
  return answerOf(rows, values[0])
}

function largestClockSkew(rows: readonly { readonly answer: CommitAnswer }[]): number | null {
  const skews = rows.flatMap(({ answer: { clock_skew } }) => clock_skew ?? [])
  return skews.length === 0 ? null : Math.max(...skews)
}

/** In milliseconds, for a long unit: a removal of very many rows would exceed the pool's limit each time. */
const longestCommit = 15 * 60 * 1000

/** A removal can reach any number of rows. */
function isLong({ changes }: Unit, tables: readonly StreamTable[]): boolean {
  if (changes.length > defaultLimits.changes) return true
  return changes.some(
    ({ operation, table }) => operation === 'delete' && dependentsOf(tables, table.kind).length > 0,
  )
}

/** Not earlier than any decision, even if the clock was set back since: no time in a body is later than its stamp. */
function latest(now: string, parts: readonly CallPart[]): string {
  let last = now
  const decided = parts.flatMap(({ units }) => units.flatMap(({ changes }) => changes))
  for (const { decidedAt } of decided) if (decidedAt > last) last = decidedAt
  return last
}
