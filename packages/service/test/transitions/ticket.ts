import { makeConversation, makeMessage, makeTicket } from '../../../testbed/desk.ts'
import { type Cell, type Machine, type Move, must, no, type Stage } from './machine.ts'

const patch =
  (body: (stage: Stage) => object): Move =>
  (stage, id) =>
    stage.api.patch(`/v1/tickets/${id}`, body(stage))
const to = (status: string) => patch(() => ({ status }))

/** A ticket of a conversation that has moved to a status, step by step. */
const via =
  (...statuses: readonly string[]) =>
  async (stage: Stage): Promise<string> => {
    const { id: conversationId, customerId } = await makeConversation(stage.api)
    const { id } = await makeTicket(stage.api, { customerId, conversationId })
    for (const status of statuses) await must(to(status)(stage, id))
    return id
  }

/** A message on the conversation of the ticket; answered with the ticket as it is then. */
const message =
  (direction: string): Move =>
  async ({ api }, id) => {
    const { conversationId } = (await api.get(`/v1/tickets/${id}`)).json
    await makeMessage(api, { conversationId, direction })
    return api.get(`/v1/tickets/${id}`)
  }

const moved = (status: string): Cell => `${status}: ticket.status_changed ticket.updated`
const closed = (field: string): Cell => ({ refused: 'ticket_closed', names: ['closed', `${field} cannot`] })

/** What every status that is not closed shares. */
const common = (status: string) => ({
  unassign: `${status}: ticket.updated`,
  subject: `${status}: ticket.updated`,
  description: `${status}: ticket.updated`,
  outbound: `${status}:`,
  delete: 'removed: ticket.deleted',
})

export const ticket: Machine = {
  kind: 'ticket',
  plural: 'tickets',
  stateOf: ({ status }) => status,
  states: {
    new: via(),
    open: via('open'),
    pending: via('pending'),
    on_hold: via('on_hold'),
    resolved: via('resolved'),
    closed: via('resolved', 'closed'),
  },
  moves: {
    new: to('new'),
    open: to('open'),
    pending: to('pending'),
    on_hold: to('on_hold'),
    resolved: to('resolved'),
    closed: to('closed'),
    assign: patch(({ teammateId }) => ({ assigneeId: teammateId })),
    unassign: async (stage, id) => {
      // Assigned where it stands, to have somebody to take away; a closed one cannot be.
      const { status } = (await stage.api.get(`/v1/tickets/${id}`)).json
      const assignee = status === 'closed' ? null : stage.teammateId
      await stage.api.patch(`/v1/tickets/${id}`, { assigneeId: assignee })
      return stage.api.patch(`/v1/tickets/${id}`, { assigneeId: null })
    },
    subject: patch(() => ({ subject: 'Another subject' })),
    description: patch(() => ({ description: 'Another story' })),
    inbound: message('inbound'),
    outbound: message('outbound'),
    delete: ({ api }, id) => api.delete(`/v1/tickets/${id}`),
  },
  table: {
    new: {
      new: 'new:',
      open: moved('open'),
      pending: moved('pending'),
      on_hold: moved('on_hold'),
      resolved: moved('resolved'),
      closed: no('new', 'open', 'pending', 'on_hold', 'resolved'),
      assign: 'open: ticket.assigned ticket.status_changed ticket.updated',
      inbound: 'new:',
      ...common('new'),
      // Assigned first, which opens it.
      unassign: 'open: ticket.assigned ticket.status_changed ticket.updated ticket.updated',
    },
    open: {
      new: no('open', 'pending', 'on_hold', 'resolved'),
      open: 'open:',
      pending: moved('pending'),
      on_hold: moved('on_hold'),
      resolved: moved('resolved'),
      closed: no('open', 'pending', 'on_hold', 'resolved'),
      assign: 'open: ticket.assigned ticket.updated',
      inbound: 'open:',
      ...common('open'),
      unassign: 'open: ticket.assigned ticket.updated ticket.updated',
    },
    pending: {
      new: no('pending', 'open', 'on_hold', 'resolved'),
      open: moved('open'),
      pending: 'pending:',
      on_hold: moved('on_hold'),
      resolved: moved('resolved'),
      closed: no('pending', 'open', 'on_hold', 'resolved'),
      assign: 'pending: ticket.assigned ticket.updated',
      inbound: moved('open'),
      ...common('pending'),
      unassign: 'pending: ticket.assigned ticket.updated ticket.updated',
    },
    on_hold: {
      new: no('on_hold', 'open', 'pending', 'resolved'),
      open: moved('open'),
      pending: moved('pending'),
      on_hold: 'on_hold:',
      resolved: moved('resolved'),
      closed: no('on_hold', 'open', 'pending', 'resolved'),
      assign: 'on_hold: ticket.assigned ticket.updated',
      inbound: moved('open'),
      ...common('on_hold'),
      unassign: 'on_hold: ticket.assigned ticket.updated ticket.updated',
    },
    resolved: {
      new: no('resolved', 'open', 'closed'),
      open: moved('open'),
      pending: no('resolved', 'open', 'closed'),
      on_hold: no('resolved', 'open', 'closed'),
      resolved: 'resolved:',
      closed: moved('closed'),
      assign: 'resolved: ticket.assigned ticket.updated',
      inbound: moved('open'),
      ...common('resolved'),
      unassign: 'resolved: ticket.assigned ticket.updated ticket.updated',
    },
    closed: {
      new: no('closed'),
      open: no('closed'),
      pending: no('closed'),
      on_hold: no('closed'),
      resolved: no('closed'),
      closed: 'closed:',
      assign: closed('assigneeId'),
      inbound: 'closed:',
      ...common('closed'),
      unassign: 'closed:',
      description: closed('description'),
    },
  },
}
