/** Objects that come with their past (specification 8.2): what an import gives in addition to a creation. */

import { type FieldError, listedErrors, type Problem, validationFailed } from '../../kernel/errors.ts'
import { type Field, isObject } from '../../kernel/fields/field.ts'
import { timestamp } from '../../kernel/fields/fields.ts'
import { parseCreation, type Shape } from '../../kernel/fields/validate.ts'
import { fail, ok, type Result } from '../../kernel/outcome.ts'
import { madeOnce } from '../../kernel/shared-work.ts'
import { type Clock, formatTimestamp } from '../../kernel/timestamps.ts'
import type { Kind, State } from './kind.ts'
import type { NewObject } from './representation.ts'

const createdAt = timestamp({
  access: 'create',
  imported: true,
  description: 'When it was made. Now, unless given.',
})

/** The fields that an import gives. */
export const importShape: (kind: Kind) => Shape = madeOnce((kind) => {
  const own = Object.entries<Field>(kind.fields).map(([name, field]): [string, Field] => [
    name,
    field.imported ? { ...field, access: 'create', ...field.asImported } : mayHaveLost(field),
  ])
  return { name: kind.name, fields: Object.fromEntries([['createdAt', createdAt], ...own]) }
})

/** The object that a reference was detached from is gone: an import says so with null. */
function mayHaveLost(field: Field): Field {
  if (field.reference?.onRemove !== 'detach') return field
  return { ...field, nullable: true }
}

/** A new object with its past, from an item and the kind's rules. `listed`: errors of a refusal at most. */
export function parseImport(
  kind: Kind,
  item: unknown,
  clock: Clock,
  listed = listedErrors,
): Result<NewObject, Problem> {
  const shape = importShape(kind)
  const now = formatTimestamp(clock.now())
  const parsed = parseCreation(shape, item, listed)
  const faults = parsed.ok ? [] : (parsed.error.errors ?? [])
  if (!parsed.ok && (faults.length >= listed || !isObject(item))) return parsed
  // Of a refused item the times that can be read are checked too, and the rules where only unknown fields are wrong.
  const known = parsed.ok ? parsed : parseCreation(shape, writable(shape, item as State), listed)
  const { createdAt: given, ...draft } = known.ok ? known.value : times(shape, item as State)
  const createdAt = typeof given === 'string' ? given : now
  const state = known.ok ? (kind.rules.create?.(draft, { now: createdAt }) ?? ok(draft)) : ok(draft)
  if (!state.ok && state.error.errors === undefined) return state
  const errors = [
    ...faults,
    ...wrongTimes(shape, { ...draft, createdAt: given }, createdAt, now),
    ...(state.ok ? [] : (state.error.errors ?? [])),
  ]
  if (!state.ok || errors.length > 0)
    return fail(validationFailed(errors.slice(0, listed), Math.max(0, errors.length - listed)))
  return ok({ state: state.value, createdAt })
}

function writable({ fields }: Shape, item: State): State {
  const isKnown = (name: string) => Object.hasOwn(fields, name) && fields[name]?.access !== 'read'
  return Object.fromEntries(Object.entries(item).filter(([name]) => isKnown(name)))
}

/** The times of an item that can be read. Without its creation they may be of any age. */
function times(shape: Shape, item: State): State {
  const read = timeFields(shape).flatMap((name) => {
    const parsed = Object.hasOwn(item, name) ? shape.fields[name]?.schema.safeParse(item[name]) : undefined
    return parsed?.success ? [[name, parsed.data]] : []
  })
  const found = Object.fromEntries(read)
  return Object.hasOwn(item, 'createdAt') && item.createdAt !== null ? { createdAt: '', ...found } : found
}

function timeFields({ fields }: Shape): readonly string[] {
  return Object.keys(fields).filter((name) => fields[name]?.imported === 'time')
}

/**
 * The service reads the clock for a time that a rule sets, and then for createdAt: what it has made moves to another
 * organization.
 */
const earlierThanCreated = 60_000

function wrongTimes(shape: Shape, draft: State, createdAt: string, now: string): FieldError[] {
  return timeFields(shape).flatMap((name): FieldError[] => {
    const time = draft[name]
    if (typeof time !== 'string') return []
    const isEarly = Date.parse(time) + earlierThanCreated < Date.parse(createdAt)
    if (!isEarly && time <= now) return []
    const detail = time > now ? `must not be in the future: it is ${now}` : `must not be before ${createdAt}`
    return [{ pointer: `/${name}`, code: 'invalid_value', detail }]
  })
}

/** A field that refers to an object with an `externalId`, and the name under which an import gives that. */
export interface NamedReference {
  readonly field: string
  /** `customerExternalId` for `customerId`. */
  readonly name: string
  readonly kind: Kind
}

/** The references of a kind that an import gives by the `externalId` of their objects. */
export function namedReferences(kind: Kind, kinds: readonly Kind[]): readonly NamedReference[] {
  return kind.table.references.flatMap(({ field, kind: target, within }) => {
    const referred = kinds.find(({ name }) => name === target)
    const isSet = within === undefined && kind.fields[field]?.access !== 'read'
    if (referred === undefined || !isSet || referred.fields.externalId === undefined) return []
    return [{ field, name: field.replace(/Id$/, 'ExternalId'), kind: referred }]
  })
}
