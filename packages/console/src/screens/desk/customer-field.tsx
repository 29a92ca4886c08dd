/** Chooses a customer by typing part of the name. */

import { Combobox } from '@base-ui/react/combobox'
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { answerOf, api } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Field } from '../../design/field.tsx'
import css from './customer-field.module.css'
import { nameOf, useCustomers } from './objects.ts'

interface Choice {
  readonly value: string
  readonly label: string
  readonly detail: string
}

export function CustomerField({
  label,
  value,
  onChange,
  error,
  hint,
}: {
  readonly label: string
  readonly value: string
  readonly onChange: (id: string) => void
  readonly error?: string
  readonly hint?: string
}) {
  const [words, setWords] = useState('')
  const q = useDeferredValue(words.trim())
  const chosen = useCustomers([value === '' ? null : value]).get(value)
  const found = useQuery({
    queryKey: keys.list('customers', 'field', q),
    queryFn: async ({ signal }) => {
      const query = q === '' ? { limit: 8 } : { q, limit: 8 }
      const { data } = await answerOf(api().customers.list(query, { signal }).page())
      return data.map((one): Choice => {
        const name = nameOf(one)
        return { value: one.id, label: name, detail: one.email === name ? '' : (one.email ?? '') }
      })
    },
    placeholderData: (before) => before,
  })
  const items = found.data ?? []
  const selected: Choice | null =
    items.find((one) => one.value === value) ??
    (value === '' ? null : { value, label: chosen === undefined ? value : nameOf(chosen), detail: '' })

  return (
    <Field label={label} error={error} hint={hint}>
      <Combobox.Root
        items={items}
        filter={null}
        value={selected}
        isItemEqualToValue={(one: Choice, other: Choice) => one.value === other.value}
        onValueChange={(next: Choice | null) => onChange(next?.value ?? '')}
        onInputValueChange={(typed, { reason }) => {
          if (reason === 'input-change') setWords(typed)
        }}
      >
        <Combobox.Input className={css.input} dir="auto" placeholder="Name, email or company" />
        <Combobox.Portal>
          <Combobox.Positioner sideOffset={4} className={css.positioner}>
            <Combobox.Popup className={css.popup}>
              <Combobox.Empty className={css.empty}>
                {found.isFetching ? 'Searching…' : 'No customer found.'}
              </Combobox.Empty>
              <Combobox.List>
                {(one: Choice) => (
                  <Combobox.Item key={one.value} value={one} className={css.item}>
                    <span dir="auto">{one.label}</span>
                    <small dir="auto">{one.detail}</small>
                  </Combobox.Item>
                )}
              </Combobox.List>
            </Combobox.Popup>
          </Combobox.Positioner>
        </Combobox.Portal>
      </Combobox.Root>
    </Field>
  )
}
