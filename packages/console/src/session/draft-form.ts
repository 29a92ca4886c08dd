/**
 * A form on the version of an object that it was opened on. Both version and input outlive a reload and an ended
 * session.
 */
import { readJson } from '@deskwire/sdk/json'
import { useEffect, useState } from 'react'
import { type DefaultValues, type FieldValues, type UseFormReturn, useForm } from 'react-hook-form'
import { draftOf, keepDraft } from './drafts.ts'

interface Draft<T, B> {
  readonly base: B
  /** The fields that differ from it. */
  readonly typed: Partial<T>
}

interface DraftForm<T extends FieldValues, B> {
  readonly form: UseFormReturn<T>
  /** The version that the form was opened on. */
  readonly base: B
  /** The fields of that version. */
  readonly before: T
  readonly isRestored: boolean
  readonly forget: () => void
}

/** `current`: what the form is about, or begins with. `secret`: fields that are not kept. */
export function useDraftForm<T extends FieldValues, B>(
  name: string,
  current: B,
  valuesOf: (base: B) => T,
  secret: readonly string[] = [],
): DraftForm<T, B> {
  const [{ draft, base, before }] = useState(() => {
    const draft = readJson<Draft<T, B> | null>(draftOf(name) ?? 'null')
    const base = draft === null ? current : draft.base
    return { draft, base, before: valuesOf(base) }
  })
  const form = useForm<T>({ defaultValues: { ...before, ...draft?.typed } as DefaultValues<T> })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the names of secret fields never change
  useEffect(() => {
    const watching = form.watch((values) => {
      const typed = Object.entries(values).filter(
        ([field, value]) =>
          !secret.includes(field) && JSON.stringify(value) !== JSON.stringify(before[field]),
      )
      keepDraft(name, typed.length === 0 ? null : JSON.stringify({ base, typed: Object.fromEntries(typed) }))
    })
    return () => watching.unsubscribe()
  }, [form, base, before, name])
  return { form, base, before, isRestored: draft !== null, forget: () => keepDraft(name, null) }
}
