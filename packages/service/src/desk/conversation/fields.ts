import type { StateOf } from '../../kernel/fields/field.ts'
import { choice, reference, text, timestamp } from '../../kernel/fields/fields.ts'
import { commonFields } from '../../kinds/model/common-fields.ts'

export const summaryLimit = 10_000

export const channels = ['email', 'chat', 'sms', 'whatsapp', 'phone', 'api'] as const

export const conversationFields = {
  customerId: reference(
    { kind: 'customer', onRemove: 'detach' },
    {
      required: true,
      access: 'create',
      column: 'customer_id',
      filter: true,
      description: 'Who the conversation is with. Becomes null when the customer is deleted.',
    },
  ),
  channel: choice(channels, {
    required: true,
    access: 'create',
    column: 'channel',
    filter: true,
    description: 'Where it takes place.',
  }),
  subject: text({ max: 255, search: true, description: 'The subject, as its list shows it.' }),
  status: choice(['open', 'resolved'], {
    initial: 'open',
    access: 'read',
    imported: true,
    column: 'status',
    filter: true,
    description: 'Moved by the actions resolve and reopen, and back to open by an inbound message.',
  }),
  handledBy: choice(['ai', 'human'], {
    initial: 'human',
    access: 'create',
    column: 'handled_by',
    filter: true,
    description: 'Who answers. Escalation or assignment moves the conversation from an AI to a person.',
  }),
  assigneeId: reference(
    { kind: 'teammate', onRemove: 'clear', condition: { column: 'active', otherwise: 'active teammate' } },
    { column: 'assignee_id', filter: 'or none', description: 'The teammate who answers.' },
  ),
  escalatedAt: timestamp({ access: 'read', imported: true, description: 'When it was handed to a person.' }),
  resolvedAt: timestamp({
    access: 'read',
    imported: true,
    column: 'resolved_at',
    description: 'When it was last resolved; null while it is open.',
  }),
  lastMessageAt: timestamp({
    access: 'read',
    imported: true,
    description: 'The latest sentAt of its messages.',
  }),
  summary: text({
    max: summaryLimit,
    access: 'read',
    imported: true,
    description:
      'A summary of the messages, written some minutes after resolution; null until then. Unless a model or an AI of yours writes it, it repeats sentences of the messages, also to keys that may not read messages.',
  }),
  summarizedAt: timestamp({
    access: 'read',
    imported: true,
    column: 'summarized_at',
    description:
      'When the summary was written. Of an import resolved without a summary: when it was resolved, as none is written.',
  }),
  ...commonFields(),
}

/** Of an object that belongs to a conversation and is deleted with it. */
export function conversationOf(description: string) {
  return reference(
    { kind: 'conversation', onRemove: 'remove', inPlace: true },
    { required: true, access: 'create', column: 'conversation_id', filter: true, description },
  )
}

/** The customer of such an object, taken from its conversation. */
export const customerOfConversation = reference(
  { kind: 'customer', onRemove: 'detach' },
  {
    access: 'read',
    column: 'customer_id',
    filter: true,
    description: "The conversation's. Becomes null when the customer is deleted.",
  },
)

export type Conversation = StateOf<typeof conversationFields>
