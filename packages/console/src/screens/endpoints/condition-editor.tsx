/** The conditions of an endpoint: rows of a field, what must hold of it, and a value. */
import { useRef } from 'react'
import { flushSync } from 'react-dom'
import { useFieldArray, useFormContext } from 'react-hook-form'
import { Button } from '../../design/button.tsx'
import { Field, TextArea, TextInput } from '../../design/field.tsx'
import { FormSelect } from '../../design/form-select.tsx'
import css from './condition-editor.module.css'
import { type Comparison, type ConditionRow, fieldsOf, hasValue, maxConditions, tests } from './conditions.ts'

interface Values {
  events: string[]
  conditions: ConditionRow[]
}

/** In a form with the fields of `Values`. */
export function ConditionEditor() {
  const form = useFormContext<Values>()
  const { fields: rows, append, remove } = useFieldArray({ control: form.control, name: 'conditions' })
  const add = useRef<HTMLButtonElement>(null)
  const offered = fieldsOf(form.watch('events'))
  return (
    <fieldset className={css.editor}>
      <legend>Conditions</legend>
      <p className={css.hint}>Only events that meet all conditions are sent. Deletions are always sent.</p>
      {rows.map((row, index) => (
        <Row
          key={row.id}
          index={index}
          offered={offered}
          remove={() => {
            // With ten rows it is disabled until one is gone.
            flushSync(() => remove(index))
            add.current?.focus()
          }}
        />
      ))}
      <p className={css.error} role="alert">
        {form.formState.errors.conditions?.message}
      </p>
      {offered.size === 0 ? (
        <p className={css.hint}>The chosen events have no field in common.</p>
      ) : (
        <Button
          size="s"
          ref={add}
          disabled={rows.length >= maxConditions}
          onClick={() => append({ field: '', op: 'equals', value: '' })}
        >
          Add condition
        </Button>
      )}
    </fieldset>
  )
}

function Row({
  index,
  offered,
  remove,
}: {
  readonly index: number
  readonly offered: ReadonlyMap<string, Comparison>
  readonly remove: () => void
}) {
  const { control, formState, setValue, watch } = useFormContext<Values>()
  const errors = formState.errors.conditions?.[index]
  const at = `conditions.${index}` as const
  const { field, op } = watch(at)
  const comparison = offered.get(field)
  const ops = Object.entries(tests).filter(([name]) => comparison !== null || !hasValue(name) || name === op)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a row of the fieldset
    <div className={css.row} role="group" aria-label={`Condition ${index + 1}`}>
      <Field label="Field" isUnseen error={errors?.field?.message}>
        <FormSelect
          control={control}
          name={`${at}.field`}
          rules={{ required: 'Choose a field.' }}
          options={[['', 'Choose a field'], ...[...new Set([...offered.keys(), field])].filter(Boolean)]}
          onChange={(chosen) => {
            setValue(`${at}.value`, '')
            if (offered.get(chosen) === null && hasValue(op)) setValue(`${at}.op`, 'changed')
          }}
        />
      </Field>
      <Field label="Operator" isUnseen error={errors?.op?.message}>
        <FormSelect control={control} name={`${at}.op`} options={ops} />
      </Field>
      <div>{hasValue(op) && <Value index={index} comparison={comparison ?? 'string'} />}</div>
      <Button kind="quiet" aria-label={`Remove condition ${index + 1}`} onClick={remove}>
        Remove
      </Button>
    </div>
  )
}

function Value({
  index,
  comparison,
}: {
  readonly index: number
  readonly comparison: Exclude<Comparison, null>
}) {
  const { control, formState, register, watch } = useFormContext<Values>()
  const op = watch(`conditions.${index}.op`)
  const name = `conditions.${index}.value` as const
  const rules = {
    validate: (value: string, { conditions }: Values) =>
      value.trim() !== '' || !hasValue(conditions[index]?.op ?? '') || 'Enter a value.',
  }
  const words =
    comparison === 'boolean' ? ['true', 'false'] : typeof comparison === 'string' ? null : comparison
  return (
    <Field
      label={op === 'in' ? 'Values, one per line' : 'Value'}
      isUnseen
      error={formState.errors.conditions?.[index]?.value?.message}
    >
      {op === 'in' ? (
        <TextArea
          rows={2}
          placeholder={words === null ? 'One per line' : words.join('\n')}
          {...register(name, rules)}
        />
      ) : words === null ? (
        <TextInput placeholder={comparison === 'string' ? 'Value' : 'Number'} {...register(name, rules)} />
      ) : (
        <FormSelect
          control={control}
          name={name}
          rules={rules}
          options={[['', 'Choose a value'], ...words]}
        />
      )}
    </Field>
  )
}
