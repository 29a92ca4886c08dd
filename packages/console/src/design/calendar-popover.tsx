/** A month to choose a day of, and the hours of a day; loaded when it is opened. */
import { Popover } from '@base-ui/react/popover'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { Button } from './button.tsx'
import css from './calendar-popover.module.css'
import { Field } from './field.tsx'
import { addDays, mondayOf, readersZone, readLocal, sayDay, toLocal } from './local-time.ts'
import { Select } from './select.tsx'
import { locale } from './time.tsx'

const monthName = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric' })
const dayName = new Intl.DateTimeFormat(locale, { dateStyle: 'full' })
const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short' })
const halfHours = Array.from({ length: 48 }, (_, n) =>
  [Math.floor(n / 2), (n % 2) * 30].map((part) => String(part).padStart(2, '0')).join(':'),
)

export default function CalendarPopover({
  anchor,
  value,
  put,
  close,
}: {
  readonly anchor: HTMLElement | null
  /** As it was typed. */
  readonly value: string
  readonly put: (text: string) => void
  readonly close: () => void
}) {
  const given = readLocal(value)
  const [day, setDay] = useState(() => given ?? new Date())
  const [time, setTime] = useState(given === null ? '09:00' : toLocal(given.toISOString()).slice(11))
  const chosen = useRef<HTMLButtonElement>(null)
  function choose(of: Date): void {
    put(`${sayDay(of)} ${time}`)
    close()
  }
  return (
    <Popover.Root open onOpenChange={(open) => open || close()}>
      <Popover.Portal>
        <Popover.Positioner anchor={anchor} sideOffset={4} align="start" className={css.positioner}>
          <Popover.Popup
            className={css.popup}
            aria-label="Day and time"
            initialFocus={() => chosen.current ?? true}
            finalFocus={() => anchor?.querySelector('input') ?? true}
          >
            <Month day={day} given={given} go={setDay} choose={choose} chosen={chosen} />
            <div className={css.time}>
              {/* It is within the field of the time, and has a label of its own. */}
              <Field label="Time" isUnseen>
                <Select
                  value={time}
                  options={halfHours.includes(time) ? halfHours : [time, ...halfHours]}
                  onChange={(next) => {
                    setTime(next)
                    if (given !== null) put(`${sayDay(given)} ${next}`)
                  }}
                />
              </Field>
              <span>{readersZone}</span>
            </div>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}

function Month({
  day,
  given,
  go,
  choose,
  chosen,
}: {
  readonly day: Date
  readonly given: Date | null
  readonly go: (day: Date) => void
  readonly choose: (day: Date) => void
  readonly chosen: React.RefObject<HTMLButtonElement | null>
}) {
  const moves = useRef(false)
  // The arrows move the focus, the buttons do not.
  useEffect(() => {
    if (moves.current) chosen.current?.focus()
    moves.current = false
  })
  const first = new Date(day.getFullYear(), day.getMonth(), 1)
  const monday = mondayOf(sayDay(first), first)
  const weeks = Array.from({ length: 6 }, (_, week) =>
    Array.from({ length: 7 }, (_, n) => addDays(monday, week * 7 + n)),
  ).filter(([start]) => start !== undefined && (start <= first || start.getMonth() === first.getMonth()))

  function move(event: KeyboardEvent): void {
    const next = {
      ArrowLeft: () => addDays(day, -1),
      ArrowRight: () => addDays(day, 1),
      ArrowUp: () => addDays(day, -7),
      ArrowDown: () => addDays(day, 7),
      Home: () => mondayOf(sayDay(day), day),
      End: () => addDays(mondayOf(sayDay(day), day), 6),
      PageUp: () => otherMonth(day, -1),
      PageDown: () => otherMonth(day, 1),
    }[event.key]
    if (next === undefined) return
    event.preventDefault()
    moves.current = true
    go(next())
  }

  return (
    <>
      <div className={css.head}>
        <Button kind="quiet" size="s" aria-label="Month before" onClick={() => go(otherMonth(day, -1))}>
          ‹
        </Button>
        <span role="status">{monthName.format(first)}</span>
        <Button kind="quiet" size="s" aria-label="Month after" onClick={() => go(otherMonth(day, 1))}>
          ›
        </Button>
      </div>
      <table className={css.month}>
        <caption className="unseen">{monthName.format(first)}</caption>
        <thead>
          <tr>
            {weeks[0]?.map((of) => (
              <th key={of.getDay()} scope="col">
                {weekday.format(of)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={move}>
          {weeks.map((week) => (
            <tr key={sayDay(week[0] as Date)}>
              {week.map((of) => {
                const isHere = sayDay(of) === sayDay(day)
                return (
                  <td key={of.getDay()}>
                    <button
                      type="button"
                      ref={isHere ? chosen : undefined}
                      tabIndex={isHere ? 0 : -1}
                      className={css.day}
                      aria-label={dayName.format(of)}
                      aria-pressed={given !== null && sayDay(of) === sayDay(given)}
                      aria-current={sayDay(of) === sayDay(new Date()) ? 'date' : undefined}
                      data-other={of.getMonth() !== first.getMonth() || undefined}
                      onClick={() => choose(of)}
                    >
                      {of.getDate()}
                    </button>
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

/** The same day of another month, or its last. */
function otherMonth(day: Date, by: number): Date {
  const last = new Date(day.getFullYear(), day.getMonth() + by + 1, 0)
  return new Date(last.getFullYear(), last.getMonth(), Math.min(day.getDate(), last.getDate()))
}
