/** Creates a booking, or changes the fields that its actions do not. */
import type { ReactNode } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { fieldZone } from '../../design/local-time.ts'
import type { FormField } from '../desk/form-values.ts'
import { ObjectForm } from '../desk/object-form.tsx'
import type { Booking } from '../desk/objects.ts'

const title: FormField = { name: 'title', label: 'Title', kind: 'line', isRequired: true }
const details: readonly FormField[] = [
  { name: 'timezone', label: 'Time zone', kind: 'zone', isRequired: true, isHalf: true },
  { name: 'assigneeId', label: 'Assignee', kind: 'teammate', isHalf: true },
  { name: 'location', label: 'Location', kind: 'location' },
  { name: 'notes', label: 'Internal notes', kind: 'text' },
  { name: 'tags', label: 'Tags', kind: 'tags' },
]

const creation: readonly FormField[] = [
  { name: 'customerId', label: 'Customer', kind: 'customer', isRequired: true },
  title,
  { name: 'startAt', label: 'Start', kind: 'time', isRequired: true, isHalf: true },
  { name: 'endAt', label: 'End', kind: 'time', isRequired: true, isHalf: true, follows: 'startAt' },
  ...details,
]

const change: readonly FormField[] = [
  title,
  ...details,
  { name: 'externalId', label: 'External ID', kind: 'line' },
  { name: 'customAttributes', label: 'Custom attributes', kind: 'attributes' },
]

interface BookingFormProps {
  readonly given?: { readonly conversationId?: string; readonly [name: string]: unknown }
  readonly close: () => void
  readonly link?: (booking: Booking) => ReactNode
  readonly onDone?: (booking: Booking) => void
}

export function BookingForm({ given, close, link, onDone }: BookingFormProps) {
  return (
    <ObjectForm
      title="Create booking"
      verb="Create"
      done="Booking created"
      fields={creation}
      kind="bookings"
      given={{ ...nextHour(), timezone: fieldZone, ...withoutUndefined(given) }}
      close={close}
      link={link}
      onDone={onDone}
      create={async (body: object, intent) => {
        const { conversationId } = given ?? {}
        const whole = conversationId === undefined ? body : { ...body, conversationId }
        return await answerOf(api().bookings.create(whole as never, { idempotencyKey: intent }))
      }}
    />
  )
}

export function BookingEdit({ booking, close }: { readonly booking: Booking; readonly close: () => void }) {
  return (
    <ObjectForm
      title="Edit booking"
      verb="Save"
      done="Booking saved"
      fields={change}
      kind="bookings"
      close={close}
      edited={booking}
    />
  )
}

/** The default times: half an hour from the next full hour. */
function nextHour(): { startAt: string; endAt: string } {
  const start = new Date()
  start.setHours(start.getHours() + 1, 0, 0, 0)
  return { startAt: start.toISOString(), endAt: new Date(start.getTime() + 30 * 60_000).toISOString() }
}

function withoutUndefined(given: object = {}): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
