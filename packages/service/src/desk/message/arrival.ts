/**
 * New messages: each takes customer and channel from its conversation and moves its `lastMessageAt`; an inbound one
 * reopens the conversation and its tickets that are pending, on hold or resolved, in the same commit (specification
 * 4.5). A message that is deleted takes its conversation's summary along, which may repeat it.
 */
import { type FieldError, type Problem, validationFailed } from '../../kernel/errors.ts'
import { fail, ok, type Result } from '../../kernel/outcome.ts'
import type { DeskReader, Effects, Moved, Read, RuleContext } from '../../kinds/model/kind.ts'
import type { Conversation } from '../conversation/fields.ts'
import { conversation } from '../conversation/index.ts'
import { withLastMessage, withMessage, withoutSummary } from '../conversation/transitions.ts'
import { ticket } from '../ticket/index.ts'
import { type ReopenableTicket, reopenedByMessage } from '../ticket/transitions.ts'
import type { Message } from './fields.ts'
import { authorErrors } from './fields.ts'

/** The customer writes inbound messages and no others; it has content; `sentAt` is now by default. */
export function createMessage(draft: Message, { now }: RuleContext): Result<Message, Problem> {
  const errors: FieldError[] = []
  const { author, direction } = draft
  if ((direction === 'inbound') !== (author.type === 'customer')) {
    const accepted = direction === 'inbound' ? 'customer' : 'teammate, ai or system'
    const detail = `must be ${accepted}: the message is ${direction}`
    errors.push({ pointer: '/author/type', code: 'invalid_value', detail })
  }
  errors.push(...authorErrors(author))
  if (!draft.body && draft.attachments.length === 0) {
    const detail = 'is required unless there are attachments: must be a string of 1 to 64000 characters'
    errors.push({ pointer: '/body', code: 'required', detail })
  }
  if (errors.length > 0) return fail(validationFailed(errors))
  return ok({ ...draft, sentAt: draft.sentAt ?? now })
}

/** A message never changes, apart from losing references, which has no event. */
export function messageEvents(before: Message | null, after: Message): readonly string[] {
  if (before !== null) return []
  return [after.direction === 'inbound' ? 'message.received' : 'message.sent']
}

export const arrival: Effects<Message> = {
  events: ['conversation.reopened', 'ticket.updated', 'ticket.status_changed'],
  queuedBehind: (draft) => draft.conversationId,
  async plan(drafts, desk, isImport) {
    const ids = drafts.map((draft) => draft.conversationId)
    const conversations = await desk.byId<Conversation>(conversation, ids)
    const completed = drafts.map((draft) => {
      const within = conversations.get(draft.conversationId)
      if (within === undefined) return fail(noConversation)
      const { customerId, channel } = within.state
      return ok({ ...draft, customerId, channel })
    })
    const arriving = drafts.filter((draft) => conversations.has(draft.conversationId))
    const moved = isImport
      ? movedConversations(conversations, arriving, (before, { sentAt }) => withLastMessage(before, sentAt))
      : [
          ...movedConversations(conversations, arriving, withMessage),
          ...(await reopenedTickets(desk, arriving)),
        ]
    return { drafts: completed, moved }
  },
  async removed({ conversationId }, desk) {
    const found = await desk.byId<Conversation>(conversation, [conversationId])
    return [...found.values()].map(({ id, state }) => ({
      kind: conversation,
      id,
      after: withoutSummary(state),
    }))
  },
}

/** Refuses a creation in a conversation that does not exist. */
export const noConversation = validationFailed([
  { pointer: '/conversationId', code: 'unknown_reference', detail: 'there is no conversation with this id' },
])

function movedConversations(
  conversations: ReadonlyMap<string, Read<Conversation>>,
  messages: readonly Message[],
  move: (before: Conversation, message: Message) => Conversation,
): Moved[] {
  const after = new Map([...conversations].map(([id, { state }]) => [id, state]))
  for (const message of messages) {
    const before = after.get(message.conversationId)
    if (before !== undefined) after.set(message.conversationId, move(before, message))
  }
  return [...after].map(([id, state]) => ({ kind: conversation, id, after: state }))
}

async function reopenedTickets(desk: DeskReader, messages: readonly Message[]): Promise<Moved[]> {
  const answered = messages.filter(({ direction }) => direction === 'inbound')
  const ids = answered.map(({ conversationId }) => conversationId)
  const tickets = await desk.changeable<ReopenableTicket>(ticket, 'conversationId', ids)
  return tickets.map(({ id, state }) => ({ kind: ticket, id, after: { ...reopenedByMessage(state) } }))
}
