/**
 * The write flow of a kind: decide on what is stored, commit, and when the row has moved on meanwhile decide
 * again. Decisions are the kind's pure rules; the journal alone writes.
 */
import type { Change, CommitOutcome, IdempotencyRecord } from '../journal/change.ts'
import type { Journal } from '../journal/journal.ts'
import type { RowReader, StoredRow } from '../journal/rows.ts'
import type { Clock } from '../kernel/clock.ts'
import { type Problem, problem, validationFailed } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { createKeyedQueue } from '../kernel/keyed-queue.ts'
import { ok, type Result } from '../kernel/result.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { Kind, State } from './kind.ts'
import { changedWords, columnValues, parseRepresentation, representationHead } from './representation.ts'
import { parseCreation, parsePatch } from './validate.ts'

export type ChangeResult =
  /** What is stored now: the representation, or for a removal its record. */
  | { readonly outcome: 'done'; readonly body: string }
  | { readonly outcome: 'refused'; readonly problem: Problem }
  /** The Idempotency-Key had committed already. */
  | { readonly outcome: 'replayed' }

/** Refuses a version of the row, as If-Match asks; null lets the change go on. */
export type Precondition = (row: StoredRow) => Problem | null

export interface Changes {
  create(organizationId: string, body: unknown, idempotency: IdempotencyRecord | null): Promise<ChangeResult>
  update(organizationId: string, id: string, body: unknown, precondition: Precondition): Promise<ChangeResult>
  remove(organizationId: string, id: string, precondition: Precondition): Promise<ChangeResult>
}

/** Other processes may win the race for a row this often before its writer is told to try again. */
const attempts = 10

type Decision = Result<Change | { readonly unchanged: string }, Problem>

/** The changes of one kind. */
export function createChanges(options: {
  readonly kind: Kind
  readonly journal: Journal
  readonly rows: RowReader
  readonly clock: Clock
}): Changes {
  const { kind, journal, rows, clock } = options
  // Changes of one row wait for each other here rather than losing to each other there.
  const rowQueue = createKeyedQueue()

  return { create, update, remove }

  async function create(
    organizationId: string,
    body: unknown,
    idempotency: IdempotencyRecord | null,
  ): Promise<ChangeResult> {
    const now = formatTimestamp(clock.now())
    const parsed = parseCreation(kind, body)
    if (!parsed.ok) return refused(parsed.error)
    const completed = kind.rules.create?.(parsed.value, { now }) ?? parsed
    if (!completed.ok) return refused(completed.error)
    const state = completed.value
    const identity = { id: newId(clock), organizationId, createdAt: now }
    const change: Change = {
      operation: 'create',
      table: kind.table,
      id: identity.id,
      decidedAt: now,
      head: representationHead(kind, identity, state, true),
      columns: columnValues(kind, state),
      words: changedWords(kind, null, state),
      check: newReferences(null, state),
      events: changeEvents(null, state),
      idempotency,
    }
    return settled(await journal.commit(organizationId, change)) ?? refused(tooBusy)
  }

  function update(organizationId: string, id: string, body: unknown, precondition: Precondition) {
    return changeRow(organizationId, id, precondition, (row) => {
      const now = formatTimestamp(clock.now())
      const before = parseRepresentation(kind, row.body)
      const patch = parsePatch(kind, before.state, body)
      if (!patch.ok) return patch
      const { draft, sent } = patch.value
      const completed = kind.rules.update?.(before.state, draft, sent, { now }) ?? ok(draft)
      if (!completed.ok) return completed
      const state = completed.value
      const head = representationHead(kind, before, state, false)
      if (row.body.startsWith(head)) return ok({ unchanged: row.body })
      return ok({
        operation: 'update',
        table: kind.table,
        id,
        decidedAt: now,
        expected: row.updatedAt,
        head,
        columns: columnValues(kind, state),
        words: changedWords(kind, before.state, state),
        check: newReferences(before.state, state),
        events: changeEvents(before.state, state),
        idempotency: null,
      })
    })
  }

  function remove(organizationId: string, id: string, precondition: Precondition) {
    const event = kind.removedEvent
    if (event === null) throw new Error(`a ${kind.name} cannot be removed`)
    return changeRow(organizationId, id, precondition, (row) =>
      ok({
        operation: 'remove',
        table: kind.table,
        id,
        decidedAt: formatTimestamp(clock.now()),
        expected: row.updatedAt,
        events: [{ id: newId(clock), type: event }],
        idempotency: null,
      }),
    )
  }

  function changeRow(
    organizationId: string,
    id: string,
    precondition: Precondition,
    decide: (row: StoredRow) => Decision,
  ): Promise<ChangeResult> {
    return rowQueue.run(`${organizationId} ${id}`, async () => {
      for (let attempt = 0; attempt < attempts; attempt++) {
        const row = await rows.read(organizationId, id)
        if (row === null) return refused(noSuch(kind, id))
        const unmet = precondition(row)
        if (unmet !== null) return refused(unmet)
        const decision = decide(row)
        if (!decision.ok) return refused(decision.error)
        if ('unchanged' in decision.value) return { outcome: 'done', body: decision.value.unchanged }
        const result = settled(await journal.commit(organizationId, decision.value))
        if (result !== null) return result
      }
      return refused(tooBusy)
    })
  }

  /** Null when the race was lost. */
  function settled(outcome: CommitOutcome): ChangeResult | null {
    switch (outcome.outcome) {
      case 'done':
      case 'replayed':
        return outcome
      case 'conflict':
        return null
      case 'duplicate': {
        const detail = `Another ${kind.name} has this ${outcome.field}: change ${outcome.existingId}, or send another value.`
        return refused(problem('duplicate', detail, { existingId: outcome.existingId }))
      }
      case 'dangling':
        return refused(unknownReference(outcome.field))
    }
  }

  function unknownReference(name: string): Problem {
    const target = kind.fields[name]?.reference
    const called = target?.condition?.otherwise ?? target?.kind
    return validationFailed([
      { pointer: `/${name}`, code: 'unknown_reference', detail: `there is no ${called} with this id` },
    ])
  }

  /** References that this change sets: they must exist. What was set earlier is not asked again. */
  function newReferences(before: State | null, after: State): Record<string, string> {
    const check: Record<string, string> = {}
    for (const { field, column } of kind.table.references) {
      const id = after[field]
      if (typeof id === 'string' && id !== before?.[field]) check[column.name] = id
    }
    return check
  }

  function changeEvents(before: State | null, after: State) {
    return kind.rules.events(before, after).map((type) => ({ id: newId(clock), type }))
  }
}

/** 404 for an id that the organization does not have. */
export function noSuch(kind: Kind, id: string): Problem {
  return problem('not_found', `There is no ${kind.name} ${id}. It may have been removed; check the id.`)
}

const tooBusy = problem(
  'unavailable',
  'Other writers changed the object each time this change was about to commit. Send it again.',
)

function refused(refusal: Problem): ChangeResult {
  return { outcome: 'refused', problem: refusal }
}
