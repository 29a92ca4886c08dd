/** Conversations, open ones by default. */
import { getRouteApi } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { tagOf } from '../../api/change.ts'
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
  type Conversation,
  nameOf,
  useCustomers,
  useTeammates,
  writeOne,
} from '../desk/objects.ts'
import { move } from './calls.ts'
import { ConversationForm, channels } from './conversation-form.tsx'
import { ConversationStatus } from './conversation-status.tsx'

const route = getRouteApi('/conversations')

export function Conversations() {
  const { q, status = 'open', channel, assignee, handled, createdAfter, createdBefore } = route.useSearch()
  const navigate = route.useNavigate()
  const { may } = useCaller()
  const teammates = useTeammates()
  const [isStarting, setStarting] = useState(false)
  const query = {
    q,
    status: status === 'any' ? undefined : (status as 'open' | 'resolved'),
    channel: channel as (typeof channels)[number][0] | undefined,
    assigneeId: assignee,
    handledBy: handled as 'ai' | 'human' | undefined,
    createdAfter,
    createdBefore,
  }
  const csv = useExportCsv('conversations', query)
  const list = useList({
    key: keys.list('conversations', query),
    load: async (page, signal) =>
      await answerOf(
        api()
          .conversations.list({ ...query, ...page }, { signal })
          .page(),
      ),
  })
  const customers = useCustomers(list.rows.map(({ customerId }) => customerId))
  const filter = useCallback(
    (change: object) => void navigate({ search: (held) => ({ ...held, ...change }), replace: true }),
    [navigate],
  )
  const search = useCallback((words: string | undefined) => filter({ q: words }), [filter])
  const isFiltered =
    [q, channel, assignee, handled, createdAfter, createdBefore].some((one) => one !== undefined) ||
    status === 'resolved'
  const start = may('conversations:write') && (
    <Button kind="primary" aria-keyshortcuts="c" onClick={() => setStarting(true)}>
      Create conversation
    </Button>
  )

  const columns: readonly Column<Conversation>[] = [
    {
      title: 'Subject',
      cell: ({ subject }) => subject || 'No subject',
      order: ({ subject }) => subject,
      isWide: true,
    },
    {
      title: 'Customer',
      width: [6, 9],
      cell: ({ customerId }) => {
        const customer = customers.get(customerId ?? '')
        return customer === undefined ? (customerId === null ? 'Deleted' : '') : nameOf(customer)
      },
    },
    {
      title: 'Channel',
      width: [5, 6],
      cell: ({ channel: of }) => channels.find(([name]) => name === of)?.[1] ?? of,
      isExtra: true,
    },
    {
      title: 'Status',
      width: [9, 10.5],
      cell: (conversation) => <ConversationStatus conversation={conversation} />,
    },
    {
      title: 'Assignee',
      width: [6, 8],
      cell: ({ assigneeId }) => (assigneeId === null ? 'Unassigned' : teammates.nameOf(assigneeId)),
      isExtra: true,
    },
    {
      title: 'Last message',
      align: 'end',
      cell: ({ lastMessageAt }) => (lastMessageAt === null ? '–' : <Time at={lastMessageAt} />),
      order: ({ lastMessageAt }) => lastMessageAt,
    },
  ]

  return (
    <Page
      title="Conversations"
      actions={
        <>
          {start}
          <ActionMenu actions={[csv.action]} calls={[{ method: 'GET', path: '/v1/conversations', query }]} />
        </>
      }
      filters={
        <>
          <FilterSearch label="Search subjects" value={q} onChange={search} />
          <FilterSelect
            label="Status"
            value={query.status}
            options={[
              ['open', 'Open'],
              ['resolved', 'Resolved'],
            ]}
            onChange={(value) => filter({ status: value === 'open' ? undefined : (value ?? 'any') })}
          />
          <FilterSelect
            label="Channel"
            value={channel}
            options={channels}
            onChange={(value) => filter({ channel: value })}
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
            label="Handled by"
            value={handled}
            options={[
              ['human', 'Person'],
              ['ai', 'AI'],
            ]}
            onChange={(value) => filter({ handled: value })}
          />
          <FilterCreated range={{ createdAfter, createdBefore }} onChange={filter} />
        </>
      }
    >
      {csv.progress}
      <DataTable
        caption="Conversations, newest first"
        list={list}
        columns={columns}
        to={({ id }) => ({ to: '/conversations/$id', params: { id } })}
        bulk={
          may('conversations:write')
            ? (chosen, clear) => (
                <Bulk
                  chosen={chosen}
                  clear={clear}
                  queryKey={keys.all('conversations')}
                  assign={
                    may('teammates:read')
                      ? (row, assigneeId) => writeOne('conversations', row.id, { assigneeId }, tagOf(row))
                      : undefined
                  }
                  actions={[
                    // A customer's message that came meanwhile is not resolved away.
                    { verb: 'Resolve', done: 'resolved', call: (row) => move(row.id, 'resolve', tagOf(row)) },
                  ]}
                />
              )
            : undefined
        }
        clearFilters={isFiltered ? () => void navigate({ search: {} }) : null}
        empty={
          status === 'open' ? (
            <Empty
              title="No open conversations"
              actions={
                <>
                  <Button onClick={() => filter({ status: 'any' })}>Show all conversations</Button>
                  {start}
                </>
              }
            >
              <p>New messages from customers appear here.</p>
            </Empty>
          ) : (
            <Empty title="No conversations yet" actions={start}>
              <p>A conversation holds a customer's messages and your replies.</p>
            </Empty>
          )
        }
      />
      {isStarting && (
        <ConversationForm
          close={() => setStarting(false)}
          onDone={({ id }) => void navigate({ to: '/conversations/$id', params: { id } })}
        />
      )}
    </Page>
  )
}
