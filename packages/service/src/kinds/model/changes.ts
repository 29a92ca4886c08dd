/**
 * The write path of a kind: pure rules decide on the stored row, the journal commits, a conflict is decided again. The
 * stream `GET /v1/changes` is kinds/http/stream-routes.ts.
 */
import type { Change, Refusal, RequestContext, ResponseToStore, Unit } from '../../journal/change.ts'
import type { Journal } from '../../journal/journal.ts'
import type { StoredRow } from '../../journal/rows.ts'
import { noSuch, type Problem, problem, validationFailed } from '../../kernel/errors.ts'
import { parseCreation, parsePatch } from '../../kernel/fields/validate.ts'
import { type Outcome, ok, type Result, refused, retryOnConflict } from '../../kernel/outcome.ts'
import type { KeyedQueue } from '../../kernel/shared-work.ts'
import { type Clock, formatTimestamp } from '../../kernel/timestamps.ts'
import type { Action, Kind, State } from './kind.ts'
import { deleteChange, parseRepresentation, updateChange } from './representation.ts'
import { planInserts, planRemoval, type Rows } from './units.ts'

/** For If-Match, or a caller that may not change the row any more; null allows the change. */
export type Precondition = (row: StoredRow) => Problem | null | Promise<Problem | null>

/** While a creation is queued: checks the caller again, and ends when the client disconnects. */
interface WhileWaiting extends RequestContext {
  readonly recheck?: () => Promise<Problem | null>
}

interface ActionRequest {
  readonly action: string
  readonly body: unknown
  /** What else must be as it was read. */
  readonly onlyIf?: Pick<Unit, 'referring'>
}

export interface ChangeServices {
  readonly kind: Kind
  readonly journal: Journal
  readonly rows: Rows
  readonly clock: Clock
  /** Changes of one row run one after another here, instead of conflicting at their commit. */
  readonly queue: KeyedQueue
}

interface ChangeOptions {
  readonly precondition: Precondition
  readonly context: RequestContext | undefined
  /** What its unit has besides the change and the context. */
  readonly unitExtras?: (row: StoredRow) => Promise<Partial<Unit>>
}

type Decide = (before: State) => Result<State, Problem>

export type Changes = ReturnType<typeof createChanges>

/** A result is the stored representation or removal record. A queued change whose `signal` aborts is not made. */
export function createChanges(services: ChangeServices) {
  const { kind, journal, rows, clock, queue } = services
  return { create, update, act, remove, erase }

  async function create(
    organizationId: string,
    body: unknown,
    idempotency: ResponseToStore | null,
    { recheck = async () => null, ...context }: WhileWaiting = {},
  ): Promise<Outcome<string>> {
    const draft = parseNew(kind, body, clock)
    if (!draft.ok) return refused(draft.error)
    const state = draft.value
    if (kind.effects === null) return attemptInsert()
    const create = async () => {
      const refusal = await recheck()
      return refusal === null ? attemptInsert() : refused(refusal)
    }
    return queue.run(`${organizationId} ${kind.effects.queuedBehind(state)}`, create, context.signal)

    async function attemptInsert(): Promise<Outcome<string>> {
      const result = await retryOnConflict<Outcome<string>>(async () => {
        const { changes, rest } = await planInserts(
          services,
          organizationId,
          [{ state, createdAt: null }],
          idempotency,
        )
        const [change] = changes
        if (change === undefined) throw new Error('a creation has no plan')
        if (!change.ok) return refused(change.error)
        const unit = kind.effects === null ? context : { ...rest, ...context }
        return explained(await journal.commit(organizationId, change.value, unit))
      })
      return result ?? refused(tooBusy)
    }
  }

  function update(
    organizationId: string,
    id: string,
    body: unknown,
    precondition: Precondition,
    context?: RequestContext,
  ): Promise<Outcome<string>> {
    return changeState(organizationId, id, { precondition, idempotency: null, context }, (before) =>
      parseChange(kind, before, body, clock),
    )
  }

  async function act(
    organizationId: string,
    id: string,
    request: ActionRequest,
    precondition: Precondition,
    idempotency: ResponseToStore | null,
    context?: RequestContext,
  ): Promise<Outcome<string>> {
    const action = kind.actions[request.action]
    if (action === undefined) throw new Error(`a ${kind.name} has no action ${request.action}`)
    const input = parseAction(request.action, action, request.body)
    if (!input.ok) return refused(input.error)
    const unitExtras = async () => request.onlyIf ?? {}
    return changeState(organizationId, id, { precondition, idempotency, context, unitExtras }, (before) =>
      action.apply(before, input.value, { now: formatTimestamp(clock.now()) }),
    )
  }

  function remove(
    organizationId: string,
    id: string,
    precondition: Precondition,
    context?: RequestContext,
  ): Promise<Outcome<string>> {
    const unitExtras = (row: StoredRow) => planRemoval(services, organizationId, row)
    return changeRow(organizationId, id, { precondition, context, unitExtras }, (row) =>
      ok(deleteChange(kind, clock, id, row)),
    )
  }

  /** Removes a person with everything that refers to it. The value is the receipt. */
  function erase(
    organizationId: string,
    id: string,
    precondition: Precondition,
    idempotency: ResponseToStore | null,
    context?: RequestContext,
  ): Promise<Outcome<string>> {
    return changeRow(organizationId, id, { precondition, context }, (row) =>
      ok(deleteChange(kind, clock, id, row, { idempotency })),
    )
  }

  function changeState(
    organizationId: string,
    id: string,
    options: ChangeOptions & { readonly idempotency: ResponseToStore | null },
    decide: Decide,
  ): Promise<Outcome<string>> {
    return changeRow(organizationId, id, options, (row) => {
      const state = decide(parseRepresentation(kind, row).state)
      return state.ok ? ok(updateChange(kind, clock, row, state.value, options.idempotency)) : state
    })
  }

  /** Commits the decision on the current row; null changes nothing. */
  function changeRow(
    organizationId: string,
    id: string,
    options: ChangeOptions,
    decide: (row: StoredRow) => Result<Change | null, Problem>,
  ): Promise<Outcome<string>> {
    const { precondition, context } = options
    const change = async () => {
      const result = await retryOnConflict<Outcome<string>>(async () => {
        const row = await rows(kind).read(organizationId, id)
        if (row === null) return refused(noSuchObject(kind, id))
        const unmet = await precondition(row)
        if (unmet !== null) return refused(unmet)
        const decision = decide(row)
        if (!decision.ok) return refused(decision.error)
        if (decision.value === null) return { outcome: 'unchanged', value: row.body, about: id }
        const extras = await options.unitExtras?.(row)
        return explained(await journal.commit(organizationId, decision.value, { ...extras, ...context }))
      })
      return result ?? refused(tooBusy)
    }
    return queue.run(`${organizationId} ${id}`, change, context?.signal)
  }

  /** Null for a conflict, as the change has to be decided again. */
  function explained(outcome: Outcome<string, Refusal>): Outcome<string> | null {
    if (outcome.outcome !== 'refused') return outcome
    return outcome.error.reason === 'conflict' ? null : refused(refusalProblem(kind, outcome.error))
  }
}

/** A new object, from its body and the kind's rules. `listed`: errors of a refusal at most. */
export function parseNew(kind: Kind, body: unknown, clock: Clock, listed?: number): Result<State, Problem> {
  const parsed = parseCreation(kind, body, listed)
  if (!parsed.ok) return parsed
  return kind.rules.create?.(parsed.value, { now: formatTimestamp(clock.now()) }) ?? parsed
}

/** An object after a PATCH, by the kind's rules. `listed`: errors of a refusal at most. */
export function parseChange(
  kind: Kind,
  before: State,
  body: unknown,
  clock: Clock,
  listed?: number,
): Result<State, Problem> {
  const patch = parsePatch(kind, before, body, listed)
  if (!patch.ok) return patch
  const { draft, sent } = patch.value
  return kind.rules.update?.(before, draft, sent, { now: formatTimestamp(clock.now()) }) ?? ok(draft)
}

/** The input of an action. One without fields takes no body. */
export function parseAction(name: string, { fields }: Action<State>, body: unknown): Result<State, Problem> {
  return parseCreation({ name: `${name} request`, fields }, body ?? {})
}

export function refusalProblem(kind: Kind, refusal: Exclude<Refusal, { reason: 'conflict' }>): Problem {
  switch (refusal.reason) {
    case 'duplicate':
      return duplicate(kind, refusal.field, refusal.existingId)
    case 'dangling':
      return unknownReference(kind, refusal.field)
    case 'overlap':
      return bookingConflict(refusal.existingId)
    case 'full':
      return full(refusal)
  }
}

function full({ of, most }: Extract<Refusal, { reason: 'full' }>): Problem {
  const allowed = of === 'rows' ? `${most} objects of all kinds` : `objects of ${most} bytes together`
  return problem(
    'limit_reached',
    `An organization may have ${allowed}. Delete customers or tickets that are not needed, or ask the operator for more.`,
  )
}

function duplicate(kind: Kind, field: string, existingId: string): Problem {
  const detail = `Another ${kind.name} has this ${field}: change that one, or send another value.`
  return problem('duplicate', detail, { existingId })
}

export function bookingConflict(existingId: string): Problem {
  const detail = `The assignee has ${existingId} at that time: choose another time, or another teammate.`
  return problem('booking_conflict', detail, { existingId })
}

function unknownReference(kind: Kind, field: string): Problem {
  const target = kind.fields[field]?.reference
  const called = target?.condition?.otherwise ?? target?.kind
  const pointer = `/${field}${target?.within ?? ''}`
  return validationFailed([
    { pointer, code: 'unknown_reference', detail: `there is no ${called} with this id` },
  ])
}

export function noSuchObject(kind: Kind, id: string): Problem {
  return noSuch(kind.name, id, 'It may have been removed; check the id.')
}

export const tooBusy = problem(
  'unavailable',
  'Other writers changed the object each time this change was about to commit. Send it again.',
)
