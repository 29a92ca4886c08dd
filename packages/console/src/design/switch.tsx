/** Chooses one of a few, at once. */

import { Toggle } from '@base-ui/react/toggle'
import { ToggleGroup } from '@base-ui/react/toggle-group'
import css from './switch.module.css'

export function Switch<Value extends string>({
  label,
  value,
  options,
  shortcuts,
  onChange,
}: {
  readonly label: string
  readonly value: Value
  readonly options: readonly (readonly [value: Value, words: string])[]
  readonly shortcuts?: Readonly<Record<Value, string>>
  readonly onChange: (value: Value) => void
}) {
  return (
    <ToggleGroup
      className={css.group}
      aria-label={label}
      value={[value]}
      onValueChange={([next]) => onChange((next ?? value) as Value)}
    >
      {options.map(([each, words]) => (
        <Toggle key={each} value={each} className={css.option} aria-keyshortcuts={shortcuts?.[each]}>
          {words}
        </Toggle>
      ))}
    </ToggleGroup>
  )
}
