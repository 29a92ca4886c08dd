/** Which events an endpoint subscribes to: all, also those that come later, or by kind all or some. */
import { Checkbox } from '../../design/field.tsx'
import { useCaller } from '../../session/caller.tsx'
import css from './event-picker.module.css'
import { type EventPattern, type EventType, subjectsOfEvents, typesIn } from './event-types.ts'

/** The event without its kind, which is the heading. */
function happening(type: EventType): string {
  return type.slice(type.indexOf('.') + 1).replaceAll('_', ' ')
}

export function EventPicker({
  chosen,
  onChange,
  error,
}: {
  readonly chosen: readonly string[]
  readonly onChange: (chosen: EventPattern[]) => void
  readonly error: string | undefined
}) {
  const { may } = useCaller()
  const has = typesIn(chosen)
  /** Each kind as it is now, but for the one that changes. */
  const put = (changed: string, to: readonly EventPattern[]) =>
    onChange(
      subjectsOfEvents.flatMap(({ name, types }) => {
        if (name === changed) return to
        const all = `${name}.*` as const
        return isAll(name) ? [all] : types.filter((type) => has.includes(type))
      }),
    )
  const isAll = (name: string) => chosen.includes('*') || chosen.includes(`${name}.*`)
  return (
    <fieldset className={css.picker} aria-describedby="events-error">
      <legend>Events</legend>
      <p className={css.error} id="events-error" role="alert">
        {error}
      </p>
      <Checkbox
        label={<strong>All events, including future ones</strong>}
        checked={chosen.includes('*')}
        disabled={!subjectsOfEvents.every(({ plural }) => may(`${plural}:read`))}
        onChange={(event) => onChange(event.currentTarget.checked ? ['*'] : [])}
      />
      {subjectsOfEvents.map(({ name, plural, types }) => {
        const count = types.filter((type) => has.includes(type)).length
        const isReadable = may(`${plural}:read`)
        return (
          <div key={name} className={css.kind}>
            <Checkbox
              label={<strong>{name}</strong>}
              checked={isAll(name)}
              disabled={!isReadable}
              ref={(input) => {
                if (input !== null) input.indeterminate = count > 0 && !isAll(name)
              }}
              onChange={(event) => put(name, event.currentTarget.checked ? [`${name}.*`] : [])}
            />
            {isReadable ? (
              <div className={css.types}>
                {types.map((type) => (
                  <Checkbox
                    key={type}
                    label={<span title={type}>{happening(type)}</span>}
                    checked={has.includes(type)}
                    onChange={(event) => {
                      const isOn = event.currentTarget.checked
                      put(
                        name,
                        types.filter((one) => (one === type ? isOn : has.includes(one))),
                      )
                    }}
                  />
                ))}
              </div>
            ) : (
              <p>
                Your API key needs the scope <code>{plural}:read</code>.
              </p>
            )}
          </div>
        )
      })}
    </fieldset>
  )
}
