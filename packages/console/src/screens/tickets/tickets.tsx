/** Tickets, newest first, with filters in the address. */
import type { TicketFilters } from '@deskwire/sdk'
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { type Patch, tagOf } from '../../api/change.ts'
import { answerOf, api } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { useList } from '../../api/list.ts'
import { Button } from '../../design/button.tsx'
import { type Column, DataTable } from '../../design/data-table.tsx'
import { FilterCreated } from '../../design/filter-range.tsx'
import { FilterSearch } from '../../design/filter-search.tsx'
import { ActionMenu } from '../../design/menu.tsx'
import { Page } from '../../design/page.tsx'
import { FilterSelect } from '../../design/select.tsx'
import { Empty } from '../../design/states.tsx'
import { Time } from '../../design/time.tsx'
import { useCaller } from '../../session/caller.tsx'
import { Bulk } from '../desk/bulk.tsx'
import { useExportCsv } from '../desk/export-csv.tsx'
import {
  assigneeOptions,
  nameOf,
  sayStatus,
  type Ticket,
  useCustomers,
  useTeammates,
  writeOne,
} from '../desk/objects.ts'
import { ticketMoves } from './moves.ts'
import { priorities, TicketForm, types } from './ticket-form.tsx'
import { Priority, TicketStatus } from './ticket-status.tsx'

const route = getRouteApi('/tickets')

/** Of the version that is shown: one that has changed meanwhile is refused. */
const put = (row: Ticket, patch: Patch) => writeOne('tickets', row.id, patch, tagOf(row))

type Query = TicketFilters

export function Tickets() {
  const { q, status, priority, type, assignee, overdue, createdAfter, createdBefore } = route.useSearch()
  const navigate = route.useNavigate()
  const { may } = useCaller()
  const teammates = useTeammates()
  const [isOpening, setOpening] = useState(false)
  const query = {
    q,
    status,
    priority,
    type,
    assigneeId: assignee,
    overdue,
    createdAfter,
    createdBefore,
  } as Query
  const csv = useExportCsv('tickets', query)
  const list = useList({
    key: keys.list('tickets', query),
    load: async (page, signal) =>
      await answerOf(
        api()
          .tickets.list({ ...query, ...page }, { signal })
          .page(),
      ),
  })
  const customers = useCustomers(list.rows.map(({ customerId }) => customerId))
  const filter = useCallback(
    (change: object) => void navigate({ search: (held) => ({ ...held, ...change }), replace: true }),
    [navigate],
  )
  const search = useCallback((words: string | undefined) => filter({ q: words }), [filter])
  const isFiltered = Object.values(query).some((value) => value !== undefined)
  const open = may('tickets:write') && (
    <Button kind="primary" aria-keyshortcuts="c" onClick={() => setOpening(true)}>
      Create ticket
    </Button>
  )

  const columns: readonly Column<Ticket>[] = [
    {
      title: 'Subject',
      cell: ({ number, subject }) => `#${number} ${subject}`,
      order: ({ subject }) => subject,
      isWide: true,
    },
    {
      title: 'Customer',
      width: [6, 9],
      cell: ({ customerId }) => {
        const customer = customers.get(customerId)
        return customer === undefined ? '' : nameOf(customer)
      },
      isExtra: true,
    },
    {
      title: 'Priority',
      width: [5, 5.5],
      cell: ({ priority: of }) => <Priority of={of} />,
      order: (one) => priorities.findIndex(([name]) => name === one.priority),
    },
    {
      title: 'Status',
      cell: (ticket) => <TicketStatus status={ticket.status} />,
      order: (one) => Object.keys(ticketMoves).indexOf(one.status),
    },
    {
      title: 'Assignee',
      width: [6, 8],
      cell: ({ assigneeId }) => (assigneeId === null ? 'Unassigned' : teammates.nameOf(assigneeId)),
      isExtra: true,
    },
    {
      title: 'Due',
      width: [5.5, 6.5],
      cell: ({ dueAt }) => (dueAt === null ? '' : <Time at={dueAt} />),
      order: ({ dueAt }) => dueAt,
      align: 'end',
      isExtra: true,
    },
    {
      title: 'Created',
      align: 'end',
      cell: ({ createdAt }) => <Time at={createdAt} />,
      order: ({ createdAt }) => createdAt,
    },
  ]

  return (
    <Page
      title="Tickets"
      actions={
        <>
          {open}
          <ActionMenu
            actions={[csv.action]}
            calls={[{ method: 'GET', path: '/v1/tickets', query: { ...query } as Record<string, string> }]}
          />
        </>
      }
      filters={
        <>
          <FilterSearch label="Search tickets" value={q} onChange={search} />
          <FilterSelect
            label="Status"
            value={status}
            options={Object.keys(ticketMoves).map((one) => [one, sayStatus(one)] as const)}
            onChange={(value) => filter({ status: value })}
          />
          <FilterSelect
            label="Priority"
            value={priority}
            options={priorities}
            onChange={(value) => filter({ priority: value })}
          />
          <FilterSelect
            label="Type"
            value={type}
            options={types}
            onChange={(value) => filter({ type: value })}
          />
          {may('teammates:read') && (
            <FilterSelect
              label="Assignee"
              value={assignee}
              options={assigneeOptions(teammates.all)}
              onChange={(value) => filter({ assignee: value })}
            />
          )}
          <FilterSelect
            label="Due"
            value={overdue}
            options={[['true', 'Overdue']]}
            onChange={(value) => filter({ overdue: value })}
          />
          <FilterCreated range={{ createdAfter, createdBefore }} onChange={filter} />
        </>
      }
    >
      {csv.progress}
      <DataTable
        caption="Tickets, newest first"
        list={list}
        columns={columns}
        to={({ id }) => ({ to: '/tickets/$id', params: { id } })}
        bulk={
          may('tickets:write')
            ? (chosen, clear) => (
                <Bulk
                  chosen={chosen}
                  clear={clear}
                  queryKey={keys.all('tickets')}
                  assign={may('teammates:read') ? (row, assigneeId) => put(row, { assigneeId }) : undefined}
                  actions={[
                    { verb: 'Resolve', done: 'resolved', call: (row) => put(row, { status: 'resolved' }) },
                    { verb: 'Close', done: 'closed', call: (row) => put(row, { status: 'closed' }) },
                  ]}
                />
              )
            : undefined
        }
        clearFilters={isFiltered ? () => void navigate({ search: {} }) : null}
        empty={
          <Empty title="No tickets yet" actions={open}>
            <p>A ticket tracks a request until it is resolved.</p>
          </Empty>
        }
      />
      {isOpening && (
        <TicketForm
          close={() => setOpening(false)}
          onDone={({ id }) => void navigate({ to: '/tickets/$id', params: { id } })}
        />
      )}
    </Page>
  )
}
