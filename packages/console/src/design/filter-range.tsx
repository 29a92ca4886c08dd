/** A filter by the time of creation: one of the usual spans, or from and to. */
import { lazy, Suspense, useRef, useState } from 'react'
import css from './select.module.css'
import { TriggerText } from './select.tsx'
import { locale } from './time.tsx'

const RangePopover = lazy(() => import('./range-popover.tsx'))

/** Filters of the API, in the address too. Each end is exclusive. */
export interface Range {
  readonly createdAfter: string | undefined
  readonly createdBefore: string | undefined
}

export function FilterCreated({
  label = 'Created',
  range,
  onChange,
}: {
  readonly label?: string
  readonly range: Range
  readonly onChange: (range: Range) => void
}) {
  const trigger = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  const isSet = Object.values(range).some((end) => end !== undefined)
  return (
    <>
      <button
        ref={trigger}
        type="button"
        className={css.filter}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        data-set={isSet || undefined}
        onClick={() => setOpen(true)}
      >
        <TriggerText name={`${label} `} words={sayRange(range)} />
      </button>
      {isOpen && (
        <Suspense>
          <RangePopover
            label={label}
            anchor={trigger.current}
            range={range}
            put={onChange}
            close={() => setOpen(false)}
          />
        </Suspense>
      )}
    </>
  )
}

const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' })
const dayOfYear = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', year: 'numeric' })
const minute = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' })

/** Short: `since 26 Nov, 14:00`. */
function sayRange({ createdAfter, createdBefore }: Range): string {
  const [from, to] = [nearest(createdAfter), nearest(createdBefore)]
  const thisYear = new Date().getFullYear()
  const say = (at: number) =>
    `${(new Date(at).getFullYear() === thisYear ? day : dayOfYear).format(at)}, ${minute.format(at)}`
  if (from === null) return to === null ? 'Any' : `until ${say(to)}`
  if (to === null) return `since ${say(from)}`
  return `${say(from)} to ${dayOfYear.format(from) === dayOfYear.format(to) ? minute.format(to) : say(to)}`
}

/** An exclusive end is a millisecond before the minute that it is about. Null: none, or no time. */
export function nearest(at: string | undefined): number | null {
  const moment = Math.round(Date.parse(at ?? '') / 1000) * 1000
  return Number.isNaN(moment) ? null : moment
}
