/** Editors of values with parts: tags as chips, custom attributes as rows. */
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Field, TextArea, TextInput } from '../../design/field.tsx'
import { Select } from '../../design/select.tsx'
import { Tag } from '../../design/status.tsx'
import { type AttributeRow, rowsOf, tagsOf } from './form-values.ts'
import css from './value-editors.module.css'

interface EditorProps {
  readonly label: string
  /** As text: see `toText`. */
  readonly value: string
  readonly onChange: (value: string) => void
  readonly error: string | undefined
}

export function TagsField({ label, value, onChange, error }: EditorProps) {
  const [next, setNext] = useState('')
  const tags = tagsOf(value)
  const put = (all: readonly string[]) => onChange(JSON.stringify(all))
  const add = () => {
    const tag = next.trim()
    if (tag !== '' && !tags.includes(tag)) put([...tags, tag])
    setNext('')
  }
  return (
    <div className={css.tags}>
      <Field label={label} hint="Press Enter after each." error={error}>
        <TextInput
          value={next}
          autoComplete="off"
          onChange={(event) => setNext(event.currentTarget.value)}
          onBlur={add}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || next.trim() === '' || event.nativeEvent.isComposing) return
            event.preventDefault()
            add()
          }}
        />
      </Field>
      {tags.length > 0 && (
        <ul className={css.chips}>
          {tags.map((tag) => (
            <li key={tag}>
              <Tag>{tag}</Tag>
              <Button
                kind="quiet"
                size="s"
                aria-label={`Remove ${tag}`}
                onClick={() => put(tags.filter((one) => one !== tag))}
              >
                ×
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const attributeTypes = [
  ['text', 'Text'],
  ['number', 'Number'],
  ['boolean', 'Yes or no'],
] as const

export const yesOrNo = [
  ['true', 'Yes'],
  ['false', 'No'],
] as const

export function AttributesField({ label, value, onChange, error }: EditorProps) {
  const rows = rowsOf(value)
  const put = (all: readonly AttributeRow[]) => onChange(JSON.stringify(all))
  const edit = (at: number, part: Partial<AttributeRow>) =>
    put(rows.map((row, n) => (n === at ? { ...row, ...part } : row)))
  return (
    <fieldset className={css.attributes}>
      <legend>{label}</legend>
      {rows.map((row, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other identity while its name is edited
        <div key={n} className={css.row}>
          <TextInput
            aria-label={`Name of attribute ${n + 1}`}
            placeholder="Name"
            value={row.name}
            onChange={(event) => edit(n, { name: event.currentTarget.value })}
          />
          <Select
            aria-label={`Type of attribute ${n + 1}`}
            value={row.type}
            options={attributeTypes}
            onChange={(type) => edit(n, { type: type as AttributeRow['type'] })}
          />
          {row.type === 'boolean' ? (
            <Select
              aria-label={`Value of attribute ${n + 1}`}
              value={row.text === 'true' ? 'true' : 'false'}
              options={yesOrNo}
              onChange={(text) => edit(n, { text })}
            />
          ) : (
            <TextArea
              aria-label={`Value of attribute ${n + 1}`}
              placeholder="Value"
              rows={row.text.includes('\n') ? 3 : 1}
              value={row.text}
              onChange={(event) => edit(n, { text: event.currentTarget.value })}
            />
          )}
          <Button
            kind="quiet"
            aria-label={`Remove attribute ${n + 1}`}
            onClick={() => put(rows.filter((_, at) => at !== n))}
          >
            ×
          </Button>
        </div>
      ))}
      {error !== undefined && (
        <p className={css.error} role="alert">
          {error}
        </p>
      )}
      <div>
        <Button size="s" onClick={() => put([...rows, { name: '', type: 'text', text: '' }])}>
          Add attribute
        </Button>
      </div>
    </fieldset>
  )
}
