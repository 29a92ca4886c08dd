/** What stands in the fields of a form, as text, and what that is to the API. */

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
    | 'attributes'
    | 'location'
    | 'yes'
  readonly hint?: string
  /** Of a choice: what can be chosen. An empty value is nothing. */
  readonly options?: readonly (readonly [value: string, words: string])[]
  readonly placeholder?: string
  /** Cannot be nothing: what is empty is sent as it is, and the service says what it wants. */
  readonly isRequired?: boolean
  /** Beside the one before it, where there is room. */
  readonly isHalf?: boolean
}

export type Values = Record<string, string>

/** A value of the API as a field holds it. */
export function toText(field: FormField, value: unknown): string {
  if (value === null || value === undefined) return ''
  switch (field.kind) {
    case 'tags':
      return (value as readonly string[]).join(', ')
    case 'time':
      return toLocal(value as string)
    case 'attributes':
      return Object.entries(value)
        .map(([name, one]) => `${name}: ${sayScalar(one)}`)
        .join('\n')
    case 'location': {
      const { type, value: place } = value as { type: string; value: string }
      return `${type} ${place}`
    }
    default:
      return String(value)
  }
}

/** A field's text as the API takes it. */
export function fromText(field: FormField, text: string): unknown {
  const trimmed = text.trim()
  switch (field.kind) {
    case 'tags':
      return [...new Set(trimmed.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '')
    case 'attributes':
      return readAttributes(trimmed)
    case 'yes':
      return text === 'true'
    case 'location': {
      const [type = '', ...place] = trimmed.split(' ')
      const value = place.join(' ').trim()
      return value === '' ? null : { type, value }
    }
    case 'time': {
      const at = new Date(trimmed)
      if (trimmed === '' || Number.isNaN(at.getTime())) return field.isRequired === true ? trimmed : null
      return at.toISOString()
    }
    default:
      return trimmed === '' && field.isRequired !== true ? null : trimmed
  }
}

/** What a form changes of an object: the fields that somebody has touched, and nothing else. */
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
    const value = fromText(field, text)
    if (base === null && value === null) continue
    if (field.kind !== 'attributes') patch[field.name] = value
    else patch[field.name] = attributesPatch(base, field.name, value as Attributes)
  }
  return patch
}

type Attributes = Record<string, unknown>

/** Named values are merged: those that are gone are sent as null. */
function attributesPatch(base: object | null, name: string, after: Attributes): Attributes {
  const was = (base === null ? {} : (Reflect.get(base, name) ?? {})) as Attributes
  const gone = Object.keys(was).filter((key) => !(key in after))
  const changed = Object.entries(after).filter(([key, value]) => was[key] !== value)
  return Object.fromEntries([...changed, ...gone.map((key) => [key, null])])
}

/** A line each, `name: value`; numbers, true and false are such, and a text that looks like one stands in quotes. */
function readAttributes(text: string): Attributes {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':')
      const name = (at === -1 ? line : line.slice(0, at)).trim()
      return [name, readScalar(at === -1 ? '' : line.slice(at + 1).trim())]
    }),
  )
}

function readScalar(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' ? text : (value ?? text)
  } catch {
    return text
  }
}

function sayScalar(value: unknown): string {
  return typeof value === 'string' && readScalar(value) === value ? value : JSON.stringify(value)
}

/** A moment for `datetime-local`: in the reader's zone, to the minute. */
export function toLocal(at: string): string {
  const moment = new Date(at)
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

/** What the reader's clock is called: Europe/London. */
export const readersZone = Intl.DateTimeFormat().resolvedOptions().timeZone
