/** A filter by time: one of the usual spans, or from and to. */
import { Popover } from '@base-ui/react/popover'
import { useState } from 'react'
import { Button } from './button.tsx'
import { Field, TextInput } from './field.tsx'
import css from './filter-range.module.css'
import { fromLocal, readersZone, toLocal } from './local-time.ts'
import { locale } from './time.tsx'

/** Each end is a time of the API, exclusive. */
export interface Range {
  readonly after: string | undefined
  readonly before: string | undefined
}

const hour = 3_600_000
const usual = [
  ['Last hour', hour],
  ['Last 24 hours', 24 * hour],
  ['Last 7 days', 7 * 24 * hour],
] as const

export function FilterRange({
  label,
  range,
  onChange,
}: {
  readonly label: string
  readonly range: Range
  readonly onChange: (range: Range) => void
}) {
  const [isOpen, setOpen] = useState(false)
  const isSet = range.after !== undefined || range.before !== undefined
  const put = (next: Range) => {
    setOpen(false)
    onChange(next)
  }
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger className={css.trigger} data-set={isSet || undefined}>
        <span>{label}</span> {sayRange(range)}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={6} align="start" collisionPadding={8}>
          <Popover.Popup className={css.popup} aria-label={label}>
            <div className={css.usual}>
              {usual.map(([words, length]) => (
                <Button
                  key={words}
                  size="s"
                  onClick={() =>
                    put({ after: new Date(Date.now() - length).toISOString(), before: undefined })
                  }
                >
                  {words}
                </Button>
              ))}
              <Button size="s" onClick={() => put({ after: undefined, before: undefined })}>
                Any time
              </Button>
            </div>
            <Ends range={range} put={put} />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}

function Ends({ range, put }: { readonly range: Range; readonly put: (range: Range) => void }) {
  const [from, setFrom] = useState(range.after === undefined ? '' : toLocal(range.after))
  const [to, setTo] = useState(range.before === undefined ? '' : toLocal(range.before))
  return (
    <form
      className={css.ends}
      onSubmit={(event) => {
        event.preventDefault()
        put({
          after: fromLocal(from, range.after) ?? undefined,
          before: fromLocal(to, range.before) ?? undefined,
        })
      }}
    >
      <Field label="From" hint={readersZone}>
        <TextInput
          type="datetime-local"
          step="any"
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
      </Field>
      <Field label="To">
        <TextInput
          type="datetime-local"
          step="any"
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
      </Field>
      <Button kind="primary" type="submit">
        Apply
      </Button>
    </form>
  )
}

const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' })
const dayOfYear = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', year: 'numeric' })
const minute = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' })

/** Short: `since 26 Nov, 14:00`. */
function sayRange({ after, before }: Range): string {
  const [from, to] = [after, before].map((at) => (at === undefined ? null : nearest(Date.parse(at))))
  const thisYear = new Date().getFullYear()
  const say = (at: number) =>
    `${(new Date(at).getFullYear() === thisYear ? day : dayOfYear).format(at)}, ${minute.format(at)}`
  if (from === null || from === undefined)
    return to === null || to === undefined ? 'any time' : `until ${say(to)}`
  if (to === null || to === undefined) return `since ${say(from)}`
  return `${say(from)} to ${dayOfYear.format(from) === dayOfYear.format(to) ? minute.format(to) : say(to)}`
}

/** An exclusive end is a millisecond before the minute that it is about. */
function nearest(at: number): number {
  return Math.round(at / 1000) * 1000
}
