/**
 * The commit function's argument and answer: the encoding of units and the decoding of outcomes. Ids are UUIDs, times
 * are as on the wire.
 */
import { done, refused } from '../kernel/outcome.ts'
import { digestTerm, maxNewBytes } from './body.ts'
import {
  type Change,
  noLimits,
  type Refusal,
  type StorageLimits,
  type Unit,
  type UnitOutcome,
} from './change.ts'

/** An entry of the argument `p_changes`, in the order of `commit-change.sql`. What is absent is null. */
interface ChangeEntry {
  /** Entries of one number commit together or not at all. */
  readonly unit: number
  readonly operation: Change['operation'] | 'require' | 'referring'
  readonly kind: string
  readonly id: string
  /** The version that a change was decided on. */
  readonly expected?: string
  readonly created_at?: string
  /** Its place in the array of heads, from 1. */
  readonly head?: number
  /** The kind's own columns; of `referring` the target, count and latest. */
  readonly own?: Readonly<Record<string, unknown>>
  /** The columns to check, as `kind.column`. */
  readonly checks?: readonly string[]
  readonly ends?: string
  readonly old_term?: string
  readonly old_content?: string
  readonly bytes?: number
  readonly terms?: string
  readonly events?: readonly string[]
  readonly changed?: readonly string[]
  readonly trace_context?: string
  readonly cause?: Readonly<Record<string, unknown>>
  readonly response?: Readonly<Record<string, unknown>>
}

/** The attributes of `commit_change` and how each is written; a test compares them with the type. */
export const changeAttributes = {
  unit: String,
  operation: String,
  kind: String,
  id: String,
  expected: String,
  created_at: String,
  head: String,
  own: JSON.stringify,
  checks: arrayText,
  ends: String,
  old_term: String,
  old_content: String,
  bytes: String,
  terms: String,
  events: arrayText,
  changed: JSON.stringify,
  trace_context: String,
  cause: JSON.stringify,
  response: JSON.stringify,
} as const satisfies { readonly [A in keyof Required<ChangeEntry>]: (value: never) => string }

const changeWriters = Object.entries(changeAttributes) as [keyof ChangeEntry, (value: unknown) => string][]

/** What holds for a whole call: `p_limits`, in the order of `commit-limits.sql`. */
export const limitAttributes = [
  'max_attempts',
  'lock_timeout',
  'row_timeout',
  'max_clock_skew',
  'max_rows',
  'max_bytes',
  'erases',
  'kinds',
  'operations',
  'checks',
  'are_together',
  'have_deletes',
  'have_responses',
] as const

type LimitsEntry = { readonly [A in (typeof limitAttributes)[number]]: string | number | boolean | null }

/** Of kinds, operations and event types, which need no quotes. */
function arrayText(values: readonly string[]): string {
  return `{${values.join(',')}}`
}

/** A record of words, numbers and lists of them, which have neither quotes nor backslashes. */
function recordText(values: readonly (string | null)[]): string {
  return `(${values.map((value) => (value === null ? '' : `"${value}"`)).join(',')})`
}

/** Needs no quotes: ids, numbers, times and words. */
const plain = /^[\w:.+-]+$/

/**
 * Of entries of `changes` and `heads`: a quote within a value is written twice, and JSON escapes control characters.
 */
export const separator = '\x1e"\x1e'

/** An attribute of a composite value. */
function attributeText(text: string): string {
  if (plain.test(text)) return text
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '""')}"`
}

function changeText(entry: ChangeEntry): string {
  const attributes = changeWriters.map(([name, write]) => {
    const value = entry[name]
    return value === undefined ? '' : attributeText(write(value))
  })
  return `(${attributes.join(',')})`
}

/** The answer. A change in neither list is a conflict: its row had changed. */
export interface CommitAnswer {
  readonly refused: readonly ({ readonly id: string } & (Refusal | { readonly reason: 'replayed' }))[]
  /** By the ids of committed changes: what the database appended to the head, or the whole body of one without. */
  readonly done: Readonly<Record<string, string>>
  /** The `updatedAt` of all of them, or their `removedAt`. */
  readonly stamp: string
  /** Null: no endpoint was subscribed to its events. */
  readonly deliveries?: {
    /** Workers create the deliveries, as there are too many for the commit. */
    readonly large: boolean
    /** The endpoint queues of which a worker must be notified, by the endpoint's id, and the worker that holds each. */
    readonly woken: Readonly<Record<string, readonly [priority: number, worker: string | null]>>
  } | null
  /** How far the stamp was ahead of the database's clock, in milliseconds, where `max_clock_skew` was given. */
  readonly clock_skew?: number | null
}

/**
 * How far the clock of any process may be ahead of the database's, in milliseconds: a clock further ahead would put the
 * stream ahead until the others reach it.
 */
export const maxClockSkew = 60_000

/** PostgreSQL's error code of a commit with a later time. Nothing was changed. */
export const clockAheadCode = 'DW001'

/** How long a call waits for a clock that another process holds, before other calls go first and it is sent again. */
export const lockTimeout = '2s'
/** A call for several organizations waits only this long for one: more than a commit takes, too short to notice. */
const timeoutWithOthers = '50ms'
/** Longer than any ordinary commit: a call that waits longer, and the organizations with it, tries another way. */
const shortTimeout = '250ms'

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

/** The function's arguments after the organization and the time, for one organization's units. */
export interface EncodedUnits {
  readonly limits: string
  readonly changes: string
  readonly heads: string
}

export function encodeUnits(units: readonly Unit[], options: CallOptions): EncodedUnits {
  const { maxAttempts, waitsForLock, withOthers = false, maxClockSkew, storage = noLimits } = options
  const timeouts: readonly [string, string] = waitsForLock
    ? [lockTimeout, '0']
    : [withOthers ? timeoutWithOthers : shortTimeout, shortTimeout]
  const heads: string[] = []
  const entries = units.flatMap((unit, number) => entriesOf(unit, number, heads))
  const distinct = (values: readonly string[]) => arrayText([...new Set(values)])
  const limits: LimitsEntry = {
    max_attempts: maxAttempts,
    lock_timeout: timeouts[0],
    row_timeout: timeouts[1],
    max_clock_skew: maxClockSkew,
    max_rows: storage.rows,
    max_bytes: storage.bytes,
    erases: units.some(({ changes }) =>
      changes.some((change) => change.operation === 'delete' && change.erases),
    ),
    kinds: distinct(entries.map(({ kind }) => kind)),
    operations: distinct(
      entries.flatMap(({ operation, kind, terms }) => [
        `${operation} ${kind}`,
        ...(terms === undefined ? [] : [`index ${kind}`]),
      ]),
    ),
    checks: distinct(entries.flatMap(({ checks = [] }) => checks)),
    are_together: entries.length > units.length,
    have_deletes: entries.some(({ operation }) => operation === 'delete'),
    have_responses: entries.some(({ response }) => response !== undefined),
  }
  return {
    limits: recordText(limitAttributes.map((name) => (limits[name] === null ? null : String(limits[name])))),
    changes: entries.map(changeText).join(separator),
    heads: heads.join(separator),
  }
}

function entriesOf(unit: Unit, number: number, heads: string[]): readonly ChangeEntry[] {
  const { changes, rows = [], referring = [] } = unit
  const [first] = changes
  if (first === undefined) throw new Error('a unit has a change')
  if (changes.length > 1 || rows.length > 0 || referring.length > 0) requireOnlyVersions(unit)
  const origin = {
    ...(unit.span && { trace_context: unit.span.traceparent }),
    ...(unit.cause && { cause: { ...unit.cause } }),
  }
  return [
    ...changes.map((change) => ({ unit: number, ...changeEntry(change, heads), ...origin })),
    ...rows.map(({ table, id, expected }) => ({
      unit: number,
      operation: 'require' as const,
      kind: table.kind,
      id,
      expected,
    })),
    ...referring.map(({ table, column, id: target, count, latest }) => ({
      unit: number,
      operation: 'referring' as const,
      kind: table.kind,
      id: first.id,
      own: { target, count, latest },
      checks: [`${table.kind}.${column}.referring`],
    })),
  ]
}

/** Adds the head, if it has one, to `heads`. */
function changeEntry(change: Change, heads: string[]): Omit<ChangeEntry, 'unit'> {
  const { operation, id, events, idempotency } = change
  const { kind, sequence } = change.table
  const common = {
    operation,
    kind,
    id,
    events,
    ...(idempotency && { response: { ...idempotency.columns, body: idempotency.body } }),
  }
  if (operation === 'delete') return { ...common, ...existingRow(change) }
  const checks = [
    ...Object.keys({ ...change.unique, ...change.references }),
    ...(change.period ? ['period'] : []),
  ]
  const written = {
    ...common,
    head: heads.push(change.head),
    own: change.columns,
    ...(checks.length > 0 && { checks: checks.map((check) => `${kind}.${check}`) }),
    ...(change.period && { ends: change.period.ends }),
    ...(change.searchDocument && {
      created_at: change.searchDocument.createdAt,
      terms: change.searchDocument.terms,
    }),
  }
  if (operation === 'update')
    return { ...written, ...existingRow(change), ...(change.changed && { changed: change.changed }) }
  const bytes = maxNewBytes(change.head, sequence?.field ?? null)
  return { ...written, created_at: change.createdAt, bytes }
}

function existingRow({ id, expected, bytes, contentTerm }: Extract<Change, { expected: string }>) {
  return { id, expected, old_term: digestTerm(id, expected), old_content: contentTerm, bytes }
}

/** A delete comes before every check but that of versions, so nothing else may refuse its unit. */
function requireOnlyVersions({ changes, referring = [] }: Unit): void {
  if (changes.every(({ operation }) => operation !== 'delete')) return
  const isChecked = (change: Change) =>
    change.operation === 'insert' ||
    (change.operation === 'update' &&
      (change.period !== undefined || Object.keys({ ...change.references, ...change.unique }).length > 0))
  if (referring.length > 0 || changes.some(isChecked))
    throw new Error('a unit with a delete may be refused for the versions of its rows only')
}

export function decodeOutcomes(units: readonly Unit[], answer: CommitAnswer): UnitOutcome[] {
  const refusals = new Map<string, Refusal>()
  const replays = new Set<string>()
  for (const { id, ...refusal } of answer.refused) {
    if (refusal.reason === 'replayed') replays.add(id)
    else if (!refusals.has(id)) refusals.set(id, refusal)
  }
  return units.map((unit): UnitOutcome => {
    const bodies = unit.changes.map((change) => bodyAfter(change, answer))
    if (bodies.every((body) => body !== null)) return done(bodies)
    if (unit.changes.some(({ id }) => replays.has(id))) return { outcome: 'replayed' }
    const ids = [...unit.changes, ...(unit.rows ?? [])].map(({ id }) => id)
    const own = ids.flatMap((id) => {
      const refusal = refusals.get(id)
      return refusal === undefined ? [] : [[id, refusal] as const]
    })
    return refused(new Map(own))
  })
}

/** The stored body of a committed change, or its removal record or receipt; null: it has not committed. */
function bodyAfter(change: Change, { done }: CommitAnswer): string | null {
  const tail = done[change.id]
  if (tail === undefined) return null
  return change.operation === 'delete' ? tail : change.head + tail
}
