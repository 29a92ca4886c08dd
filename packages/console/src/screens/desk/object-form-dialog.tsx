/**
 * The form that creates or changes an object of the desk, from declared fields. The service's errors are shown at their
 * fields; a conflict shows both values.
 */
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useRef } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { useIntent } from '../../api/intent.ts'
import { keys } from '../../api/keys.ts'
import { showAtOnce } from '../../api/list.ts'
import { ApiProblem } from '../../api/problem.ts'
import { Button } from '../../design/button.tsx'
import { Dialog, DialogActions } from '../../design/dialog.tsx'
import { Field, Form, FormError, fieldErrors, TextArea, TextInput } from '../../design/field.tsx'
import { FormSelect } from '../../design/form-select.tsx'
import { endAfter, readLocal } from '../../design/local-time.ts'
import { Select } from '../../design/select.tsx'
import { TimeInput } from '../../design/time-input.tsx'
import { say } from '../../design/toasts.tsx'
import { useDraftForm } from '../../session/draft-form.ts'
import { CustomerField } from './customer-field.tsx'
import { attributesProblem, type FormField, patchOf, toText, type Values } from './form-values.ts'
import { Meanwhile } from './meanwhile.tsx'
import css from './object-form.module.css'
import { type Editable, type ObjectOf, teammateOptions, useTeammates } from './objects.ts'
import { useChange } from './use-change.tsx'
import { AttributesField, TagsField, yesOrNo } from './value-editors.tsx'

export interface ObjectFormProps<K extends Editable> {
  /** `Create ticket`, `Edit ticket`. */
  readonly title: string
  readonly about?: string
  /** The button: `Create`, `Save`. */
  readonly verb: string
  readonly fields: readonly FormField[]
  readonly kind: K
  readonly close: () => void
  /** The toast: `Ticket created`. */
  readonly done: string
  /** In the toast, for a form that does not open what it made. */
  readonly link?: (row: ObjectOf<K>) => ReactNode
  readonly onDone?: (row: ObjectOf<K>) => void
  /** The object that is edited, as it is now; undefined: one is created. */
  readonly edited?: ObjectOf<K>
  /** The initial values of a new one. */
  readonly given?: object
  readonly create?: (body: never, intent: string) => Promise<ObjectOf<K>>
}

/** Shown while it is rendered. A draft outlives the session and a reload; closing forgets it. */
export function ObjectFormDialog<K extends Editable>(props: ObjectFormProps<K>) {
  const { title, about, verb, fields, kind, close, done, link, onDone, edited, given = {}, create } = props
  const client = useQueryClient()
  const intent = useIntent()
  const teammates = useTeammates()
  const { form, base, before, isRestored, forget } = useDraftForm<Values, object>(
    `${kind} ${edited?.id ?? title}`,
    edited ?? given,
    (base) =>
      Object.fromEntries(fields.map((field) => [field.name, toText(field, Reflect.get(base, field.name))])),
  )
  const changing = useChange(kind, leave)
  const { errors, isSubmitting } = form.formState
  const starts = useRef<Values>({})
  function moveFollowers(name: string, value: string): void {
    const was = starts.current[name] ?? form.formState.defaultValues?.[name] ?? ''
    if (readLocal(value) === null) return
    starts.current[name] = value
    for (const { name: end, follows } of fields) {
      const moved = follows === name ? endAfter(form.getValues(end) ?? '', was, value) : undefined
      if (moved !== undefined) form.setValue(end, moved)
    }
  }

  function leave(): void {
    forget()
    close()
  }

  function finish(row: ObjectOf<K>): void {
    leave()
    say(done, link?.(row))
    onDone?.(row)
  }

  async function send(values: Values): Promise<void> {
    for (const { name, kind: of } of fields) {
      const problem = of === 'attributes' ? attributesProblem(values[name] ?? '') : undefined
      if (problem !== undefined) return form.setError(name, { message: problem })
    }
    const body = patchOf(fields, create === undefined ? base : null, before, values)
    try {
      if (create !== undefined) {
        const row = await create(body as never, intent.keyFor(body))
        showAtOnce(row.id)
        await client.invalidateQueries({ queryKey: keys.all(kind) })
        finish(row)
      } else if (Object.keys(body).length === 0) leave()
      else await changing.save({ base: base as ObjectOf<K>, patch: body, done: finish })
    } catch (error) {
      const names = fields.map(({ name }) => name)
      fieldErrors(error, form.setError, names, duplicateOf(error, names))
    }
  }

  if (changing.isAsking) return changing.dialog
  return (
    <Dialog
      isOpen
      close={leave}
      title={title}
      about={isRestored ? 'Draft restored.' : about}
      isWide={fields.some(({ isHalf }) => isHalf)}
    >
      {edited !== undefined && !isSubmitting && <Meanwhile base={base as ObjectOf<K>} now={edited} />}
      <Form isBusy={isSubmitting} onSubmit={(event) => void form.handleSubmit(send)(event)}>
        <div className={css.fields}>
          {fields.map((field) => (
            <div key={field.name} data-half={field.isHalf}>
              <OneField
                field={field}
                form={form}
                onTime={moveFollowers}
                error={errors[field.name]?.message}
                teammates={teammateOptions(teammates.all.filter(({ active }) => active))}
              />
            </div>
          ))}
        </div>
        <FormError message={errors.root?.message} />
        <DialogActions>
          <Button onClick={leave}>Cancel</Button>
          <Button kind="primary" type="submit" isBusy={isSubmitting}>
            {verb}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}

/** A 409 names the field with the duplicate in its detail. */
function duplicateOf(error: unknown, names: readonly string[]): Readonly<Record<string, string>> {
  if (!(error instanceof ApiProblem) || error.code !== 'duplicate') return {}
  const name = names.find((one) => error.message.includes(` this ${one}:`))
  return name === undefined ? {} : { duplicate: name }
}

function OneField({
  field: { name, label, kind, hint, options = [], placeholder, isRequired },
  form,
  onTime,
  error,
  teammates,
}: {
  readonly field: FormField
  readonly form: UseFormReturn<Values>
  readonly onTime: (name: string, value: string) => void
  readonly error: string | undefined
  readonly teammates: readonly (readonly [string, string])[]
}) {
  const value = form.watch(name) ?? ''
  const put = (next: string) => {
    form.setValue(name, next)
    form.clearErrors(name)
  }
  if (kind === 'customer') {
    return <CustomerField label={label} value={value} onChange={put} error={error} hint={hint} />
  }
  if (kind === 'tags') {
    return <TagsField label={label} value={value} onChange={put} error={error} />
  }
  if (kind === 'attributes') {
    return <AttributesField label={label} value={value} onChange={put} error={error} />
  }
  if (kind === 'location') {
    const [type, ...place] = value === '' ? ['video'] : value.split(' ')
    return (
      <div className={css.location}>
        <Field label={label}>
          <Select
            value={type ?? ''}
            options={places}
            onChange={(next) => put(`${next} ${place.join(' ')}`)}
          />
        </Field>
        <Field label="Address, number or link" error={error}>
          <TextInput
            value={place.join(' ')}
            onChange={(event) => put(`${type} ${event.currentTarget.value}`)}
          />
        </Field>
      </div>
    )
  }
  return (
    <Field label={label} hint={hint} error={error}>
      {kind === 'choice' || kind === 'teammate' || kind === 'yes' || kind === 'zone' ? (
        <FormSelect
          control={form.control}
          name={name}
          options={{
            choice: () => options,
            yes: () => yesOrNo,
            teammate: () => [['', 'Unassigned'], ...withHeld(teammates, value)] as const,
            zone: () => [
              ...(isRequired && value !== '' ? [] : [['', isRequired ? 'Choose…' : 'None'] as const]),
              ...zones(value),
            ],
          }[kind]()}
        />
      ) : kind === 'text' ? (
        <TextArea rows={5} placeholder={placeholder} {...form.register(name)} />
      ) : kind === 'time' ? (
        <TimeInput
          aria-required={isRequired}
          {...form.register(name, { onChange: ({ target }) => onTime(name, target.value) })}
        />
      ) : (
        <TextInput
          placeholder={placeholder}
          autoComplete="off"
          aria-required={isRequired}
          {...form.register(name)}
        />
      )}
    </Field>
  )
}

const places = [
  ['video', 'Video'],
  ['phone', 'Phone'],
  ['in_person', 'In person'],
  ['other', 'Other'],
] as const

/** Time zones that the browser knows, and the one that is stored. */
function zones(held: string): readonly string[] {
  const known = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  return held === '' || known.includes(held) ? known : [held, ...known]
}

/** Keeps the current value as an option, even if it could not be chosen anew. */
function withHeld(
  options: readonly (readonly [string, string])[],
  held: string,
): readonly (readonly [string, string])[] {
  return held === '' || options.some(([of]) => of === held)
    ? options
    : [...options, [held, 'Current assignee (inactive)']]
}
