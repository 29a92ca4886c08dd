import { describe, expect, test } from 'vitest'
import {
  createTicket,
  type TicketStatus,
  ticketEvents,
  ticketStatuses,
  updateTicket,
} from '../../src/desk/ticket/transitions.ts'

interface Ticket {
  readonly status: TicketStatus
  readonly assigneeId: string | null
  readonly resolvedAt: string | null
  readonly closedAt: string | null
  readonly subject: string
  readonly tags: readonly string[]
  readonly priority: string
  readonly customAttributes: Record<string, string>
  readonly description: string | null
  readonly type: string | null
  readonly dueAt: string | null
  readonly externalId: string | null
  readonly conversationId: string | null
}

const earlier = '2026-01-31T09:30:00.000Z'
const now = '2026-02-01T10:00:00.000Z'
const context = { now }
const [ada, grace] = ['01980000-0000-7000-8000-00000000000a', '01980000-0000-7000-8000-00000000000b']

function ticket(status: TicketStatus, more: Partial<Ticket> = {}): Ticket {
  const settled = status === 'resolved' || status === 'closed'
  return {
    status,
    assigneeId: null,
    resolvedAt: settled ? earlier : null,
    closedAt: status === 'closed' ? earlier : null,
    subject: 's',
    tags: [],
    priority: 'normal',
    customAttributes: {},
    description: null,
    type: null,
    dueAt: null,
    externalId: null,
    conversationId: null,
    ...more,
  }
}

function change(before: Ticket, patch: Partial<Ticket>) {
  return updateTicket(before, { ...before, ...patch }, new Set(Object.keys(patch)), context)
}

function changed(before: Ticket, patch: Partial<Ticket>): Ticket {
  const result = change(before, patch)
  if (!result.ok) throw new Error(result.error.detail)
  return result.value
}

describe('assigning', () => {
  test('a new ticket at its creation opens it too', () => {
    const created = createTicket(ticket('new', { assigneeId: ada }), context)
    expect(created).toMatchObject({ ok: true, value: { status: 'open' } })
  })

  test('together with a move goes where the move says', () => {
    expect(changed(ticket('new'), { assigneeId: ada, status: 'on_hold' }).status).toBe('on_hold')
    expect(changed(ticket('new'), { assigneeId: ada, status: 'resolved' }).status).toBe('resolved')
  })

  test('no one, or unassigning, moves nothing', () => {
    expect(changed(ticket('new'), { assigneeId: null }).status).toBe('new')
    expect(changed(ticket('pending', { assigneeId: ada }), { assigneeId: null }).status).toBe('pending')
  })
})

describe('resolvedAt and closedAt', () => {
  test('are when it was last resolved, and when it was closed', () => {
    expect(changed(ticket('open'), { status: 'resolved' })).toMatchObject({ resolvedAt: now, closedAt: null })
    expect(changed(ticket('resolved'), { status: 'closed' })).toMatchObject({
      resolvedAt: earlier,
      closedAt: now,
    })
  })

  test('are null again once it is reopened', () => {
    expect(changed(ticket('resolved'), { status: 'open' })).toMatchObject({
      resolvedAt: null,
      closedAt: null,
    })
  })

  test('stay while the status does', () => {
    expect(changed(ticket('resolved'), { subject: 'x' })).toMatchObject({
      resolvedAt: earlier,
      closedAt: null,
    })
    expect(changed(ticket('closed'), { subject: 'x' })).toMatchObject({
      resolvedAt: earlier,
      closedAt: earlier,
    })
    expect(changed(ticket('resolved'), { status: 'resolved' })).toMatchObject({ resolvedAt: earlier })
  })

  test.each(ticketStatuses)('agree with a ticket that is created %s', (status) => {
    const created = createTicket({ ...ticket(status), resolvedAt: null, closedAt: null }, context)
    expect(created).toMatchObject({
      ok: true,
      value: {
        status,
        resolvedAt: status === 'resolved' || status === 'closed' ? now : null,
        closedAt: status === 'closed' ? now : null,
      },
    })
  })
})

describe('a closed ticket', () => {
  test.each([
    [{ tags: ['a'] }],
    [{ subject: 'x' }],
    [{ priority: 'low' }],
    [{ customAttributes: { a: 'b' } }],
    [{ status: 'closed' as const }],
    // Sent with the value that they have, nothing changes.
    [{ description: null, assigneeId: null }],
  ])('takes %j', (patch) => {
    expect(changed(ticket('closed'), patch)).toMatchObject(patch)
  })

  test.each([
    [{ description: 'x' }],
    [{ type: 'task' }],
    [{ dueAt: now }],
    [{ externalId: 'x' }],
    [{ assigneeId: ada }],
    [{ conversationId: ada }],
    [{ subject: 'x', assigneeId: grace }],
  ])('refuses %j and names what cannot change', (patch) => {
    const result = change(ticket('closed'), patch)
    expect(result).toMatchObject({ ok: false, error: { code: 'ticket_closed' } })
    if (result.ok) return
    for (const field of Object.keys(patch)) {
      expect(result.error.detail.includes(`${field} cannot`) || field === 'subject').toBe(true)
    }
  })

  test('is never opened again, whatever else is sent', () => {
    expect(change(ticket('closed'), { status: 'open', subject: 'x' })).toMatchObject({
      ok: false,
      error: { code: 'invalid_transition' },
    })
  })
})

describe('events', () => {
  test.each([
    ['a subject', ticket('open'), { subject: 'x' }, []],
    ['a status', ticket('open'), { status: 'pending' as const }, ['ticket.status_changed']],
    ['an assignee', ticket('open'), { assigneeId: ada }, ['ticket.assigned']],
    ['another assignee', ticket('open', { assigneeId: ada }), { assigneeId: grace }, ['ticket.assigned']],
    ['no assignee any more', ticket('open', { assigneeId: ada }), { assigneeId: null }, []],
    ['a new one assigned', ticket('new'), { assigneeId: ada }, ['ticket.status_changed', 'ticket.assigned']],
  ])('a change of %s emits ticket.updated and what else changed', (_, before, patch, more) => {
    expect(ticketEvents(before, changed(before, patch))).toEqual(['ticket.updated', ...more])
  })
})
