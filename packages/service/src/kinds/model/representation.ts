/**
 * The representation of an object: made when its row is written, and sent unchanged by every reader. Changes for the
 * journal are made here from states. Pure, except for the clock.
 */
import { readJson } from '@deskwire/sdk/json'
import { bodyHead, contentTerm, hasHead, NewerVersion, storedBytes } from '../../journal/body.ts'
import type { Change, Period, ResponseToStore } from '../../journal/change.ts'
import type { StoredRow } from '../../journal/rows.ts'
import { newId } from '../../kernel/ids.ts'
import { type Clock, formatTimestamp } from '../../kernel/timestamps.ts'
import type { Kind, State } from './kind.ts'
import { changedSearchDocument } from './search.ts'

export interface Identity {
  readonly id: string
  readonly organizationId: string
  readonly createdAt: string
}

interface StoredObject extends Identity {
  readonly state: State
  readonly updatedAt: string
}

export function representationHead(kind: Kind, identity: Identity, state: State, isNew: boolean): string {
  const { id, organizationId, createdAt } = identity
  const shown: Record<string, unknown> = { id, object: kind.name, organizationId, createdAt }
  for (const name of kind.representationOrder) {
    if (isNew && kind.fields[name]?.sequence) continue
    shown[name] = state[name]
  }
  return bodyHead(shown)
}

export type StoredBody = Pick<StoredRow, 'body' | 'version'>

type Shown = Record<string, unknown> & Identity & { readonly updatedAt: string }

/**
 * Upgrades a body of an earlier version.
 * @throws NewerVersion when a later version dropped or renamed a field that this one has.
 */
export function parseRepresentation(kind: Kind, { body, version }: StoredBody): StoredObject {
  const shown = readJson(body) as Shown
  const { id, organizationId, createdAt, updatedAt } = shown
  const members = version === kind.table.version ? shown : otherVersion(kind, shown, version)
  const state = Object.fromEntries(kind.fieldNames.map((name) => [name, members[name]]))
  return { id, organizationId, createdAt, updatedAt, state }
}

/** A body of another version has at least the members of this one. */
function otherVersion(kind: Kind, shown: State, version: number): State {
  const members = kind.upgrades.slice(version - 1).reduce((state, upgrade) => upgrade(state), shown)
  const missing = kind.fieldNames.find((name) => members[name] === undefined)
  if (missing === undefined) return members
  if (version > kind.table.version)
    throw new NewerVersion(
      `a ${kind.name} of version ${version} has no ${missing}, and this release has version ${kind.table.version}`,
    )
  throw new Error(`the upgrades of a ${kind.name} of version ${version} give it no ${missing}`)
}

/** The head of a stored object in another state. Members of a later version of the kind stay. */
function changedHead(kind: Kind, row: StoredBody, before: Identity, state: State): string {
  if (row.version <= kind.table.version) return representationHead(kind, before, state, false)
  const { updatedAt: _, ...shown } = readJson(row.body) as Shown
  const own = Object.fromEntries(kind.fieldNames.map((name) => [name, state[name]]))
  return bodyHead({ ...shown, ...own })
}

/** From the same state as the body. */
export function columnValues(kind: Kind, state: State): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(kind.fields)) {
    if (field.column === null || field.sequence) continue
    values[field.column.name] = field.stored === undefined ? state[name] : field.stored(state[name])
  }
  return values
}

/** A new object as its rules accepted it. */
export interface NewObject {
  readonly state: State
  /** Of an import, which has no events; null: now. */
  readonly createdAt: string | null
}

export function insertChange(
  kind: Kind,
  organizationId: string,
  { state, createdAt }: NewObject,
  clock: Clock,
  idempotency: ResponseToStore | null,
): Change {
  const now = formatTimestamp(clock.now())
  const identity = { id: newId(clock), organizationId, createdAt: createdAt ?? now }
  const columns = columnValues(kind, state)
  const number = givenNumber(kind, state)
  return {
    operation: 'insert',
    table: kind.table,
    id: identity.id,
    decidedAt: now,
    createdAt: identity.createdAt,
    head: representationHead(kind, identity, state, true),
    columns: { ...columns, ...number },
    searchDocument: changedSearchDocument(kind, identity.createdAt, null, withoutNumber(kind, state)),
    references: setReferences(kind, null, columns),
    unique: { ...setUnique(kind, null, columns), ...number },
    ...takenPeriod(kind, null, state),
    events: createdAt === null ? kind.rules.events(null, state) : [],
    idempotency,
  }
}

function withoutNumber({ table: { sequence } }: Kind, state: State): State {
  return sequence === null ? state : { ...state, [sequence.field]: 0 }
}

/** The number of a new object, by its column, where an import gives one. */
function givenNumber({ table: { sequence } }: Kind, state: State): Record<string, unknown> {
  if (sequence === null || state[sequence.field] === 0) return {}
  return { [sequence.column]: state[sequence.field] }
}

/** Null when no value changes. Upgrading a row of an earlier version is a change too, without an event. */
export function updateChange(
  kind: Kind,
  clock: Clock,
  row: StoredRow,
  state: State,
  idempotency: ResponseToStore | null,
): Change | null {
  const before = parseRepresentation(kind, row)
  const head = changedHead(kind, row, before, state)
  const outdated = row.version < kind.table.version
  if (!outdated && hasHead(row.body, head)) return null
  const changesMore = !outdated || head !== changedHead(kind, row, before, before.state)
  const earlier = columnValues(kind, before.state)
  const columns = columnValues(kind, state)
  return {
    operation: 'update',
    table: kind.table,
    id: before.id,
    decidedAt: formatTimestamp(clock.now()),
    expected: row.updatedAt,
    bytes: storedBytes(row.body),
    contentTerm: contentTerm(row.body),
    head,
    columns,
    // The search document and the unique values of an earlier version are not known here.
    searchDocument: changedSearchDocument(kind, before.createdAt, outdated ? null : before.state, state),
    references: setReferences(kind, earlier, columns),
    unique: setUnique(kind, outdated ? null : earlier, columns),
    ...takenPeriod(kind, before.state, state),
    events: changesMore ? kind.rules.events(before.state, state) : [],
    changed: kind.fieldNames.filter((name) => !isSame(before.state[name], state[name])),
    idempotency,
  }
}

export function upgrading(kind: Kind, clock: Clock, row: StoredRow): Change {
  const change = updateChange(kind, clock, row, parseRepresentation(kind, row).state, null)
  if (change === null) throw new Error(`a ${kind.name} of this version is not upgraded`)
  return change
}

export function deleteChange(
  kind: Kind,
  clock: Clock,
  id: string,
  row: StoredRow,
  erasure: { readonly idempotency: ResponseToStore | null } | null = null,
): Change {
  const event = kind.removedEvent
  if (event === null) throw new Error(`a ${kind.name} cannot be removed`)
  return {
    operation: 'delete',
    table: kind.table,
    id,
    decidedAt: formatTimestamp(clock.now()),
    expected: row.updatedAt,
    bytes: storedBytes(row.body),
    contentTerm: contentTerm(row.body),
    events: [event],
    erases: erasure !== null,
    idempotency: erasure?.idempotency ?? null,
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

/** A time that the change takes, where it differs from what the object took before. */
function takenPeriod(kind: Kind, before: State | null, after: State): { readonly period?: Period } {
  const period = periodOf(kind, after)
  return period === null || (before !== null && isSame(periodOf(kind, before), period)) ? {} : { period }
}

function periodOf({ periods }: Kind, state: State): Period | null {
  if (periods === undefined || state[periods.owner] === null) return null
  if (!periods.taking.includes(state[periods.state] as string)) return null
  const [owner, starts, ends] = [periods.owner, periods.starts, periods.ends].map(
    (name) => state[name] as string,
  )
  return { owner, starts, ends } as Period
}

type Columns = Readonly<Record<string, unknown>>

/** References that the change sets. Earlier ones are not checked again. */
function setReferences(kind: Kind, before: Columns | null, after: Columns): Record<string, string> {
  const references: Record<string, string> = {}
  for (const { column } of kind.table.references) {
    const id = after[column.name]
    if (typeof id === 'string' && id !== before?.[column.name]) references[column.name] = id
  }
  return references
}

function setUnique(kind: Kind, before: Columns | null, after: Columns): Record<string, unknown> {
  const unique: Record<string, unknown> = {}
  for (const { column } of kind.table.unique) {
    const value = after[column.name]
    if (value !== null && value !== before?.[column.name]) unique[column.name] = value
  }
  return unique
}
