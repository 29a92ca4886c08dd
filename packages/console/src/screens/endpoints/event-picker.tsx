/** Which events an endpoint subscribes to: by kind, all or some. */
import { Checkbox } from '../../design/field.tsx'
import { useCaller } from '../../session/caller.tsx'
import css from './event-picker.module.css'
import { type EventType, subjectsOfEvents } from './event-types.ts'

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
  readonly onChange: (chosen: EventType[]) => void
  readonly error: string | undefined
}) {
  const { may } = useCaller()
  const all = subjectsOfEvents.flatMap(({ types }) => types)
  const put = (types: readonly EventType[], isOn: boolean) =>
    onChange(all.filter((type) => (types.includes(type) ? isOn : chosen.includes(type))))
  return (
    <fieldset className={css.picker} aria-describedby="events-error">
      <legend>Events</legend>
      <p className={css.error} id="events-error" role="alert">
        {error}
      </p>
      {subjectsOfEvents.map(({ name, plural, types }) => {
        const count = types.filter((type) => chosen.includes(type)).length
        const isReadable = may(`${plural}:read`)
        return (
          <div key={name} className={css.kind}>
            <Checkbox
              label={<strong>{name}</strong>}
              checked={count === types.length}
              disabled={!isReadable}
              ref={(input) => {
                if (input !== null) input.indeterminate = count > 0 && count < types.length
              }}
              onChange={(event) => put(types, event.currentTarget.checked)}
            />
            {isReadable ? (
              <div className={css.types}>
                {types.map((type) => (
                  <Checkbox
                    key={type}
                    label={<span title={type}>{happening(type)}</span>}
                    checked={chosen.includes(type)}
                    onChange={(event) => put([type], event.currentTarget.checked)}
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
