/** Which events an endpoint is told of: by kind, each whole or in parts. */
import { Checkbox } from '../../design/field.tsx'
import { useCaller } from '../../session/caller.tsx'
import css from './event-picker.module.css'
import { byKind, type EventType } from './event-types.ts'

/** What has happened, without the kind that it is said under. */
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
  const all = [...byKind.values()].flat()
  const put = (types: readonly EventType[], isOn: boolean) =>
    onChange(all.filter((type) => (types.includes(type) ? isOn : chosen.includes(type))))
  return (
    <fieldset className={css.picker} aria-describedby="events-error">
      <legend>Events</legend>
      <p className={css.error} id="events-error" role="alert">
        {error}
      </p>
      {[...byKind].map(([kind, types]) => {
        const count = types.filter((type) => chosen.includes(type)).length
        const isReadable = may(`${kind}s:read`)
        return (
          <div key={kind} className={css.kind}>
            <Checkbox
              label={<strong>{kind}</strong>}
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
                This key may not read these: it lacks <code>{kind}s:read</code>.
              </p>
            )}
          </div>
        )
      })}
    </fieldset>
  )
}
