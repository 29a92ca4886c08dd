/** What needs somebody now, each with the screen that settles it. */
import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Panel } from '../../design/page.tsx'
import { Time } from '../../design/time.tsx'
import { useCaller } from '../../session/caller.tsx'
import { useSession } from '../../session/store.ts'
import { endpointsQuery, hostOf } from '../endpoints/endpoint-list.ts'
import { healthOf } from '../endpoints/endpoint-status.tsx'
import { sayCount, useCounts, useEntries } from '../inbox/entries.ts'
import css from './overview.module.css'

interface Matter {
  readonly what: ReactNode
  readonly verb: string
  readonly to: LinkProps
}

export function Attention() {
  const { may } = useCaller()
  const mayConverse = may('conversations:read')
  const { teammateId } = useSession()
  const counts = useCounts(teammateId, mayConverse)
  const longest = useEntries(mayConverse ? { awaitingReply: 'true', limit: '1' } : null).data?.pages[0]
    ?.data[0]
  const overdue = useOverdue(may('tickets:read'))
  const bookings = useBookingsToday(may('bookings:read'))
  const endpoints = useQuery({ ...endpointsQuery, enabled: may('webhooks:read') }).data?.data ?? []
  const failing = endpoints.filter((one) => ['failing', 'missed'].includes(healthOf(one)))
  const matters: Matter[] = []
  if (counts !== undefined && longest?.awaitingReplySince) {
    const { conversation, awaitingReplySince } = longest
    matters.push({
      what: (
        <>
          {sayCount(counts.waiting)} waiting for a reply, the longest wait began{' '}
          <Time at={awaitingReplySince} />
        </>
      ),
      verb: 'Answer the longest wait',
      to: { to: '/inbox', search: { tab: 'waiting', id: conversation.id } },
    })
  }
  if (counts !== undefined && counts.unassigned > 0)
    matters.push({
      what: `${sayCount(counts.unassigned)} unassigned ${counts.unassigned === 1 ? 'conversation' : 'conversations'}`,
      verb: 'Assign',
      to: { to: '/inbox', search: { tab: 'unassigned' } },
    })
  if (overdue > 0)
    matters.push({
      what: overdue === 1 ? '1 ticket is overdue' : `${overdue.toLocaleString('en')} tickets are overdue`,
      verb: 'Open overdue tickets',
      to: { to: '/tickets', search: { overdue: 'true' } },
    })
  if (bookings > 0)
    matters.push({
      what: bookings === 1 ? '1 booking today' : `${bookings} bookings today`,
      verb: 'Open the calendar',
      to: { to: '/bookings' },
    })
  const [first] = failing
  if (first !== undefined)
    matters.push({
      what:
        failing.length === 1 ? `${hostOf(first.url)} is failing` : `${failing.length} endpoints are failing`,
      verb: 'Repair',
      to: failing.length === 1 ? { to: '/endpoints/$id', params: { id: first.id } } : { to: '/endpoints' },
    })
  if (matters.length === 0) return null
  return (
    <Panel title="Needs attention">
      <ul className={css.matters}>
        {matters.map(({ what, verb, to }) => (
          <li key={verb}>
            <span>{what}</span>
            <Link {...to}>{verb}</Link>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** How many tickets are overdue. Time alone makes one so, which no stream says. */
function useOverdue(isEnabled: boolean): number {
  return (
    useQuery({
      queryKey: keys.list('tickets', 'overdue'),
      queryFn: async ({ signal }) =>
        (await answerOf(api().tickets.list({ overdue: 'true', limit: 1 }, { signal }).page())).pagination
          .total,
      enabled: isEnabled,
      refetchInterval: 60_000,
    }).data ?? 0
  )
}

/** How many begin in the rest of the day. */
function useBookingsToday(isEnabled: boolean): number {
  const begin = new Date().setMinutes(0, 0, 0)
  const end = new Date().setHours(24, 0, 0, 0)
  const query = { startAfter: new Date(begin).toISOString(), startBefore: new Date(end).toISOString() }
  return (
    useQuery({
      queryKey: keys.list('bookings', query),
      queryFn: async ({ signal }) =>
        (
          await answerOf(
            api()
              .bookings.list({ ...query, status: 'confirmed', limit: 1 }, { signal })
              .page(),
          )
        ).pagination.total,
      enabled: isEnabled,
    }).data ?? 0
  )
}
