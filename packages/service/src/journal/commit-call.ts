/**
 * Units of changes to and from the JSON of the commit function (commit-function.ts). Each section of it is asked
 * for by what the call has: a call without a unique value or a reference to check runs no statement for them.
 */
import type { Change, CommitOutcome, Refusal, Unit, UnitOutcome } from './change.ts'
import { digestTerm } from './digest.ts'

type Sections = Record<string, unknown[]>

export interface CallOptions {
  /** Attempts that each delivery has. */
  readonly maxAttempts: number
  /** Whether to wait for a clock that somebody else holds for long. */
  readonly patient: boolean
  /** How far its time may be ahead of the database's clock, in milliseconds; null for as far as it likes. */
  readonly maxLead: number | null
}

/** The function's argument for one organization's units. */
export function encodeUnits(units: readonly Unit[], { maxAttempts, patient, maxLead }: CallOptions): string {
  const sections: Sections = { events: [] }
  const add = (section: string, row: unknown) => {
    sections[section] ??= []
    sections[section].push(row)
  }
  units.forEach((unit, number) => {
    for (const change of unit.changes) encodeChange(change, add)
    if (unit.changes.length > 1 || unit.rows !== undefined || unit.referring !== undefined) {
      encodeTogether(unit, number, add)
    }
  })
  return JSON.stringify({
    ...sections,
    max_attempts: maxAttempts,
    ...(patient ? { patient } : {}),
    ...(maxLead === null ? {} : { max_lead: maxLead }),
  })
}

type Add = (section: string, row: unknown) => void

function encodeChange(change: Change, add: Add): void {
  const { kind } = change.table
  const { id } = change
  const expected = change.operation === 'create' ? null : change.expected
  add(`${kind}_${change.operation}`, writtenRow(change))
  if (change.operation !== 'remove') {
    if (change.words !== null) add(`${kind}_words`, { id, ...change.words })
    if (Object.keys(change.unique).length > 0) add(`${kind}_unique`, { id, expected, ...change.unique })
    if (Object.keys(change.references).length > 0) {
      add(`${kind}_references`, { id, expected, ...change.references })
    }
  }
  for (const type of change.events) add('events', { type, subject_kind: kind, subject_id: id })
  const record = change.idempotency
  if (record === null) return
  add('idempotency', {
    subject_id: id,
    api_key_id: record.apiKeyId,
    method: record.method,
    path: record.path,
    key: record.key,
    request_hash: record.requestHash,
    status: record.status,
    answer: record.body,
  })
}

function writtenRow(change: Change): Record<string, unknown> {
  const row: Record<string, unknown> = { id: change.id }
  if (change.operation === 'create') row.created_at = change.decidedAt
  else {
    row.expected = change.expected
    // What the row adds to the digest now: the compare-and-set proves it, so the database need not hash again.
    row.old_term = digestTerm(change.id, change.expected)
  }
  if (change.operation === 'remove') return row
  row.head = change.head
  return Object.assign(row, change.columns)
}

/** What lets the function refuse a unit whole: its members, and the versions that it was decided on. */
function encodeTogether(unit: Unit, number: number, add: Add): void {
  for (const change of unit.changes) {
    add('units', { unit: number, id: change.id })
    if (change.operation === 'update') {
      add(`${change.table.kind}_expected`, { id: change.id, expected: change.expected })
    } else if (change.operation === 'remove') {
      throw new Error('a removal commits by itself: it comes before the checks of its call')
    }
  }
  for (const { table, id, expected } of unit.rows ?? []) {
    add('units', { unit: number, id })
    add(`${table.kind}_expected`, { id, expected })
  }
  for (const { table, column, id, count, latest } of unit.referring ?? []) {
    // Refused under the name of the unit's first change, which is there for certain.
    add(`${table.kind}_${column}_referring`, { id: unit.changes[0]?.id, target: id, count, latest })
  }
}

/** The function's answer. */
export interface CommitAnswer {
  readonly refused: readonly ({ readonly id: string } & Exclude<CommitOutcome, { outcome: 'done' }>)[]
  readonly done: readonly { readonly id: string; readonly body: string }[]
  /** Whether endpoints were subscribed to what happened. */
  readonly deliveries?: boolean
  /** How far the stamp was ahead of the database's clock, in milliseconds, where `maxLead` was given. */
  readonly lead?: number | null
}

/** What became of each unit, in their order. A change that the answer does not name lost its race. */
export function decodeOutcomes(units: readonly Unit[], answer: CommitAnswer): UnitOutcome[] {
  const bodies = new Map(answer.done.map(({ id, body }) => [id, body]))
  const refusals = new Map<string, Refusal>()
  for (const { id, ...refusal } of answer.refused) if (!refusals.has(id)) refusals.set(id, refusal)
  return units.map((unit): UnitOutcome => {
    const done = unit.changes.map(({ id }) => bodies.get(id))
    if (done.every((body) => body !== undefined)) return { outcome: 'done', bodies: done }
    const ids = [...unit.changes, ...(unit.rows ?? [])].map(({ id }) => id)
    const refused = ids.flatMap((id) => {
      const refusal = refusals.get(id)
      return refusal === undefined ? [] : [[id, refusal] as const]
    })
    return { outcome: 'refused', refusals: new Map(refused) }
  })
}
