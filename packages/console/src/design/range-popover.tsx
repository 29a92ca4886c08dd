/** Chooses a range of times; loaded when it is opened. */
import { Popover } from '@base-ui/react/popover'
import { type FormEvent, useState } from 'react'
import { Button } from './button.tsx'
import { DialogActions } from './dialog.tsx'
import { Field, Form } from './field.tsx'
import { nearest, type Range } from './filter-range.tsx'
import { fromLocal, readLocal, timeProblem, toLocal } from './local-time.ts'
import css from './range-popover.module.css'
import { TimeInput } from './time-input.tsx'

const hour = 3_600_000
const presets = [
  ['Last hour', hour],
  ['Last 24 hours', 24 * hour],
  ['Last 7 days', 7 * 24 * hour],
  ['Last 30 days', 30 * 24 * hour],
] as const

export default function RangePopover({
  label,
  anchor,
  range,
  put,
  close,
}: {
  readonly label: string
  readonly anchor: HTMLElement | null
  readonly range: Range
  readonly put: (range: Range) => void
  readonly close: () => void
}) {
  const textOf = (at: string | undefined) => {
    const moment = nearest(at)
    return moment === null ? '' : toLocal(new Date(moment).toISOString())
  }
  const [from, setFrom] = useState(() => textOf(range.createdAfter))
  const [to, setTo] = useState(() => textOf(range.createdBefore))
  const [isTried, setTried] = useState(false)
  const errorOf = (text: string) =>
    isTried && text.trim() !== '' && readLocal(text) === null ? timeProblem : undefined
  function leave(next: Range): void {
    put(next)
    close()
  }
  function apply(event: FormEvent): void {
    event.preventDefault()
    setTried(true)
    if ([from, to].some((text) => text.trim() !== '' && readLocal(text) === null)) return
    const first = readLocal(from)
    // The API leaves out the end itself, and who asks from midnight means it too.
    const createdAfter = first === null ? undefined : new Date(first.getTime() - 1).toISOString()
    leave({ createdAfter, createdBefore: fromLocal(to) ?? undefined })
  }
  return (
    <Popover.Root open onOpenChange={(open) => open || close()}>
      <Popover.Portal>
        <Popover.Positioner anchor={anchor} sideOffset={4} align="start" className={css.positioner}>
          <Popover.Popup className={css.popup} aria-label={label} finalFocus={() => anchor ?? true}>
            <div className={css.presets}>
              {presets.map(([words, length]) => (
                <Button
                  key={words}
                  size="s"
                  onClick={() => {
                    const createdAfter = new Date(Date.now() - length).toISOString()
                    leave({ createdAfter, createdBefore: undefined })
                  }}
                >
                  {words}
                </Button>
              ))}
            </div>
            <Form onSubmit={apply}>
              <Field label="From" error={errorOf(from)}>
                <TimeInput value={from} onChange={({ currentTarget }) => setFrom(currentTarget.value)} />
              </Field>
              <Field label="To" error={errorOf(to)}>
                <TimeInput value={to} onChange={({ currentTarget }) => setTo(currentTarget.value)} />
              </Field>
              <DialogActions>
                <Button onClick={() => leave({ createdAfter: undefined, createdBefore: undefined })}>
                  Any time
                </Button>
                <Button kind="primary" type="submit">
                  Apply
                </Button>
              </DialogActions>
            </Form>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  )
}
