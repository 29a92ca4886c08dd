/** Chooses scopes, kind by kind. A key grants only what it holds itself. */
import { Button } from '../../design/button.tsx'
import { Checkbox } from '../../design/field.tsx'
import { useCaller } from '../../session/caller.tsx'
import css from './scope-picker.module.css'
import { isSame, presets, type Scope, scopeRows } from './scopes.ts'

interface ScopePickerProps {
  readonly chosen: readonly Scope[]
  readonly onChange: (chosen: readonly Scope[]) => void
  readonly error: string | undefined
}

export function ScopePicker({ chosen, onChange, error }: ScopePickerProps) {
  const { may, key } = useCaller()
  const isEverything = chosen.includes('*')
  const put = (scope: Scope, isOn: boolean) =>
    onChange(isOn ? [...chosen, scope] : chosen.filter((one) => one !== scope))
  return (
    <fieldset className={css.picker} aria-describedby="scopes-error">
      <legend>Scopes</legend>
      <p className={css.error} id="scopes-error" role="alert">
        {error}
      </p>
      <fieldset className={css.presets}>
        <legend className="unseen">Presets</legend>
        {presets.map(([title, of]) => {
          const granted = of.filter(may)
          return (
            <Button
              key={title}
              size="s"
              aria-pressed={granted.length > 0 && isSame(granted, chosen)}
              disabled={granted.length < of.length}
              title={granted.length < of.length ? 'Your key lacks some of these scopes.' : undefined}
              onClick={() => onChange(granted)}
            >
              {title}
            </Button>
          )
        })}
      </fieldset>
      <div className={css.row}>
        <Checkbox
          label={<strong>All scopes</strong>}
          checked={isEverything}
          disabled={!key.scopes.includes('*')}
          onChange={(event) => onChange(event.currentTarget.checked ? ['*'] : [])}
        />
        <span>Includes scopes of later releases</span>
      </div>
      {scopeRows.map(({ of, ways }) => (
        <div key={of} className={css.row}>
          <span>{of}</span>
          <div className={css.ways}>
            {ways.map(([scope, word]) => (
              <Checkbox
                key={scope}
                label={<span title={may(scope) ? scope : `Your key lacks ${scope}.`}>{word}</span>}
                aria-label={`${word} ${of}`}
                checked={isEverything || chosen.includes(scope)}
                disabled={isEverything || !may(scope)}
                onChange={(event) => put(scope, event.currentTarget.checked)}
              />
            ))}
          </div>
        </div>
      ))}
    </fieldset>
  )
}
