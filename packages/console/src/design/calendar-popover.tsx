/** A month to choose a day of, and the hours of a day; loaded when it is opened. */
import { Popover } from '@base-ui/react/popover'
import { useRef, useState } from 'react'
import { DayPicker } from 'react-day-picker'
import css from './calendar-popover.module.css'
import { Field } from './field.tsx'
import { readersZone, readLocal, sayDay, toLocal } from './local-time.ts'
import { Select } from './select.tsx'
import { locale } from './time.tsx'

const monthName = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric' })
const dayName = new Intl.DateTimeFormat(locale, { dateStyle: 'full' })
const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short' })
const halfHours = Array.from({ length: 48 }, (_, n) =>
  [Math.floor(n / 2), (n % 2) * 30].map((part) => String(part).padStart(2, '0')).join(':'),
)

const classNames = {
  months: css.months ?? '',
  month_caption: css.caption ?? '',
  nav: css.nav ?? '',
  month_grid: css.month ?? '',
  day_button: css.day ?? '',
}

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
  const [time, setTime] = useState(given === null ? '09:00' : toLocal(given.toISOString()).slice(11))
  const popup = useRef<HTMLDivElement>(null)
  function choose(of: Date): void {
    put(`${sayDay(of)} ${time}`)
    close()
  }
  return (
    <Popover.Root open onOpenChange={(open) => open || close()}>
      <Popover.Portal>
        <Popover.Positioner anchor={anchor} sideOffset={4} align="start" className={css.positioner}>
          <Popover.Popup
            ref={popup}
            className={css.popup}
            aria-label="Day and time"
            initialFocus={() => popup.current?.querySelector<HTMLElement>('td [tabindex="0"]') ?? true}
            finalFocus={() => anchor?.querySelector('input') ?? true}
          >
            <DayPicker
              mode="single"
              classNames={classNames}
              selected={given ?? undefined}
              defaultMonth={given ?? new Date()}
              weekStartsOn={1}
              showOutsideDays
              onDayClick={choose}
              formatters={{ formatCaption: monthName.format, formatWeekdayName: weekday.format }}
              labels={{
                labelDayButton: (day) => dayName.format(day),
                labelGrid: monthName.format,
                labelWeekday: weekday.format,
                labelPrevious: () => 'Month before',
                labelNext: () => 'Month after',
              }}
            />
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
