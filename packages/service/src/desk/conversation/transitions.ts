/** What happens to a conversation: pure functions from one state to the next (specification 4.4). */
import { type FieldError, type Problem, validationFailed } from '../../kernel/errors.ts'
import { fail, ok, type Result } from '../../kernel/outcome.ts'
import { type RuleContext, refuseMove } from '../../kinds/model/kind.ts'
import type { Conversation } from './fields.ts'

type ConversationMove = 'escalate' | 'resolve' | 'reopen' | 'summarize'

/** Escalation also needs an AI that handles the conversation. */
const moves: Readonly<Record<Conversation['status'], readonly ConversationMove[]>> = {
  open: ['escalate', 'resolve'],
  resolved: ['escalate', 'reopen', 'summarize'],
}

function allowedMoves({ status, handledBy }: Conversation): readonly ConversationMove[] {
  return moves[status].filter((move) => move !== 'escalate' || handledBy === 'ai')
}

function moved(
  before: Conversation,
  move: ConversationMove,
  after: () => Conversation,
): Result<Conversation, Problem> {
  const allowed = allowedMoves(before)
  if (allowed.includes(move)) return ok(after())
  const state = before.handledBy === 'ai' ? `${before.status}, handled by an AI` : before.status
  return refuseMove({ kind: 'conversation', state }, move, allowed)
}

/**
 * It begins open, unless an import says how it ended. One that was resolved without a summary counts as summarized: the
 * service does not summarize the past.
 */
export function createConversation(draft: Conversation, { now }: RuleContext): Result<Conversation, Problem> {
  const { status, handledBy, escalatedAt } = draft
  const errors: FieldError[] = []
  const refuse = (field: string, because: string) =>
    errors.push({ pointer: `/${field}`, code: 'invalid_value', detail: `must be null: ${because}` })
  if (handledBy === 'ai' && escalatedAt !== null) refuse('escalatedAt', 'an AI handles it')
  if (status === 'open') {
    for (const field of ['resolvedAt', 'summary', 'summarizedAt'] as const)
      if (draft[field] !== null) refuse(field, 'the conversation is open')
  }
  if (errors.length > 0) return fail(validationFailed(errors))
  if (status === 'open') return ok(draft)
  const resolvedAt = draft.resolvedAt ?? now
  return ok({ ...draft, resolvedAt, summarizedAt: draft.summarizedAt ?? resolvedAt })
}

/** Passes a conversation from an AI to a person. */
export function escalate(before: Conversation, { now }: RuleContext): Result<Conversation, Problem> {
  return moved(before, 'escalate', () => ({ ...before, handledBy: 'human', escalatedAt: now }))
}

/** The summary is written later. */
export function resolve(before: Conversation, { now }: RuleContext): Result<Conversation, Problem> {
  return moved(before, 'resolve', () => ({ ...before, status: 'resolved', resolvedAt: now }))
}

export function reopen(before: Conversation): Result<Conversation, Problem> {
  return moved(before, 'reopen', () => reopened(before))
}

/** By the service or by an AI outside; a later summary replaces an earlier one. */
export function summarize(
  before: Conversation,
  summary: string,
  { now }: RuleContext,
): Result<Conversation, Problem> {
  return moved(before, 'summarize', () =>
    summary === before.summary ? before : { ...before, summary, summarizedAt: now },
  )
}

/** Open again, without the values of its resolution. */
function reopened(before: Conversation): Conversation {
  return { ...withoutSummary(before), status: 'open', resolvedAt: null }
}

/** Of a resolved conversation the service writes another. */
export function withoutSummary(before: Conversation): Conversation {
  return { ...before, summary: null, summarizedAt: null }
}

/** A message of it was created; an inbound one reopens it. */
export function withMessage(
  before: Conversation,
  { direction, sentAt }: { readonly direction: 'inbound' | 'outbound'; readonly sentAt: string | null },
): Conversation {
  const open = direction === 'inbound' && before.status === 'resolved' ? reopened(before) : before
  return withLastMessage(open, sentAt)
}

/** The message may be older than others, and from an import: then nothing else changes. */
export function withLastMessage(before: Conversation, sentAt: string | null): Conversation {
  const isLater = sentAt !== null && (before.lastMessageAt === null || sentAt > before.lastMessageAt)
  return isLater ? { ...before, lastMessageAt: sentAt } : before
}

/** Assigning one that an AI handles escalates it to a person. */
export function updateConversation(
  before: Conversation,
  draft: Conversation,
  _sent: ReadonlySet<string>,
  { now }: RuleContext,
): Result<Conversation, Problem> {
  if (!isAssignment(before, draft) || before.handledBy === 'human') return ok(draft)
  return ok({ ...draft, handledBy: 'human', escalatedAt: now })
}

function isAssignment(before: Conversation, after: Conversation): boolean {
  return after.assigneeId !== null && after.assigneeId !== before.assigneeId
}

/** Changes of other fields have no event: they show in the sync only. */
export function conversationEvents(before: Conversation | null, after: Conversation): readonly string[] {
  if (before === null) return ['conversation.created']
  const events: string[] = []
  if (isAssignment(before, after)) events.push('conversation.assigned')
  if (before.assigneeId !== null && after.assigneeId === null) events.push('conversation.unassigned')
  if (before.handledBy === 'ai' && after.handledBy === 'human') events.push('conversation.escalated')
  if (before.status === 'open' && after.status === 'resolved') events.push('conversation.resolved')
  if (before.status === 'resolved' && after.status === 'open') events.push('conversation.reopened')
  if (after.summary !== null && after.summary !== before.summary) events.push('conversation.summarized')
  return events
}
