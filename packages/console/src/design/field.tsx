/** Fields of forms and filters. Each has a label; screen readers read its error with it. */
import { Field as Primitive } from '@base-ui/react/field'
import { type ComponentProps, type ReactNode, useEffect, useRef } from 'react'
import type { FieldValues, Path, UseFormSetError } from 'react-hook-form'
import { ApiProblem } from '../api/problem.ts'
import css from './field.module.css'

interface FieldProps {
  readonly label: string
  /** The label is for screen readers alone. */
  readonly isUnseen?: boolean
  readonly hint?: ReactNode
  /** The end of a sentence that begins with the label, or a sentence. */
  readonly error?: string | undefined
  readonly children: ReactNode
}

/** A label, one of the controls below, a hint and an error. */
export function Field({ label, isUnseen = false, hint, error, children }: FieldProps) {
  return (
    <Primitive.Root className={css.field} invalid={error !== undefined}>
      <Primitive.Label className={isUnseen ? 'unseen' : css.label}>{label}</Primitive.Label>
      {children}
      {hint !== undefined && <Primitive.Description className={css.hint}>{hint}</Primitive.Description>}
      {error !== undefined && (
        <Primitive.Error match className={css.error}>
          {error}
        </Primitive.Error>
      )}
    </Primitive.Root>
  )
}

interface Mono {
  readonly mono?: boolean
}

export function TextInput({ mono, ...rest }: ComponentProps<'input'> & Mono) {
  return (
    <Primitive.Control
      render={<input dir="auto" {...rest} className={css.control} data-mono={mono || undefined} />}
    />
  )
}

export function TextArea({ mono, ...rest }: ComponentProps<'textarea'> & Mono) {
  return (
    <Primitive.Control
      render={
        <textarea dir="auto" rows={3} {...rest} className={css.control} data-mono={mono || undefined} />
      }
    />
  )
}

export function Checkbox({ label, ...rest }: ComponentProps<'input'> & { readonly label: ReactNode }) {
  return (
    <label className={css.check}>
      <input type="checkbox" {...rest} />
      <span>{label}</span>
    </label>
  )
}

/**
 * Shows the service's errors at their fields: `/url` at `url`, `/list/0` at `list.0` or else at `list`. Other errors
 * are shown for the form as a whole. For `catch` around the call of a form.
 */
export function fieldErrors<T extends FieldValues>(
  error: unknown,
  setError: UseFormSetError<T>,
  names: readonly Path<T>[],
  /** Codes of problems that are about one field. */
  byCode: Readonly<Partial<Record<string, Path<T>>>> = {},
): void {
  const whole = error instanceof Error ? error : new Error(String(error))
  if (!(error instanceof ApiProblem)) {
    setError('root', { message: whole.message })
    return
  }
  const about = byCode[error.code]
  if (about !== undefined) {
    setError(about, { message: error.message }, { shouldFocus: true })
    return
  }
  const left = error.errors.filter(({ pointer, detail }) => {
    const name = names.find((known) => `${pointer}/`.startsWith(`/${known.replaceAll('.', '/')}/`))
    if (name !== undefined) setError(name, { message: detail }, { shouldFocus: true })
    return name === undefined
  })
  if (error.errors.length === 0) setError('root', { message: error.message })
  else if (left.length > 0)
    setError('root', { message: left.map(({ pointer, detail }) => `${pointer} ${detail}`).join(' ') })
}

/** An error of the form as a whole. */
export function FormError({ message }: { readonly message: string | undefined }) {
  return (
    <p className={css.error} role="alert">
      {message}
    </p>
  )
}

/** While it is busy it takes no input, which would be neither sent nor kept. Then what was refused has the focus. */
export function Form({ isBusy = false, ...rest }: ComponentProps<'form'> & { readonly isBusy?: boolean }) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (!isBusy) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [isBusy])
  return <form noValidate {...rest} ref={form} inert={isBusy} className={css.form} />
}
