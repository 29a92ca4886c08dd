/** The moves that a ticket allows (specification 4.6). A test compares them with the service's table. */
import type { TicketCreate } from '@deskwire/sdk'

type Status = NonNullable<TicketCreate['status']>

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
