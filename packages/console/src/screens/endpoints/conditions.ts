/** Conditions of an endpoint as rows of a form. */
import { numberFault } from '@deskwire/sdk/json'
import type { Webhook } from '../../api/client.ts'
import { fields } from '../../generated/lists.ts'
import { kindsWithEvents, typesIn } from './event-types.ts'

type Condition = NonNullable<Webhook['conditions']>[number]

/** What may hold of a field, in words. `empty` is `exists` with false. */
export const tests = {
  equals: 'is',
  in: 'is one of',
  changed: 'changed',
  exists: 'is set',
  empty: 'is empty',
} as const

export interface ConditionRow {
  field: string
  op: keyof typeof tests
  /** Of `in`: one a line. */
  value: string
}

export const maxConditions = 10

export const hasValue = (op: string): boolean => op === 'equals' || op === 'in'

/** What a field may be compared with: words, or a type; null for an object or list. */
export type Comparison = readonly string[] | 'string' | 'number' | 'integer' | 'boolean' | null

/** The fields that the objects of all these events have. */
export function fieldsOf(events: readonly string[]): ReadonlyMap<string, Comparison> {
  const chosen = typesIn(events)
  const [first = {}, ...others] = kindsWithEvents
    .filter(({ types }) => types.some((type) => chosen.includes(type)))
    .map(({ name }): Readonly<Record<string, Comparison>> => fields[name])
  return new Map(
    Object.entries(first).filter(([name]) => others.every((other) => Object.hasOwn(other, name))),
  )
}

export function rowOf({ field, op, value }: Condition): ConditionRow {
  if (op === 'exists' ? value === false : op === 'equals' && value === null)
    return { field, op: 'empty', value: '' }
  return {
    field,
    op: op as keyof typeof tests,
    value: hasValue(op) ? [value].flat().map(String).join('\n') : '',
  }
}

export function conditionOf({ field, op, value }: ConditionRow, comparison: Comparison) {
  if (op === 'empty') return { field, op: 'exists' as const, value: false }
  if (op === 'equals') return { field, op, value: read(value, comparison) }
  if (op !== 'in') return { field, op }
  const lines = value.split('\n').filter((line) => line !== '')
  return { field, op, value: lines.map((line) => (line === 'null' ? null : read(line, comparison))) }
}

/** A number or boolean where the field has one; else the text, and the service says what it accepts. */
function read(text: string, comparison: Comparison): string | number | boolean {
  if (comparison === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  const isNumber = comparison === 'number' || comparison === 'integer'
  return isNumber && numberFault(text.trim()) === null ? Number(text) : text
}

export function sayCondition(condition: Condition): string {
  const { field, op, value } = rowOf(condition)
  return `${field} ${tests[op]} ${value.replaceAll('\n', ', ')}`.trimEnd()
}
