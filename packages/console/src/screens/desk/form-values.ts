/** Converts between the text in form fields and values of the API. */
import { numberFault, readJson } from '@deskwire/sdk/json'
import { fromLocal, toLocal } from '../../design/local-time.ts'

export interface FormField {
  readonly name: string
  readonly label: string
  readonly kind:
    | 'line'
    | 'text'
    | 'choice'
    | 'tags'
    | 'time'
    | 'customer'
    | 'teammate'
    | 'zone'
    | 'attributes'
    | 'location'
    | 'yes'
  readonly hint?: string
  /** Of a choice. An empty value is null. */
  readonly options?: readonly (readonly [value: string, words: string])[]
  readonly placeholder?: string
  /** An empty value is sent as it is, and the service explains what it accepts. */
  readonly isRequired?: boolean
  /** Next to the previous field on wide screens. */
  readonly isHalf?: boolean
  /** Of a time: the field with which it moves. */
  readonly follows?: string
}

export type Values = Record<string, string>

/** A value of the API as a field holds it. */
export function toText(field: FormField, value: unknown): string {
  if (value === null || value === undefined) return ''
  switch (field.kind) {
    case 'tags':
      return JSON.stringify(value)
    case 'time':
      return toLocal(value as string)
    case 'attributes':
      return JSON.stringify(Object.entries(value).map(([name, one]) => rowOf(name, one)))
    case 'location': {
      const { type, value: place } = value as { type: string; value: string }
      return `${type} ${place}`
    }
    default:
      return String(value)
  }
}

/** A field's text as the API takes it; `was`: the value that the text was made of. */
function fromText(field: FormField, text: string, was?: unknown): unknown {
  switch (field.kind) {
    case 'tags':
      return tagsOf(text)
    case 'attributes':
      return Object.fromEntries(
        rowsOf(text)
          .filter((row) => !isBlank(row))
          .map((row) => [row.name, scalarOf(row)]),
      )
    case 'yes':
      return text === 'true'
    case 'location': {
      const [type = '', ...place] = text.split(' ')
      const value = place.join(' ')
      return value.trim() === '' ? null : { type, value }
    }
    case 'time':
      // The service explains what it accepts.
      return fromLocal(text, was) ?? (field.isRequired === true || text.trim() !== '' ? text : null)
    default: {
      // Spaces around a line are never meant; in a text of several lines they may be.
      const meant = field.kind === 'text' ? text : text.trim()
      return meant.trim() === '' && field.isRequired !== true ? null : meant
    }
  }
}

/** The patch of a form: only the fields that the user has touched. */
export function patchOf(
  fields: readonly FormField[],
  base: object | null,
  before: Values,
  after: Values,
): Record<string, unknown> {
  const patch: Record<string, unknown> = {}
  for (const field of fields) {
    const text = after[field.name] ?? ''
    if (base !== null && text === (before[field.name] ?? '')) continue
    const value = fromText(field, text, base === null ? undefined : Reflect.get(base, field.name))
    if (base === null && value === null) continue
    if (field.kind !== 'attributes') patch[field.name] = value
    else patch[field.name] = attributesPatch(base, field.name, value as Attributes)
  }
  return patch
}

type Attributes = Record<string, unknown>

/** Named values are merged: removed ones are sent as null. */
function attributesPatch(base: object | null, name: string, after: Attributes): Attributes {
  const was = (base === null ? {} : (Reflect.get(base, name) ?? {})) as Attributes
  const gone = Object.keys(was).filter((key) => !Object.hasOwn(after, key))
  const changed = Object.entries(after).filter(
    ([key, value]) => !Object.hasOwn(was, key) || was[key] !== value,
  )
  return Object.fromEntries([...changed, ...gone.map((key) => [key, null])])
}

/** The tags that a field holds. */
export function tagsOf(text: string): readonly string[] {
  return text === '' ? [] : readJson(text)
}

/** A custom attribute in the editor. */
export interface AttributeRow {
  readonly name: string
  readonly type: 'text' | 'number' | 'boolean'
  readonly text: string
}

/** The custom attributes that a field holds. */
export function rowsOf(text: string): readonly AttributeRow[] {
  return text === '' ? [] : readJson(text)
}

/** What is wrong with the custom attributes of a field, or undefined. */
export function attributesProblem(text: string): string | undefined {
  const rows = rowsOf(text).filter((row) => !isBlank(row))
  const names = rows.map(({ name }) => name)
  if (names.includes('')) return 'Each attribute needs a name.'
  const twice = names.find((name, n) => names.indexOf(name) !== n)
  if (twice !== undefined) return `Two attributes have the name "${twice}".`
  const wrong = rows.find(({ type, text }) => type === 'number' && numberFault(text.trim()) !== null)
  return wrong && `"${wrong.name}" ${numberFault(wrong.text.trim())}. Enter another one, or choose Text.`
}

function isBlank({ name, type, text }: AttributeRow): boolean {
  return name === '' && text === '' && type !== 'boolean'
}

function rowOf(name: string, value: unknown): AttributeRow {
  const type = typeof value === 'number' || typeof value === 'boolean' ? typeof value : 'text'
  return { name, type: type as AttributeRow['type'], text: String(value) }
}

function scalarOf({ type, text }: AttributeRow): string | number | boolean {
  if (type === 'boolean') return text === 'true'
  return type === 'text' || numberFault(text.trim()) !== null ? text : Number(text)
}
