/** A ticket: its fields and its possible moves. */

import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { CopyText } from '../../design/copy.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Facts, Page, Panel } from '../../design/page.tsx'
import { Time } from '../../design/time.tsx'
import { useCaller } from '../../session/caller.tsx'
import { Attributes } from '../desk/attributes.tsx'
import { ConfirmDelete } from '../desk/confirm-delete.tsx'
import { MoveRow } from '../desk/move-row.tsx'
import { CustomerLink, TeammateName } from '../desk/names.tsx'
import { sayStatus, type Ticket } from '../desk/objects.ts'
import { OneObject } from '../desk/one-object.tsx'
import { Prose } from '../desk/prose.tsx'
import { Tags } from '../desk/tags.tsx'
import { useChange } from '../desk/use-change.tsx'
import { movesFrom, moveVerbs } from './moves.ts'
import { TicketEdit } from './ticket-form.tsx'
import { Priority, TicketStatus } from './ticket-status.tsx'

const route = getRouteApi('/tickets/$id')

export function OneTicket() {
  const { id } = route.useParams()
  return (
    <OneObject kind="tickets" id={id} noun="Ticket" trail={<Link to="/tickets">Tickets</Link>}>
      {(ticket) => <Known key={id} ticket={ticket} />}
    </OneObject>
  )
}

function Known({ ticket }: { readonly ticket: Ticket }) {
  const { id, number, subject, status, conversationId, dueAt } = ticket
  const { may } = useCaller()
  const navigate = route.useNavigate()
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null)
  const close = () => setOpen(null)
  const changing = useChange('tickets')

  return (
    <Page
      title={`#${number} ${subject}`}
      trail={<Link to="/tickets">Tickets</Link>}
      beside={<TicketStatus status={status} />}
      actions={
        <>
          {may('tickets:write') && <Button onClick={() => setOpen('edit')}>Edit</Button>}
          <ActionMenu
            calls={[
              { method: 'GET', path: `/v1/tickets/${id}` },
              {
                method: 'PATCH',
                path: `/v1/tickets/${id}`,
                body: { status: movesFrom(status)[0] ?? status },
              },
            ]}
            actions={
              may('tickets:write')
                ? [{ title: 'Delete', run: () => setOpen('delete'), isDangerous: true }]
                : []
            }
          />
        </>
      }
    >
      {may('tickets:write') && (
        <MoveRow>
          {movesFrom(status).map((to) => (
            <Button
              key={to}
              kind={to === 'resolved' ? 'primary' : 'plain'}
              isBusy={changing.isBusy}
              onClick={() => void changing.put({ base: ticket, patch: { status: to } })}
            >
              {status === 'resolved' && to === 'open' ? 'Reopen' : moveVerbs[to]}
            </Button>
          ))}
        </MoveRow>
      )}
      <Panel title="Details">
        <Facts
          of={[
            ['Customer', <CustomerLink key="customer" id={ticket.customerId} />],
            ['Assignee', <TeammateName key="assignee" id={ticket.assigneeId} />],
            ['Priority', <Priority key="priority" of={ticket.priority} />],
            ['Type', ticket.type === null ? '–' : sayStatus(ticket.type)],
            ['Due', dueAt === null ? '–' : <Time key="due" at={dueAt} />],
            ['Created', <Time key="opened" at={ticket.createdAt} />],
            ...(ticket.resolvedAt === null
              ? []
              : [['Resolved', <Time key="resolved" at={ticket.resolvedAt} />] as const]),
            ...(ticket.closedAt === null
              ? []
              : [['Closed', <Time key="closed" at={ticket.closedAt} />] as const]),
            ...(conversationId === null
              ? []
              : [
                  [
                    'Conversation',
                    <Link key="conversation" to="/conversations/$id" params={{ id: conversationId }}>
                      View conversation
                    </Link>,
                  ] as const,
                ]),
            ...(ticket.tags.length === 0 ? [] : [['Tags', <Tags key="tags" of={ticket.tags} />] as const]),
            ['ID', <CopyText key="id" text={id} short />],
          ]}
        />
      </Panel>
      <Attributes of={ticket.customAttributes} />
      <Panel title="Description">
        <Prose text={ticket.description} none="No description." />
      </Panel>
      {changing.dialog}
      {open === 'edit' && <TicketEdit ticket={ticket} close={close} />}
      {open === 'delete' && (
        <ConfirmDelete
          close={close}
          kind="tickets"
          noun="ticket"
          row={ticket}
          after={() => navigate({ to: '/tickets' })}
        >
          <p>
            #{number} <bdi>{subject}</bdi> will be deleted permanently. To keep it, resolve and close it.
          </p>
        </ConfirmDelete>
      )}
    </Page>
  )
}
