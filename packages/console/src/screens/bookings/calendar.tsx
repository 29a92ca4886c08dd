/** A day or a week of bookings: days in columns on wide screens, in rows on narrow ones. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type CSSProperties, useEffect, useRef } from 'react'
import { keys } from '../../api/keys.ts'
import { Button } from '../../design/button.tsx'
import { addDays, dayOf, mondayOf, readersZone, sayDay } from '../../design/local-time.ts'
import { ErrorState, Loading, NoMatch } from '../../design/states.tsx'
import { Sign } from '../../design/status.tsx'
import { locale, useNow } from '../../design/time.tsx'
import {
  type Booking,
  type Customer,
  nameOf,
  sayStatus,
  useCustomers,
  useTeammates,
} from '../desk/objects.ts'
import css from './calendar.module.css'
import { type BookingQuery, ofAssignee, readAtMost, readBetween } from './calls.ts'
import { conflictsOf, isCalledOff, type Placed, placeOn, sayClock, sayClockThere, sayDays } from './when.ts'

const dayName = new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric' })
const dayInFull = new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long' })
const span = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', year: 'numeric' })

/** Hours that are always shown. */
const usual = [8, 18] as const

interface CalendarProps {
  readonly query: BookingQuery
  readonly view: 'day' | 'week'
  /** It, or one of the week: `2026-11-23`; default: today. */
  readonly day: string | undefined
  readonly isConflictsOnly: boolean
  /** Cancelled and rejected ones too; a filter by status shows them anyway. */
  readonly hasCancelled: boolean
  readonly goTo: (day: string | undefined) => void
  /** Shows all coming conflicts. */
  readonly showConflicts: () => void
  readonly clear: (() => void) | null
}

export function Calendar({
  query,
  view,
  day,
  isConflictsOnly,
  hasCancelled,
  goTo,
  showConflicts,
  clear,
}: CalendarProps) {
  const today = sayDay(new Date())
  const begin = view === 'week' ? mondayOf(day, new Date()) : dayOf(day, new Date())
  const length = view === 'week' ? 7 : 1
  const end = addDays(begin, length)
  const days = Array.from({ length }, (_, n) => addDays(begin, n))
  const read = useQuery({
    queryKey: keys.list('bookings', view, sayDay(begin), query),
    queryFn: ({ signal }) => readBetween(begin, end, query, signal),
    placeholderData: (before) => before,
  })
  // Another booking of the assignee may not match the filter.
  const isFiltered = Object.values(query).some((value) => value !== undefined)
  const all = useQuery({
    queryKey: keys.list('bookings', view, sayDay(begin), ofAssignee(query)),
    queryFn: ({ signal }) => readBetween(begin, end, ofAssignee(query), signal),
    enabled: isFiltered,
  })
  const found = read.data?.bookings ?? []
  const conflicts = conflictsOf((isFiltered ? all.data?.bookings : undefined) ?? found)
  const bookings = found.filter(
    (one) =>
      (!isConflictsOnly || conflicts.has(one.id)) &&
      (hasCancelled || query.status !== undefined || !isCalledOff(one.status)),
  )
  const customers = useCustomers(bookings.map(({ customerId }) => customerId))
  const teammates = useTeammates()
  const placed = days.map((date) => placeOn(date, bookings))
  const shown = placed.flat()
  const now = new Date(useNow())
  const hour = days.some((date) => sayDay(date) === today) ? now.getHours() + now.getMinutes() / 60 : usual[0]
  const first = Math.min(usual[0], Math.floor(hour), ...shown.map(({ from }) => Math.floor(from)))
  const last = Math.max(usual[1], Math.floor(hour) + 1, ...shown.map(({ to }) => Math.ceil(to)))
  const hours = Array.from({ length: last - first }, (_, n) => first + n)
  const left = (read.data?.total ?? 0) - found.length
  const nowLine = useRef<HTMLSpanElement>(null)
  const ofToday = useRef<HTMLElement>(null)
  function showNow(): void {
    const isLine = nowLine.current !== null && nowLine.current.getClientRects().length > 0
    if (isLine) nowLine.current?.scrollIntoView({ block: 'nearest' })
    else ofToday.current?.scrollIntoView({ block: 'start' })
  }
  const isRead = read.data !== undefined && !read.isPlaceholderData
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each day or week that is opened
  useEffect(() => {
    if (isRead) showNow()
  }, [isRead, view, sayDay(begin)])

  return (
    <section className={css.week} aria-label="Calendar" aria-busy={read.isPending || undefined}>
      <header className={css.head}>
        <h2>{view === 'week' ? span.formatRange(begin, addDays(begin, 6)) : dayInFull.format(begin)}</h2>
        <nav className={css.steps} aria-label="Time">
          <Button aria-label={`Previous ${view}`} onClick={() => goTo(sayDay(addDays(begin, -length)))}>
            ←
          </Button>
          <Button
            onClick={() => {
              goTo(undefined)
              showNow()
            }}
          >
            Today
          </Button>
          <Button aria-label={`Next ${view}`} onClick={() => goTo(sayDay(end))}>
            →
          </Button>
        </nav>
      </header>
      {read.data === undefined ? (
        read.error === null ? (
          <Loading />
        ) : (
          <ErrorState error={read.error} retry={() => void read.refetch()} />
        )
      ) : (
        <>
          <p className={css.count} role="status">
            {read.isPlaceholderData
              ? 'Loading…'
              : bookings.length > 0 || !isConflictsOnly
                ? sayCount(bookings.length, left, isConflictsOnly)
                : ''}{' '}
            Times in {readersZone}.
          </p>
          {bookings.length > 0 || read.isPlaceholderData || clear === null ? null : isConflictsOnly ? (
            <NoMatch
              title={
                Math.max(left, (all.data?.total ?? 0) - readAtMost) > 0
                  ? `No conflicts among the newest ${readAtMost} bookings`
                  : `No conflicts on ${sayDays(begin, addDays(end, -1))}`
              }
              actions={
                <>
                  <Button onClick={() => goTo(sayDay(end))}>{`Next ${view}`}</Button>
                  <Button onClick={showConflicts}>All conflicts</Button>
                </>
              }
              clear={clear}
            >
              <p>No assignee has two bookings at the same time.</p>
            </NoMatch>
          ) : (
            <NoMatch clear={clear} />
          )}
          <div
            className={css.grid}
            data-view={view}
            style={{ '--hours': hours.length, '--days': length } as CSSProperties}
          >
            <div className={css.hours} aria-hidden="true">
              {hours.map((hour) => (
                <span key={hour}>{sayClock(new Date(2000, 0, 1, hour))}</span>
              ))}
            </div>
            {days.map((date, n) => (
              <section
                key={sayDay(date)}
                ref={sayDay(date) === today ? ofToday : undefined}
                className={css.day}
                aria-label={dayInFull.format(date)}
                data-today={sayDay(date) === today || undefined}
                data-empty={placed[n]?.length === 0 || undefined}
              >
                <h3>{dayName.format(date)}</h3>
                {sayDay(date) === today && (
                  <span
                    ref={nowLine}
                    className={css.now}
                    title={sayClock(now)}
                    style={{ '--from': hour - first } as CSSProperties}
                  />
                )}
                <ol>
                  {placed[n]?.map((one) => (
                    <li
                      key={one.booking.id}
                      style={placeOf(one, first, customers.has(one.booking.customerId ?? ''))}
                    >
                      <OnDay
                        booking={one.booking}
                        customer={customers.get(one.booking.customerId ?? '')}
                        assignee={
                          one.booking.assigneeId === null ? null : teammates.nameOf(one.booking.assigneeId)
                        }
                        isConflict={conflicts.has(one.booking.id)}
                      />
                    </li>
                  ))}
                </ol>
              </section>
            ))}
          </div>
        </>
      )}
    </section>
  )
}

function OnDay({
  booking: { id, title, status, startAt, endAt, timezone },
  customer,
  assignee,
  isConflict,
}: {
  readonly booking: Booking
  readonly customer: Customer | undefined
  readonly assignee: string | null
  readonly isConflict: boolean
}) {
  const start = new Date(startAt)
  const there = sayClockThere(start, customer?.timezone ?? timezone)
  const who = customer === undefined ? null : nameOf(customer)
  const clash = isConflict ? `Conflict: ${assignee} has another booking then` : null
  const span = `${sayClock(start)}–${sayClock(new Date(endAt))}`
  const facts = [`${span} ${title}`, who, there, assignee ?? 'Unassigned', sayStatus(status), clash]
  return (
    <Link
      to="/bookings/$id"
      params={{ id }}
      className={css.booking}
      data-status={status}
      data-conflict={isConflict || undefined}
      title={facts.filter((fact) => fact !== null).join('\n')}
    >
      <span className={css.when}>
        {isConflict && <Sign tone="bad" />} {sayClock(start)}{' '}
        <strong>
          <bdi>{title}</bdi>
        </strong>
        <span className="unseen">
          {[sayStatus(status), clash].filter((fact) => fact !== null).join(', ')}
        </span>
      </span>
      {who !== null && <span dir="auto">{who}</span>}
      <span className={css.assignee}>
        <bdi>{assignee ?? 'Unassigned'}</bdi>
        {there !== null && ` · ${there}`}
      </span>
    </Link>
  )
}

function placeOf(
  { from, to, column, columns }: Placed<Booking>,
  first: number,
  hasCustomer: boolean,
): CSSProperties {
  return {
    '--from': from - first,
    '--length': to - from,
    // Of the title, of a rem each in hours of five and a half; the customer has the next one.
    '--lines': Math.max(1, Math.floor((to - from) * 5.5 - 0.375) - (hasCustomer ? 1 : 0)),
    '--column': column,
    '--columns': columns,
  } as CSSProperties
}

function sayCount(count: number, left: number, isPart: boolean): string {
  if (left > 0)
    return isPart
      ? `${count.toLocaleString('en')} of the newest ${readAtMost} bookings; ${left.toLocaleString('en')} more were not examined.`
      : `The newest ${count.toLocaleString('en')} bookings, and ${left.toLocaleString('en')} more in the list.`
  if (count === 0) return 'No bookings.'
  return count === 1 ? '1 booking.' : `${count.toLocaleString('en')} bookings.`
}
