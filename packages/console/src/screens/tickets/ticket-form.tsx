/** Creates or changes a ticket. */
import type { ReactNode } from 'react'
import { answerOf, api } from '../../api/client.ts'
import type { FormField } from '../desk/form-values.ts'
import { ObjectForm } from '../desk/object-form.tsx'
import type { Ticket } from '../desk/objects.ts'
import { changeableWhenClosed } from './moves.ts'

export const priorities = [
  ['low', 'Low'],
  ['normal', 'Normal'],
  ['high', 'High'],
  ['urgent', 'Urgent'],
] as const

export const types = [
  ['question', 'Question'],
  ['incident', 'Incident'],
  ['problem', 'Problem'],
  ['task', 'Task'],
] as const

const creation: readonly FormField[] = [
  { name: 'customerId', label: 'Customer', kind: 'customer', isRequired: true },
  { name: 'subject', label: 'Subject', kind: 'line', isRequired: true },
  { name: 'description', label: 'Description', kind: 'text' },
  {
    name: 'priority',
    label: 'Priority',
    kind: 'choice',
    options: priorities,
    isRequired: true,
    isHalf: true,
  },
  { name: 'type', label: 'Type', kind: 'choice', options: [['', 'None'], ...types], isHalf: true },
  { name: 'assigneeId', label: 'Assignee', kind: 'teammate', isHalf: true },
  { name: 'dueAt', label: 'Due', kind: 'time', isHalf: true },
  { name: 'tags', label: 'Tags', kind: 'tags' },
]

const change: readonly FormField[] = [
  ...creation.filter(({ name }) => name !== 'customerId'),
  { name: 'externalId', label: 'External ID', kind: 'line' },
  { name: 'customAttributes', label: 'Custom attributes', kind: 'attributes' },
]

interface TicketFormProps {
  readonly given?: { readonly conversationId?: string; readonly [name: string]: unknown }
  readonly close: () => void
  readonly link?: (ticket: Ticket) => ReactNode
  readonly onDone?: (ticket: Ticket) => void
}

export function TicketForm({ given, close, link, onDone }: TicketFormProps) {
  return (
    <ObjectForm
      title="Create ticket"
      verb="Create"
      done="Ticket created"
      fields={creation}
      kind="tickets"
      given={{ priority: 'normal', ...given }}
      close={close}
      link={link}
      onDone={onDone}
      create={async (body: object, intent) => {
        const { conversationId } = given ?? {}
        const whole = conversationId === undefined ? body : { ...body, conversationId }
        return await answerOf(api().tickets.create(whole as never, { idempotencyKey: intent }))
      }}
    />
  )
}

export function TicketEdit({ ticket, close }: { readonly ticket: Ticket; readonly close: () => void }) {
  const isClosed = ticket.status === 'closed'
  return (
    <ObjectForm
      title="Edit ticket"
      about={isClosed ? 'The ticket is closed. Its other fields cannot change.' : undefined}
      verb="Save"
      done="Ticket saved"
      fields={isClosed ? change.filter(({ name }) => changeableWhenClosed.has(name)) : change}
      kind="tickets"
      close={close}
      edited={ticket}
    />
  )
}
