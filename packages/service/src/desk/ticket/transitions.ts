/** What happens to a ticket: pure functions from one state to the next (specification 4.6). */
import { type FieldError, type Problem, problem, validationFailed } from '../../kernel/errors.ts'
import { fail, ok, type Result } from '../../kernel/outcome.ts'
import type { RuleContext } from '../../kinds/model/kind.ts'

export const ticketStatuses = ['new', 'open', 'pending', 'on_hold', 'resolved', 'closed'] as const

export type TicketStatus = (typeof ticketStatuses)[number]

/** The moves that each status allows. Keeping the status is always allowed. */
export const ticketMoves: Readonly<Record<TicketStatus, readonly TicketStatus[]>> = {
  new: ['open', 'pending', 'on_hold', 'resolved'],
  open: ['pending', 'on_hold', 'resolved'],
  pending: ['open', 'on_hold', 'resolved'],
  on_hold: ['open', 'pending', 'resolved'],
  resolved: ['open', 'closed'],
  closed: [],
}

export const changeableWhenClosed: ReadonlySet<string> = new Set([
  'tags',
  'subject',
  'priority',
  'customAttributes',
])

interface Moving {
  readonly status: TicketStatus
  readonly assigneeId: string | null
  readonly resolvedAt: string | null
  readonly closedAt: string | null
}

/**
 * Any status is possible from the start; assigning a new ticket opens it. An import gives the times of a settled one.
 */
export function createTicket<S extends Moving>(draft: S, { now }: RuleContext): Result<S, Problem> {
  const status = draft.status === 'new' && draft.assigneeId !== null ? 'open' : draft.status
  const settled = status === 'resolved' || status === 'closed'
  const resolvedAt = draft.resolvedAt ?? draft.closedAt ?? now
  const closedAt = draft.closedAt ?? resolvedAt
  const errors: FieldError[] = []
  const refuse = (field: string, detail: string) =>
    errors.push({ pointer: `/${field}`, code: 'invalid_value', detail })
  if (!settled && draft.resolvedAt !== null) refuse('resolvedAt', `must be null: the ticket is ${status}`)
  if (status !== 'closed' && draft.closedAt !== null)
    refuse('closedAt', `must be null: the ticket is ${status}`)
  else if (closedAt < resolvedAt) refuse('closedAt', 'must not be before resolvedAt')
  if (errors.length > 0) return fail(validationFailed(errors))
  return ok({
    ...draft,
    status,
    resolvedAt: settled ? resolvedAt : null,
    closedAt: status === 'closed' ? closedAt : null,
  })
}

/** A closed ticket takes few changes; assigning a new one opens it. */
export function updateTicket<S extends Moving>(
  before: S,
  draft: S,
  sent: ReadonlySet<string>,
  { now }: RuleContext,
): Result<S, Problem> {
  if (before.status === 'closed' && draft.status === 'closed') {
    const refused = [...sent].filter(
      (field) => !changeableWhenClosed.has(field) && changes(before, draft, field),
    )
    if (refused.length === 0) return ok(draft)
    const detail = `The ticket is closed: ${refused.join(', ')} cannot change. Only ${[...changeableWhenClosed].join(', ')} can.`
    return fail(problem('ticket_closed', detail))
  }
  if (draft.status !== before.status && !ticketMoves[before.status].includes(draft.status)) {
    const allowed = ticketMoves[before.status].join(', ') || 'none'
    const detail = `The ticket is ${before.status} and cannot become ${draft.status}; allowed from ${before.status}: ${allowed}.`
    return fail(problem('invalid_transition', detail))
  }
  const assigned = draft.assigneeId !== null && draft.assigneeId !== before.assigneeId
  const status = assigned && draft.status === 'new' ? 'open' : draft.status
  if (status === before.status) return ok({ ...draft, status })
  const settled = status === 'resolved' || status === 'closed'
  return ok({
    ...draft,
    status,
    resolvedAt: status === 'resolved' ? now : settled ? draft.resolvedAt : null,
    closedAt: status === 'closed' ? now : null,
  })
}

export type ReopenableTicket = Pick<Moving, 'status' | 'resolvedAt'>

/** An inbound message on its conversation opens a ticket with one of these. */
export const waitingStatuses: readonly TicketStatus[] = ['pending', 'on_hold', 'resolved']

export function reopenedByMessage<S extends ReopenableTicket>(before: S): S {
  return waitingStatuses.includes(before.status) ? { ...before, status: 'open', resolvedAt: null } : before
}

/** Creation emits one event alone; every change emits ticket.updated, and one for each special change. */
export function ticketEvents(before: Moving | null, after: Moving): readonly string[] {
  if (before === null) return ['ticket.created']
  const events = ['ticket.updated']
  if (after.status !== before.status) events.push('ticket.status_changed')
  if (after.assigneeId !== null && after.assigneeId !== before.assigneeId) events.push('ticket.assigned')
  return events
}

function changes<S extends Moving>(before: S, draft: S, field: string): boolean {
  const key = field as keyof S
  return JSON.stringify(before[key]) !== JSON.stringify(draft[key])
}
