/** What can become of a ticket as it stands (specification 4.6). A test holds this against the service's own table. */
import type { components } from '../../generated/api.ts'

type Status = NonNullable<components['schemas']['TicketCreate']['status']>

export const ticketMoves: Readonly<Record<Status, readonly Status[]>> = {
  new: ['open', 'pending', 'on_hold', 'resolved'],
  open: ['pending', 'on_hold', 'resolved'],
  pending: ['open', 'on_hold', 'resolved'],
  on_hold: ['open', 'pending', 'resolved'],
  resolved: ['open', 'closed'],
  closed: [],
}

/** None for a status of a later release. */
export function movesFrom(status: string): readonly Status[] {
  return ticketMoves[status as Status] ?? []
}

/** What still changes on a closed ticket. */
export const changeableWhenClosed: ReadonlySet<string> = new Set([
  'tags',
  'subject',
  'priority',
  'customAttributes',
])

/** What the move to a status is called where it is done. */
export const moveVerbs: Readonly<Record<Status, string>> = {
  new: 'Make it new',
  open: 'Open',
  pending: 'Wait for the customer',
  on_hold: 'Put on hold',
  resolved: 'Resolve',
  closed: 'Close',
}
