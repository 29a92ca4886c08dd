/** The other bookings of an assignee at the same time: a warning, as the service may allow them. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { keys } from '../../api/keys.ts'
import { Sign } from '../../design/status.tsx'
import type { Booking } from '../desk/objects.ts'
import { readBetween } from './calls.ts'
import css from './overlaps.module.css'
import { isCalledOff, sayClock, sayWhen } from './when.ts'

type Taken = Pick<Booking, 'id' | 'assigneeId' | 'startAt' | 'endAt' | 'status'>

export function Overlaps({ of: { id, assigneeId, startAt, endAt, status } }: { readonly of: Taken }) {
  const [from, to] = [new Date(startAt), new Date(endAt)]
  const { data } = useQuery({
    queryKey: keys.list('bookings', 'at', assigneeId, startAt, endAt),
    queryFn: ({ signal }) => readBetween(from, to, { assigneeId: assigneeId ?? 'null' }, signal),
    enabled: assigneeId !== null && !isCalledOff(status) && from < to,
  })
  const others = (data?.bookings ?? [])
    .filter((one) => one.id !== id && !isCalledOff(one.status))
    .sort((a, b) => Date.parse(a.startAt) - Date.parse(b.startAt))
  const isOneDay = (one: Booking) =>
    [one.startAt, one.endAt, endAt].every((at) => new Date(at).toDateString() === from.toDateString())
  return others.map((one) => (
    <p key={one.id} className={css.overlap} role="status">
      <Sign tone="wait" />
      <span>
        Overlaps with{' '}
        <Link to="/bookings/$id" params={{ id: one.id }}>
          <bdi>{one.title}</bdi>
        </Link>
        ,{' '}
        {isOneDay(one)
          ? `${sayClock(new Date(one.startAt))} to ${sayClock(new Date(one.endAt))}`
          : sayWhen(one)}
        .
      </span>
    </p>
  ))
}
