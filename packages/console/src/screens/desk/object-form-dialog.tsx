/**
 * The form that creates or changes an object of the desk, from declared fields. The service's errors are shown at their
 * fields; a conflict shows both values.
 */
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { change, type Patch, type Versioned } from '../../api/change.ts'
import { useIntent } from '../../api/intent.ts'
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
import { type Conflict, ConflictDialog } from './conflict.tsx'
import { CustomerField } from './customer-field.tsx'
import { attributesProblem, type FormField, patchOf, toText, type Values } from './form-values.ts'
import css from './object-form.module.css'
import { teammateOptions, useTeammates } from './objects.ts'
import { AttributesField, TagsField, yesOrNo } from './value-editors.tsx'

interface Common<T> {
  /** `Create ticket`, `Edit ticket`. */
  readonly title: string
  readonly about?: string
  /** The button: `Create`, `Save`. */
  readonly verb: string
  readonly fields: readonly FormField[]
  /** The query key of everything that shows such an object. */
  readonly kind: string
  readonly close: () => void
  /** The toast: `Ticket created`. */
  readonly done: string
  /** In the toast, for a form that does not open what it made. */
  readonly link?: (row: T) => ReactNode
  readonly onDone?: (row: T) => void
}

interface Creation<T> extends Common<T> {
  /** The initial values of the fields. */
  readonly given?: object
  readonly create: (body: never, intent: string) => Promise<T>
}

interface Edit<T extends Versioned> extends Common<T> {
  readonly base: T
  readonly read: () => Promise<T>
  readonly write: (patch: Patch, ifMatch: string) => Promise<T>
}

export type ObjectFormProps<T extends Versioned> = Creation<T> | Edit<T>

/** Shown while it is rendered. A draft outlives the session and a reload; closing forgets it. */
export function ObjectFormDialog<T extends Versioned>(props: ObjectFormProps<T>) {
  const { title, about, verb, fields, kind, close, done, link, onDone } = props
  const client = useQueryClient()
  const intent = useIntent()
  const teammates = useTeammates()
  const [conflict, setConflict] = useState<Conflict<T> | null>(null)
  const edited = 'base' in props ? props.base : null
  // The object as it was when editing began.
  const [base] = useState(edited)
  const [before] = useState(() => {
    const from = base ?? ('given' in props ? props.given : undefined) ?? {}
    return Object.fromEntries(
      fields.map((field) => [field.name, toText(field, Reflect.get(from, field.name))]),
    )
  })
  const draftName = `${kind} ${base?.id ?? title}`
  const { form, isRestored, forget } = useDraftForm<Values>(draftName, before)
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

  async function finish(row: T): Promise<void> {
    showAtOnce(row.id)
    await client.invalidateQueries({ queryKey: [kind] })
    leave()
    say(done, link?.(row))
    onDone?.(row)
  }

  async function save(from: T, patch: Patch): Promise<void> {
    if (!('write' in props)) return
    if (Object.keys(patch).length === 0) return leave()
    const made = await change({ base: from, patch, read: props.read, write: props.write })
    if (made.outcome === 'changed') await finish(made.row)
    else setConflict({ ...made, patch })
  }

  async function send(values: Values): Promise<void> {
    for (const { name, kind: of } of fields) {
      const problem = of === 'attributes' ? attributesProblem(values[name] ?? '') : undefined
      if (problem !== undefined) return form.setError(name, { message: problem })
    }
    const body = patchOf(fields, base, before, values)
    try {
      if ('create' in props) await finish(await props.create(body as never, intent.keyFor(body)))
      else await save(base as T, body)
    } catch (error) {
      const names = fields.map(({ name }) => name)
      fieldErrors(error, form.setError, names, duplicateOf(error, names))
    }
  }

  const label = useMemo(() => {
    const labels = new Map(fields.map((field) => [field.name, field.label]))
    return (name: string) => labels.get(name) ?? name
  }, [fields])

  if (conflict !== null) {
    return (
      <ConflictDialog
        key={conflict.theirs.updatedAt}
        conflict={conflict}
        label={label}
        words={(name, value) =>
          fields.find((field) => field.name === name)?.kind === 'teammate' && typeof value === 'string'
            ? teammates.nameOf(value)
            : undefined
        }
        save={(patch) => save(conflict.theirs, patch)}
        close={() => void client.invalidateQueries({ queryKey: [kind] }).then(leave)}
      />
    )
  }
  return (
    <Dialog
      isOpen
      close={leave}
      title={title}
      about={isRestored ? 'Draft restored.' : about}
      isWide={fields.some(({ isHalf }) => isHalf)}
    >
      <Form onSubmit={(event) => void form.handleSubmit(send)(event)}>
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
            zone: () => [...(isRequired ? [] : [['', 'None'] as const]), ...zones(value)],
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
