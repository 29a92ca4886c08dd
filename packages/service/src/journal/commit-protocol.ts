/**
 * The commit function's argument and answer, as JSON, with the encoding of units and the decoding of outcomes. The
 * function runs no statement for an absent section. Ids are UUIDs, times are as on the wire.
 */
import { done, refused } from '../kernel/outcome.ts'
import { committedBody, digestTerm, maxNewBytes, removedBody } from './body.ts'
import {
  type Cause,
  type Change,
  noLimits,
  type Refusal,
  type StorageLimits,
  type Unit,
  type UnitOutcome,
} from './change.ts'

export const sectionOf = {
  insert: (kind: string) => `${kind}_insert` as const,
  update: (kind: string) => `${kind}_update` as const,
  delete: (kind: string) => `${kind}_delete` as const,
  searchDocuments: (kind: string) => `${kind}_search_documents` as const,
  unique: (kind: string) => `${kind}_unique` as const,
  periods: (kind: string) => `${kind}_periods` as const,
  references: (kind: string) => `${kind}_references` as const,
  expected: (kind: string) => `${kind}_expected` as const,
  referring: (kind: string, column: string) => `${kind}_${column}_referring` as const,
}

/** The argument `p_changes`: the changes of one organization, in no order. */
interface CommitArgument {
  readonly max_attempts: number
  /** Lock timeouts as PostgreSQL writes them, for the clock row and for all other rows; default: 250 ms for both. */
  readonly lock_timeout?: string
  readonly row_timeout?: string
  /** How far `p_now` may be ahead of the database's clock, in milliseconds; default: no limit. */
  readonly max_clock_skew?: number
  /** Limits of the organization's rows of all kinds, and of bytes of their bodies; default: none. */
  readonly max_rows?: number
  readonly max_bytes?: number
  /** The delete of the call, which has no other change, also removes what it would detach. */
  erase?: true
  /** Every insert of the call in its order, where a storage limit is set. */
  inserts?: GrowthEntry[]

  /** The events of these changes. A refused change has none. */
  readonly events: EventEntry[]
  /** Responses to store, each with its change. A change whose response is stored already is refused. */
  idempotency?: IdempotencyEntry[]
  /** Changes that commit together or not at all, by the number of their unit. A unit of one change is not listed. */
  units?: { readonly unit: number; readonly id: string }[]

  [insert: `${string}_insert`]: InsertEntry[]
  [update: `${string}_update`]: UpdateEntry[]
  /** Rows to delete, with the rows that depend on them. */
  [deleted: `${string}_delete`]: ExistingEntry[]
  [searchDocuments: `${string}_search_documents`]: SearchDocumentEntry[]
  [unique: `${string}_unique`]: CheckedEntry[]
  [references: `${string}_references`]: CheckedEntry[]
  /** In the order in which they take their times. */
  [periods: `${string}_periods`]: CheckedEntry[]
  /** Rows that a unit was decided on, whether it writes them or not. One that has changed refuses its unit. */
  [expected: `${string}_expected`]: { readonly id: string; readonly expected: string }[]
  /** The rows that refer to another by a column. If one was added, removed or changed since, the unit is refused. */
  [referring: `${string}_referring`]: ReferringEntry[]
}

interface EventEntry {
  readonly type: string
  readonly subject_kind: string
  readonly subject_id: string
  /** The `traceparent` of its cause; absent without a trace. */
  readonly trace_context?: string
  /** Of an update: the fields that it changed. */
  readonly changed?: readonly string[]
  /** Absent: the service itself. */
  readonly cause?: Cause
}

interface IdempotencyEntry {
  readonly subject_id: string
  /** Absent: the body of the changed row. */
  readonly response: string | undefined
  readonly [column: string]: unknown
}

interface GrowthEntry {
  readonly id: string
  /** The most that its body can have. */
  readonly bytes: number
}

interface InsertEntry {
  readonly id: string
  readonly created_at: string
  readonly head: string
  readonly [column: string]: unknown
}

interface ExistingEntry {
  readonly id: string
  /** The version that the change was decided on. A row of another version is not changed. */
  readonly expected: string
  /** The row's current digest terms and bytes. The check of `expected` proves them, which saves hashing them again. */
  readonly old_term: string
  readonly old_content: string
  readonly old_bytes: number
}

interface UpdateEntry extends ExistingEntry {
  readonly head: string
  readonly [column: string]: unknown
}

interface SearchDocumentEntry {
  readonly id: string
  readonly created_at: string
  readonly terms: string
}

interface CheckedEntry {
  readonly id: string
  /** The version that the change was decided on; null: a new row. Another version is a conflict before all else. */
  readonly expected: string | null
  readonly [column: string]: unknown
}

interface ReferringEntry {
  /** The first change of the unit, by which the unit is refused. */
  readonly id: string
  readonly target: string
  readonly count: number
  readonly latest: string | null
}

/** The answer. A change in neither list is a conflict: its row had changed. */
export interface CommitAnswer {
  readonly refused: readonly ({ readonly id: string } & (Refusal | { readonly reason: 'replayed' }))[]
  /** The ids of committed changes. The caller has their bodies apart from stamp and number. */
  readonly done: readonly string[]
  /** The `updatedAt` of all of them, or their `removedAt`. */
  readonly stamp: string
  readonly numbers?: Readonly<Record<string, number>>
  /** What an erase removed, as JSON; null without one. */
  readonly receipt?: string | null
  /** Whether endpoints were subscribed to its events. */
  readonly deliveries?: boolean
  /** The `priority` of each endpoint queue that it made due, by the endpoint's id. */
  readonly woken?: Readonly<Record<string, number>>
  /** Workers create the deliveries, as there are too many for the commit. */
  readonly large?: boolean
  /** How far the stamp was ahead of the database's clock, in milliseconds, where `max_clock_skew` was given. */
  readonly clock_skew?: number | null
}

/** How far the clock of any process may be ahead of the database's, in milliseconds (decision 1). */
export const maxClockSkew = 60_000

/** PostgreSQL's error code of a commit with a later time. Nothing was changed. */
export const clockAheadCode = 'DW001'

/** How long a call waits for a clock that another process holds, before other calls go first and it is sent again. */
export const lockTimeout = '2s'
/** A call for several organizations waits only this long for one: more than a commit takes, too short to notice. */
const timeoutWithOthers = '50ms'

export interface CallOptions {
  readonly maxAttempts: number
  /** Waits up to `lockTimeout` for a clock that another process holds, and then without limit for other rows. */
  readonly waitsForLock: boolean
  /** The call has other organizations, which would wait with this one. */
  readonly withOthers?: boolean
  /** How far its time may be ahead of the database's clock, in milliseconds; null: no limit. */
  readonly maxClockSkew: number | null
  readonly storage?: StorageLimits
}

/** The function's argument for one organization's units (`CommitArgument`), as JSON. */
export function encodeUnits(units: readonly Unit[], options: CallOptions): string {
  const { maxAttempts, waitsForLock, withOthers = false, maxClockSkew, storage = noLimits } = options
  const argument: CommitArgument = {
    events: [],
    max_attempts: maxAttempts,
    ...(waitsForLock ? { lock_timeout: lockTimeout, row_timeout: '0' } : {}),
    ...(withOthers && !waitsForLock ? { lock_timeout: timeoutWithOthers, row_timeout: '250ms' } : {}),
    ...(maxClockSkew === null ? {} : { max_clock_skew: maxClockSkew }),
    ...(storage.rows === null ? {} : { max_rows: storage.rows }),
    ...(storage.bytes === null ? {} : { max_bytes: storage.bytes }),
  }
  if (storage.rows !== null || storage.bytes !== null) encodeGrowth(units, argument)
  units.forEach((unit, number) => {
    const origin = {
      ...(unit.span && { trace_context: unit.span.traceparent }),
      ...(unit.cause && { cause: unit.cause }),
    }
    for (const change of unit.changes) encodeChange(change, argument, origin)
    if (unit.changes.length > 1 || unit.rows !== undefined || unit.referring !== undefined) {
      encodeTogether(unit, number, argument)
    }
  })
  return JSON.stringify(argument)
}

function encodeGrowth(units: readonly Unit[], argument: CommitArgument): void {
  for (const change of units.flatMap(({ changes }) => changes)) {
    if (change.operation !== 'insert') continue
    const bytes = maxNewBytes(change.head, change.table.sequence?.field ?? null)
    argument.inserts = append(argument.inserts, { id: change.id, bytes })
  }
}

function encodeChange(
  change: Change,
  argument: CommitArgument,
  origin: Pick<EventEntry, 'trace_context' | 'cause'>,
): void {
  const { kind } = change.table
  const { id } = change
  encodeRow(change, argument)
  if (change.operation !== 'delete') {
    const expected = change.operation === 'insert' ? null : change.expected
    if (change.searchDocument !== null) {
      const section = sectionOf.searchDocuments(kind)
      const { createdAt, terms } = change.searchDocument
      argument[section] = append(argument[section], { id, created_at: createdAt, terms })
    }
    if (Object.keys(change.unique).length > 0) {
      const section = sectionOf.unique(kind)
      argument[section] = append(argument[section], { id, expected, ...change.unique })
    }
    if (change.period !== undefined) {
      const section = sectionOf.periods(kind)
      argument[section] = append(argument[section], { id, expected, ...change.period })
    }
    if (Object.keys(change.references).length > 0) {
      const section = sectionOf.references(kind)
      argument[section] = append(argument[section], { id, expected, ...change.references })
    }
  }
  const changed =
    change.operation === 'update' && change.changed !== undefined ? { changed: change.changed } : {}
  for (const type of change.events) {
    argument.events.push({ type, subject_kind: kind, subject_id: id, ...origin, ...changed })
  }
  if (change.idempotency === null) return
  const { columns, body } = change.idempotency
  argument.idempotency = append(argument.idempotency, { ...columns, subject_id: id, response: body })
}

function encodeRow(change: Change, argument: CommitArgument): void {
  const { id } = change
  const { kind } = change.table
  switch (change.operation) {
    case 'insert': {
      const section = sectionOf.insert(kind)
      const row = { id, created_at: change.createdAt, head: change.head, ...change.columns }
      argument[section] = append(argument[section], row)
      return
    }
    case 'update': {
      const section = sectionOf.update(kind)
      const row = { ...existingRow(change), head: change.head, ...change.columns }
      argument[section] = append(argument[section], row)
      return
    }
    case 'delete': {
      const section = sectionOf.delete(kind)
      if (change.erases) argument.erase = true
      argument[section] = append(argument[section], existingRow(change))
    }
  }
}

function existingRow({ id, expected, bytes, contentTerm }: Extract<Change, { expected: string }>) {
  return { id, expected, old_term: digestTerm(id, expected), old_content: contentTerm, old_bytes: bytes }
}

/** What the function needs to refuse a unit as a whole: its members, and the versions that it was decided on. */
function encodeTogether(unit: Unit, number: number, argument: CommitArgument): void {
  const expect = (kind: string, id: string, expected: string) => {
    const section = sectionOf.expected(kind)
    argument[section] = append(argument[section], { id, expected })
  }
  if (unit.changes.some(({ operation }) => operation === 'delete')) requireOnlyVersions(unit)
  for (const change of unit.changes) {
    argument.units = append(argument.units, { unit: number, id: change.id })
    if (change.operation !== 'insert') expect(change.table.kind, change.id, change.expected)
  }
  for (const { table, id, expected } of unit.rows ?? []) {
    argument.units = append(argument.units, { unit: number, id })
    expect(table.kind, id, expected)
  }
  const first = unit.changes[0]
  for (const { table, column, id: target, count, latest } of unit.referring ?? []) {
    if (first === undefined) throw new Error('a unit has a change')
    const section = sectionOf.referring(table.kind, column)
    argument[section] = append(argument[section], { id: first.id, target, count, latest })
  }
}

/** A delete comes before every check but that of versions, so nothing else may refuse its unit. */
function requireOnlyVersions({ changes, referring = [] }: Unit): void {
  const isChecked = (change: Change) =>
    change.operation === 'insert' ||
    (change.operation === 'update' &&
      (change.period !== undefined || Object.keys({ ...change.references, ...change.unique }).length > 0))
  if (referring.length > 0 || changes.some(isChecked))
    throw new Error('a unit with a delete may be refused for the versions of its rows only')
}

function append<T>(list: T[] | undefined, entry: T): T[] {
  if (list === undefined) return [entry]
  list.push(entry)
  return list
}

export function decodeOutcomes(units: readonly Unit[], answer: CommitAnswer): UnitOutcome[] {
  const committed = new Set(answer.done)
  const refusals = new Map<string, Refusal>()
  const replays = new Set<string>()
  for (const { id, ...refusal } of answer.refused) {
    if (refusal.reason === 'replayed') replays.add(id)
    else if (!refusals.has(id)) refusals.set(id, refusal)
  }
  return units.map((unit): UnitOutcome => {
    if (unit.changes.every(({ id }) => committed.has(id))) {
      return done(unit.changes.map((change) => bodyAfter(change, answer)))
    }
    if (unit.changes.some(({ id }) => replays.has(id))) return { outcome: 'replayed' }
    const ids = [...unit.changes, ...(unit.rows ?? [])].map(({ id }) => id)
    const own = ids.flatMap((id) => {
      const refusal = refusals.get(id)
      return refusal === undefined ? [] : [[id, refusal] as const]
    })
    return refused(new Map(own))
  })
}

/** The stored body of a committed change, or its removal record or receipt. */
function bodyAfter(change: Change, { stamp, numbers, receipt }: CommitAnswer): string {
  const { table, id, operation } = change
  if (operation === 'delete') return receipt ?? removedBody(table.kind, id, stamp)
  const numbered =
    operation === 'insert' && table.sequence !== null
      ? { field: table.sequence.field, number: numbers?.[id] as number }
      : null
  return committedBody(change.head, numbered, stamp)
}
