/** A date and time: typed as `2026-11-26 14:00`, or chosen in a calendar; in the user's time zone, which it names. */
import { Field } from '@base-ui/react/field'
import { type ComponentProps, lazy, Suspense, useRef, useState } from 'react'
import { Button } from './button.tsx'
import { readersZone } from './local-time.ts'
import css from './time-input.module.css'

const CalendarPopover = lazy(() => import('./calendar-popover.tsx'))

interface TimeInputProps extends ComponentProps<'input'> {
  /** After a day or a time was chosen in the calendar. */
  readonly onPick?: (text: string) => void
}

export function TimeInput({ ref, onPick, ...rest }: TimeInputProps) {
  const group = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  const input = () => group.current?.querySelector('input')
  return (
    <div className={css.group} ref={group}>
      <Field.Control
        render={
          <input
            autoComplete="off"
            placeholder="YYYY-MM-DD hh:mm"
            aria-description={`In ${readersZone}`}
            {...rest}
            ref={ref}
            className={css.input}
          />
        }
      />
      <span className={css.zone} aria-hidden="true">
        {readersZone}
      </span>
      <Button kind="quiet" size="s" aria-label="Pick a date" onClick={() => setOpen(true)}>
        <svg className={css.icon} viewBox="0 0 24 24" aria-hidden="true">
          <path d="M4 6h16v14H4zM4 10h16M8 3v4M16 3v4" />
        </svg>
      </Button>
      {isOpen && (
        <Suspense>
          <CalendarPopover
            anchor={group.current}
            value={input()?.value ?? ''}
            put={(text) => {
              type(input(), text)
              onPick?.(text)
            }}
            close={() => setOpen(false)}
          />
        </Suspense>
      )}
    </div>
  )
}

const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value') ?? {}

/** As if the user had: forms hear of it as of any key. */
function type(input: HTMLInputElement | null | undefined, text: string): void {
  if (!input) return
  set?.call(input, text)
  input.dispatchEvent(new Event('input', { bubbles: true }))
}
