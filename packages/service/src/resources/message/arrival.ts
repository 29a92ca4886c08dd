/**
 * What messages do when they arrive: each takes customer and channel from its conversation and moves its
 * `lastMessageAt`; an inbound one reopens the conversation, and the tickets of it that had come to rest. All of it
 * commits with the messages (specification 4.5).
 */
import { validationFailed } from '../../kernel/errors.ts'
import { fail, ok } from '../../kernel/result.ts'
import type { Alongside, DeskReader, Moved, Read } from '../../resource/kind.ts'
import type { Conversation } from '../conversation/fields.ts'
import { conversation } from '../conversation/index.ts'
import { withMessage } from '../conversation/moves.ts'
import { ticket } from '../ticket/index.ts'
import { type ReopenableTicket, reopenedByMessage } from '../ticket/moves.ts'
import type { Message } from './fields.ts'

export const arrival: Alongside<Message> = {
  events: ['ticket.updated', 'ticket.status_changed'],
  queuedBehind: (draft) => draft.conversationId,
  async plan(drafts, desk) {
    const ids = drafts.map((draft) => draft.conversationId)
    const conversations = await desk.byId<Conversation>(conversation, ids)
    const completed = drafts.map((draft) => {
      const within = conversations.get(draft.conversationId)
      if (within === undefined) return fail(noConversation)
      const { customerId, channel } = within.state
      return ok({ ...draft, customerId, channel })
    })
    const arriving = drafts.filter((draft) => conversations.has(draft.conversationId))
    const moved = [...movedConversations(conversations, arriving), ...(await reopenedTickets(desk, arriving))]
    return { drafts: completed, moved }
  },
}

const noConversation = validationFailed([
  { pointer: '/conversationId', code: 'unknown_reference', detail: 'there is no conversation with this id' },
])

function movedConversations(
  conversations: ReadonlyMap<string, Read<Conversation>>,
  messages: readonly Message[],
): Moved[] {
  const after = new Map([...conversations].map(([id, { state }]) => [id, state]))
  for (const message of messages) {
    const before = after.get(message.conversationId)
    if (before !== undefined) after.set(message.conversationId, withMessage(before, message))
  }
  return [...after].map(([id, state]) => ({ kind: conversation, id, after: state }))
}

async function reopenedTickets(desk: DeskReader, messages: readonly Message[]): Promise<Moved[]> {
  const answered = messages.filter(({ direction }) => direction === 'inbound')
  const ids = answered.map(({ conversationId }) => conversationId)
  const tickets = await desk.referring<ReopenableTicket>(ticket, 'conversationId', ids)
  return tickets.map(({ id, state }) => ({ kind: ticket, id, after: { ...reopenedByMessage(state) } }))
}
