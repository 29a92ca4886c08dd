import { choice, reference, sequence, text, timestamp } from '../../kernel/fields/fields.ts'
import { commonFields } from '../../kinds/model/common-fields.ts'
import { defineKind } from '../../kinds/model/define-kind.ts'
import { createTicket, ticketEvents, ticketStatuses, updateTicket, waitingStatuses } from './transitions.ts'

const isOpen = (t: string) => `${t}.status in ('new', 'open', 'pending', 'on_hold')`
/** Stored times sort as text. */
const dueAt = (t: string) => `(${t}.body::json ->> 'dueAt') collate "C"`

const moved = { always: ['ticket.updated', 'ticket.status_changed'] }

/** Something to be done for a customer (specification 4.6). */
export const ticket = defineKind({
  name: 'ticket',
  plural: 'tickets',
  description: 'Something to be done for a customer.',
  fields: {
    customerId: reference(
      { kind: 'customer', onRemove: 'remove' },
      {
        required: true,
        access: 'create',
        column: 'customer_id',
        filter: true,
        description: 'Whose ticket it is. Deleting the customer deletes the ticket.',
      },
    ),
    conversationId: reference(
      { kind: 'conversation', onRemove: 'clear', changeable: { column: 'status', values: waitingStatuses } },
      { column: 'conversation_id', filter: true, description: 'The conversation it came from.' },
    ),
    number: sequence({ column: 'number', filter: true, description: 'Counts up within the organization.' }),
    subject: text({
      min: 1,
      max: 255,
      required: true,
      search: true,
      description: 'The subject, as its list shows it.',
    }),
    description: text({ max: 64_000, description: 'The whole story.' }),
    type: choice(['question', 'incident', 'problem', 'task'], {
      column: 'type',
      filter: true,
      description: 'The type of the ticket.',
    }),
    priority: choice(['low', 'normal', 'high', 'urgent'], {
      initial: 'normal',
      column: 'priority',
      filter: true,
      description: 'How soon it matters.',
    }),
    status: choice(ticketStatuses, {
      initial: 'new',
      column: 'status',
      filter: true,
      description: 'Where it stands. Which status allows which is in docs/specification.md.',
    }),
    assigneeId: reference(
      { kind: 'teammate', onRemove: 'clear', condition: { column: 'active', otherwise: 'active teammate' } },
      {
        column: 'assignee_id',
        filter: 'or none',
        description: 'Who works on it. Assigning a new ticket opens it.',
      },
    ),
    dueAt: timestamp({ description: 'When it should be done.' }),
    resolvedAt: timestamp({ access: 'read', imported: true, description: 'When it was last resolved.' }),
    closedAt: timestamp({ access: 'read', imported: true, description: 'When it was closed.' }),
    ...commonFields(),
  },
  events: {
    'ticket.created': 'a ticket is created',
    'ticket.updated': 'a ticket changes',
    'ticket.status_changed': "a ticket's status changes",
    'ticket.assigned': 'a ticket is assigned',
    'ticket.deleted': 'a ticket is deleted, by itself or with its customer',
  },
  removedEvent: 'ticket.deleted',
  documentedEvents: {
    fields: {
      status: moved,
      // Assigning a new ticket opens it.
      assigneeId: { always: ['ticket.updated'], sometimes: ['ticket.status_changed', 'ticket.assigned'] },
      resolvedAt: moved,
      closedAt: moved,
    },
    examples: {
      'ticket.status_changed': { status: 'open' },
      'ticket.assigned': { status: 'open', assigneeId: '01980000-0000-7000-8000-000000000001' },
    },
  },
  foundBy: [{ plural: 'customers', phrase: 'its customer', column: 'customer_id' }],
  refusals: ['invalid_transition', 'ticket_closed'],
  filters: {
    overdue: {
      description: 'Is due before now, and neither resolved nor closed.',
      holds: (t, now) => `${isOpen(t)} and ${dueAt(t)} < ${now}`,
    },
  },
  rules: { create: createTicket, update: updateTicket, events: ticketEvents },
  example: {
    customerId: '01980000-0000-7000-8000-000000000001',
    subject: 'The invoice shows the wrong address',
    priority: 'high',
  },
})
