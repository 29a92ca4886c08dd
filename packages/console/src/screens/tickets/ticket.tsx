/** A ticket. What is decided about it while it is worked on is changed where it is shown. */

import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Patch } from '../../api/change.ts'
import { Button } from '../../design/button.tsx'
import { CopyText } from '../../design/copy.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Facts, Page, Panel } from '../../design/page.tsx'
import { Select, type SelectProps } from '../../design/select.tsx'
import { Time } from '../../design/time.tsx'
import { useOffered } from '../../router/offered.ts'
import { useCaller } from '../../session/caller.tsx'
import { Activity } from '../desk/activity.tsx'
import { Attributes } from '../desk/attributes.tsx'
import { ConfirmDelete } from '../desk/confirm-delete.tsx'
import { fieldNames } from '../desk/fields.ts'
import { CustomerLink, TeammateName } from '../desk/names.tsx'
import { sayStatus, type Ticket, teammateOptions, useAssignActions, useTeammates } from '../desk/objects.ts'
import { OneObject } from '../desk/one-object.tsx'
import { Prose } from '../desk/prose.tsx'
import { Tags } from '../desk/tags.tsx'
import { useChange } from '../desk/use-change.tsx'
import { Due } from './due.tsx'
import { changeableWhenClosed, movesFrom } from './moves.ts'
import { priorities, TicketEdit, types } from './ticket-form.tsx'
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
  const resolving = useChange('tickets')
  const teammates = useTeammates()
  const mayWrite = may('tickets:write')
  const put = (patch: Patch) => void changing.put({ base: ticket, patch })
  async function saveDue(base: Ticket, dueAt: string | null): Promise<Ticket> {
    let saved = base
    await changing.save({
      base,
      patch: { dueAt },
      done: (row) => {
        saved = row
      },
    })
    return saved
  }
  const isChangeable = (name: string) => mayWrite && (status !== 'closed' || changeableWhenClosed.has(name))
  /** A menu where the field can be changed. */
  const choice = (
    name: 'status' | 'priority' | 'type' | 'assigneeId',
    options: SelectProps['options'],
    shortcut?: string,
  ) => (
    <Select
      key={name}
      aria-label={fieldNames[name] ?? name}
      aria-keyshortcuts={shortcut}
      value={ticket[name] ?? ''}
      options={options}
      onChange={(value) => put({ [name]: value === '' ? null : value })}
    />
  )
  const moves = (mayWrite ? movesFrom(status) : []).map((to) => ({
    title: `Change status to ${sayStatus(to)}`,
    run: () => put({ status: to }),
  }))
  useOffered(mayWrite ? [...moves, { title: 'Edit', run: () => setOpen('edit') }] : [])
  useAssignActions(ticket, mayWrite && status !== 'closed' ? (assigneeId) => put({ assigneeId }) : null)

  return (
    <Page
      title={`#${number} ${subject}`}
      trail={<Link to="/tickets">Tickets</Link>}
      beside={<TicketStatus status={status} />}
      actions={
        <>
          {mayWrite && status !== 'closed' && (
            <Button
              kind="primary"
              aria-keyshortcuts="e"
              isBusy={resolving.isBusy}
              // It keeps its place, where the next press may be on its way.
              disabled={!movesFrom(status).includes('resolved')}
              onClick={() => void resolving.put({ base: ticket, patch: { status: 'resolved' } })}
            >
              Resolve
            </Button>
          )}
          {mayWrite && <Button onClick={() => setOpen('edit')}>Edit</Button>}
          <ActionMenu
            calls={[
              { method: 'GET', path: `/v1/tickets/${id}` },
              {
                method: 'PATCH',
                path: `/v1/tickets/${id}`,
                body: { status: movesFrom(status)[0] ?? status },
              },
            ]}
            actions={mayWrite ? [{ title: 'Delete', run: () => setOpen('delete'), isDangerous: true }] : []}
          />
        </>
      }
    >
      <Panel title="Details">
        <Facts
          of={[
            ['Customer', <CustomerLink key="customer" id={ticket.customerId} />],
            ...(isChangeable('status')
              ? [
                  [
                    'Status',
                    choice(
                      'status',
                      [status, ...movesFrom(status)].map((to) => [to, sayStatus(to)]),
                    ),
                  ] as const,
                ]
              : []),
            [
              'Assignee',
              isChangeable('assigneeId') && may('teammates:read') ? (
                choice(
                  'assigneeId',
                  [
                    ['', 'Unassigned'],
                    ...teammateOptions(
                      teammates.all.filter((one) => one.active || one.id === ticket.assigneeId),
                    ),
                  ],
                  'a',
                )
              ) : (
                <TeammateName key="assignee" id={ticket.assigneeId} />
              ),
            ],
            [
              'Priority',
              isChangeable('priority') ? (
                choice('priority', priorities)
              ) : (
                <Priority key="priority" of={ticket.priority} />
              ),
            ],
            [
              'Due',
              isChangeable('dueAt') ? (
                <Due key="due" ticket={ticket} save={saveDue} />
              ) : dueAt === null ? (
                '–'
              ) : (
                <Time key="due" at={dueAt} />
              ),
              'wide',
            ],
            [
              'Type',
              isChangeable('type')
                ? choice('type', [['', 'None'], ...types])
                : ticket.type === null
                  ? '–'
                  : sayStatus(ticket.type),
            ],
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
      <Activity of={ticket} />
      {changing.dialog}
      {resolving.dialog}
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
