import { z } from 'zod'
import { defineField, type StateOf } from '../../kernel/fields/field.ts'
import {
  choice,
  count,
  reference,
  storableText,
  text,
  timestamp,
  timezone,
} from '../../kernel/fields/fields.ts'
import { commonFields } from '../../kinds/model/common-fields.ts'

const bookingStatuses = ['pending', 'confirmed', 'cancelled', 'completed', 'no_show', 'rejected'] as const

export const cancellers = ['customer', 'teammate', 'system'] as const

const locationTypes = ['in_person', 'phone', 'video', 'other'] as const

interface Location {
  readonly type: (typeof locationTypes)[number]
  readonly value: string
}

const startAt = 'When it starts. Moves by the action reschedule only.'
const endAt = 'When it ends, after startAt. Moves by the action reschedule only.'

export const bookingFields = {
  customerId: reference(
    { kind: 'customer', onRemove: 'detach' },
    {
      required: true,
      column: 'customer_id',
      filter: true,
      description: 'Who booked. Becomes null when the customer is deleted.',
    },
  ),
  title: text({ min: 1, max: 255, required: true, search: true, description: 'The title of the booking.' }),
  startAt: timestamp({
    required: true,
    access: 'create',
    column: 'start_at',
    range: { after: 'startAfter', before: 'startBefore' },
    description: startAt,
  }),
  endAt: timestamp({
    required: true,
    access: 'create',
    range: { after: 'endAfter', before: 'endBefore' },
    description: endAt,
  }),
  timezone: timezone({ required: true, description: 'The time zone it takes place in, IANA.' }),
  status: choice(bookingStatuses, {
    initial: 'pending',
    settable: ['pending', 'confirmed'],
    access: 'create',
    imported: true,
    column: 'status',
    filter: true,
    description: 'pending or confirmed at creation; moved by actions from then on.',
  }),
  location: defineField<Location | null>(
    z.strictObject({ type: z.enum(locationTypes), value: storableText(1, 2_000) }),
    'an object {type, value}: type in_person, phone, video or other; value a string of 1 to 2000 characters',
    'text',
    { description: 'Where it takes place: an address, a number or a link.' },
    {
      acceptsWithin: {
        type: `one of ${locationTypes.join(', ')}`,
        value: 'a string of 1 to 2000 characters',
      },
    },
  ),
  assigneeId: reference(
    { kind: 'teammate', onRemove: 'clear', condition: { column: 'active', otherwise: 'active teammate' } },
    { column: 'assignee_id', filter: 'or none', description: 'The teammate who takes it.' },
  ),
  conversationId: reference(
    { kind: 'conversation', onRemove: 'clear' },
    { column: 'conversation_id', description: 'The conversation it came from.' },
  ),
  notes: text({ max: 64_000, description: 'For those who work at the desk.' }),
  cancelledBy: choice(cancellers, { access: 'read', imported: true, description: 'Who cancelled it.' }),
  cancellationReason: text({
    max: 2_000,
    access: 'read',
    imported: true,
    description: 'Why it was cancelled.',
  }),
  rejectionReason: text({ max: 2_000, access: 'read', imported: true, description: 'Why it was rejected.' }),
  // An import may give any time.
  previousStartAt: {
    ...timestamp({ access: 'read', description: 'When it started before it was last moved.' }),
    imported: true,
  },
  rescheduleCount: count({ imported: true, description: 'How often it was moved.' }),
  confirmedAt: timestamp({ access: 'read', imported: true, description: 'When it was confirmed.' }),
  completedAt: timestamp({ access: 'read', imported: true, description: 'When it was marked as completed.' }),
  cancelledAt: timestamp({ access: 'read', imported: true, description: 'When it was cancelled.' }),
  ...commonFields(),
}

export const rescheduleFields = {
  startAt: timestamp({ required: true, description: 'When it starts from now on.' }),
  endAt: timestamp({
    description: 'When it ends from now on, after startAt. It lasts as long as before, unless given.',
  }),
}

export type Booking = StateOf<typeof bookingFields>
