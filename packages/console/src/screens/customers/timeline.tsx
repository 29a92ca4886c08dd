/** What there is of a customer, of every kind that the key may read, newest first. */
import type { LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { type List, type ListPage, useList } from '../../api/list.ts'
import { type Column, DataTable } from '../../design/data-table.tsx'
import { Panel } from '../../design/page.tsx'
import { Time } from '../../design/time.tsx'
import { useCaller } from '../../session/caller.tsx'
import { BookingStatus } from '../bookings/booking-status.tsx'
import { sayWhen } from '../bookings/when.ts'
import { ConversationStatus } from '../conversations/conversation-status.tsx'
import type { ObjectOf } from '../desk/objects.ts'
import { Priority, TicketStatus } from '../tickets/ticket-status.tsx'

const kinds = ['conversations', 'tickets', 'bookings', 'notes'] as const
type Kind = (typeof kinds)[number]
type Entry = ObjectOf<Kind>

function nameOf(one: Entry): ReactNode {
  switch (one.object) {
    case 'conversation':
      return one.subject || 'No subject'
    case 'ticket':
      return `#${one.number} ${one.subject}`
    case 'booking':
      return (
        <>
          {one.title} <small>{sayWhen(one)}</small>
        </>
      )
    default:
      return one.body
  }
}

const columns: readonly Column<Entry>[] = [
  { title: 'Title', cell: nameOf, isWide: true },
  { title: 'Kind', width: [6.5, 7], cell: ({ object }) => object.charAt(0).toUpperCase() + object.slice(1) },
  {
    title: 'Status',
    width: [9, 10.5],
    cell: (one) =>
      one.object === 'conversation' ? (
        <ConversationStatus conversation={one} />
      ) : one.object === 'ticket' ? (
        <TicketStatus status={one.status} />
      ) : (
        one.object === 'booking' && <BookingStatus status={one.status} />
      ),
  },
  {
    title: 'Priority',
    cell: (one) => one.object === 'ticket' && <Priority of={one.priority} />,
    isExtra: true,
  },
  { title: 'Created', align: 'end', cell: ({ createdAt }) => <Time at={createdAt} /> },
]

function linkTo(one: Entry): LinkProps {
  switch (one.object) {
    case 'ticket':
      return { to: '/tickets/$id', params: { id: one.id } }
    case 'booking':
      return { to: '/bookings/$id', params: { id: one.id } }
    case 'note':
      return { to: '/conversations/$id', params: { id: one.conversationId } }
    default:
      return { to: '/conversations/$id', params: { id: one.id } }
  }
}

export function Timeline({
  customerId,
  actions,
}: {
  readonly customerId: string
  readonly actions: ReactNode
}) {
  const { may } = useCaller()
  const lists = [
    useOf('conversations', customerId),
    useOf('tickets', customerId),
    useOf('bookings', customerId),
    useOf('notes', customerId),
  ].filter((_, n) => may(`${kinds[n] as Kind}:read`))
  if (lists.length === 0) return null
  return (
    <Panel title="Timeline" actions={actions}>
      <DataTable
        caption="Timeline, newest first"
        list={merged(lists)}
        columns={columns}
        to={linkTo}
        empty={<p>Nothing yet: no conversation, ticket or booking.</p>}
      />
    </Panel>
  )
}

function useOf<K extends Kind>(kind: K, customerId: string): List<Entry> {
  const { may } = useCaller()
  return useList<Entry>({
    key: keys.list(kind, { customerId }),
    load: (page, signal) =>
      answerOf(
        api()
          [kind].list({ customerId, ...page }, { signal })
          .page() as Promise<ListPage<Entry>>,
      ),
    isEnabled: may(`${kind}:read`),
    pageSize: 20,
  })
}

/** One list of several, as far down as every one of them is loaded. */
function merged(lists: readonly List<Entry>[]): List<Entry> {
  const lastOf = ({ rows }: List<Entry>) => rows.at(-1)?.createdAt ?? ''
  const open = lists.filter(({ hasMore }) => hasMore)
  const end = open.map(lastOf).sort().at(-1) ?? ''
  const each = (those: readonly List<Entry>[], act: (list: List<Entry>) => unknown) => {
    for (const list of those) act(list)
  }
  const sum = (of: (list: List<Entry>) => number) => lists.reduce((sum, list) => sum + of(list), 0)
  return {
    rows: lists
      .flatMap(({ rows }) => rows)
      .filter(({ createdAt }) => createdAt >= end)
      .sort((a, b) =>
        a.createdAt === b.createdAt ? (a.id < b.id ? 1 : -1) : a.createdAt < b.createdAt ? 1 : -1,
      ),
    total: sum(({ total }) => total),
    isExact: lists.every(({ isExact }) => isExact),
    isLoading: lists.some(({ isLoading }) => isLoading),
    error: lists.find(({ error }) => error !== null)?.error ?? null,
    retry: () => each(lists, ({ retry }) => retry()),
    hasMore: open.length > 0,
    isLoadingMore: lists.some(({ isLoadingMore }) => isLoadingMore),
    loadMore: () => each(open, (list) => lastOf(list) === end && list.loadMore()),
    news: { count: sum(({ news }) => news.count), gone: sum(({ news }) => news.gone) },
    isGone: (row) => lists.some(({ isGone }) => isGone(row)),
    showNews: () => each(lists, ({ showNews }) => showNews()),
  }
}
