/** Where a ticket can stand, and from where it can go where (specification 4.6). */
export const ticketStatuses = ['new', 'open', 'pending', 'on_hold', 'resolved', 'closed'] as const

export type TicketStatus = (typeof ticketStatuses)[number]

/** The moves that each status allows. Staying is always allowed. */
export const ticketMoves: Readonly<Record<TicketStatus, readonly TicketStatus[]>> = {
  new: ['open', 'pending', 'on_hold', 'resolved'],
  open: ['pending', 'on_hold', 'resolved'],
  pending: ['open', 'on_hold', 'resolved'],
  on_hold: ['open', 'pending', 'resolved'],
  resolved: ['open', 'closed'],
  closed: [],
}

/** What still changes on a closed ticket. */
export const changeableWhenClosed: ReadonlySet<string> = new Set([
  'tags',
  'subject',
  'priority',
  'customAttributes',
])
