/** A week of bookings: days in columns on wide screens, in rows on narrow ones. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { CSSProperties } from 'react'
import { keys } from '../../api/keys.ts'
import { Button } from '../../design/button.tsx'
import { ErrorState, Loading, NoMatch } from '../../design/states.tsx'
import { Sign } from '../../design/status.tsx'
import { locale } from '../../design/time.tsx'
import { readersZone } from '../desk/form-values.ts'
import { type Booking, nameOf, sayStatus, useCustomers } from '../desk/objects.ts'
import { type BookingQuery, readBetween } from './calls.ts'
import css from './week.module.css'
import { addDays, mondayOf, type Placed, placeOn, sayClock, sayDay } from './when.ts'

const dayName = new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric' })
const dayInFull = new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long' })
const span = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', year: 'numeric' })

/** Hours that are always shown. */
const usual = [8, 18] as const

interface WeekProps {
  readonly query: BookingQuery
  /** A day of the week: `2026-11-23`; default: this week. */
  readonly day: string | undefined
  readonly goTo: (day: string | undefined) => void
  readonly clear: (() => void) | null
}

export function Week({ query, day, goTo, clear }: WeekProps) {
  const today = sayDay(new Date())
  const monday = mondayOf(day, new Date())
  const end = addDays(monday, 7)
  const days = Array.from({ length: 7 }, (_, n) => addDays(monday, n))
  const week = useQuery({
    queryKey: keys.list('bookings', 'week', sayDay(monday), query),
    queryFn: ({ signal }) => readBetween(monday, end, query, signal),
    placeholderData: (before) => before,
  })
  const bookings = week.data?.bookings ?? []
  const customers = useCustomers(bookings.map(({ customerId }) => customerId))
  const placed = days.map((date) => placeOn(date, bookings))
  const all = placed.flat()
  const first = Math.min(usual[0], ...all.map(({ from }) => Math.floor(from)))
  const last = Math.max(usual[1], ...all.map(({ to }) => Math.ceil(to)))
  const hours = Array.from({ length: last - first }, (_, n) => first + n)

  return (
    <section className={css.week} aria-label="Week" aria-busy={week.isPending || undefined}>
      <header className={css.head}>
        <h2>{span.formatRange(monday, addDays(monday, 6))}</h2>
        <nav className={css.steps} aria-label="Weeks">
          <Button aria-label="The week before" onClick={() => goTo(sayDay(addDays(monday, -7)))}>
            ←
          </Button>
          <Button onClick={() => goTo(undefined)}>This week</Button>
          <Button aria-label="The week after" onClick={() => goTo(sayDay(end))}>
            →
          </Button>
        </nav>
      </header>
      {week.data === undefined ? (
        week.error === null ? (
          <Loading />
        ) : (
          <ErrorState error={week.error} retry={() => void week.refetch()} />
        )
      ) : (
        <>
          <p className={css.count} role="status">
            {week.isPlaceholderData ? 'Loading.' : sayCount(all.length, week.data.total - bookings.length)}{' '}
            Times in {readersZone}.
          </p>
          {all.length === 0 && !week.isPlaceholderData && clear !== null && <NoMatch clear={clear} />}
          <div className={css.grid} style={{ '--hours': hours.length } as CSSProperties}>
            <div className={css.hours} aria-hidden="true">
              {hours.map((hour) => (
                <span key={hour}>{sayClock(new Date(2000, 0, 1, hour))}</span>
              ))}
            </div>
            {days.map((date, n) => (
              <section
                key={sayDay(date)}
                className={css.day}
                aria-label={dayInFull.format(date)}
                data-today={sayDay(date) === today || undefined}
                data-empty={placed[n]?.length === 0 || undefined}
              >
                <h3>{dayName.format(date)}</h3>
                <ol>
                  {placed[n]?.map((one) => {
                    const customer = customers.get(one.booking.customerId ?? '')
                    return (
                      <li key={one.booking.id} style={placeOf(one, first)}>
                        <OnDay booking={one.booking} who={customer === undefined ? null : nameOf(customer)} />
                      </li>
                    )
                  })}
                </ol>
              </section>
            ))}
          </div>
        </>
      )}
    </section>
  )
}

function OnDay({ booking, who }: { readonly booking: Booking; readonly who: string | null }) {
  const { id, title, status, startAt, endAt } = booking
  const when = `${sayClock(new Date(startAt))}–${sayClock(new Date(endAt))}`
  return (
    <Link
      to="/bookings/$id"
      params={{ id }}
      className={css.booking}
      data-status={status}
      title={`${when} ${title}, ${sayStatus(status).toLowerCase()}`}
    >
      <span className={css.when}>
        <Sign tone={status === 'pending' ? 'wait' : status === 'no_show' ? 'bad' : 'quiet'} />
        {sayClock(new Date(startAt))}
        <strong>{title}</strong>
      </span>
      {who !== null && <span>{who}</span>}
      <span className="unseen">{sayStatus(status)}</span>
    </Link>
  )
}

function placeOf({ from, to, column, columns }: Placed<Booking>, first: number): CSSProperties {
  return {
    '--from': from - first,
    '--length': to - from,
    '--column': column,
    '--columns': columns,
  } as CSSProperties
}

function sayCount(count: number, left: number): string {
  if (left > 0)
    return `The newest ${count.toLocaleString('en')} bookings, and ${left.toLocaleString('en')} more in the list.`
  if (count === 0) return 'No bookings in this week.'
  return count === 1 ? 'One booking.' : `${count.toLocaleString('en')} bookings.`
}
