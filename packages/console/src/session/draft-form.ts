/** A form whose input outlives a reload and an ended session. */
import { readJson } from '@deskwire/sdk/json'
import { useEffect, useState } from 'react'
import { type DefaultValues, type FieldValues, type UseFormReturn, useForm } from 'react-hook-form'
import { draftOf, keepDraft } from './drafts.ts'

/** `before`: the initial values, the same object each time. `secret`: fields that are not kept. */
export function useDraftForm<T extends FieldValues>(
  name: string,
  before: T,
  secret: readonly string[] = [],
): { readonly form: UseFormReturn<T>; readonly isRestored: boolean; readonly forget: () => void } {
  const [draft] = useState(() => draftOf(name))
  const form = useForm<T>({
    defaultValues: (draft === null
      ? before
      : { ...before, ...readJson<Partial<T>>(draft) }) as DefaultValues<T>,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the names of secret fields never change
  useEffect(() => {
    const watching = form.watch((values) => {
      const typed = Object.entries(values).filter(
        ([field, value]) =>
          !secret.includes(field) && JSON.stringify(value) !== JSON.stringify(before[field]),
      )
      keepDraft(name, typed.length === 0 ? null : JSON.stringify(Object.fromEntries(typed)))
    })
    return () => watching.unsubscribe()
  }, [form, before, name])
  return { form, isRestored: draft !== null, forget: () => keepDraft(name, null) }
}
