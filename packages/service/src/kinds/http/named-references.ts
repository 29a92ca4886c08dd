/** Replaces `customerExternalId` in the items of an import with the `customerId` that it names. */
import { type FieldError, validationFailed } from '../../kernel/errors.ts'
import { isObject, type State } from '../../kernel/fields/field.ts'
import { nilUuid } from '../../kernel/ids.ts'
import { fail, ok } from '../../kernel/outcome.ts'
import type { Clock } from '../../kernel/timestamps.ts'
import { type NamedReference, parseImport } from '../model/imports.ts'
import type { Kind } from '../model/kind.ts'
import type { Rows } from '../model/units.ts'
import type { SentItem } from './batch-body.ts'

interface NameServices {
  readonly kind: Kind
  readonly rows: Rows
  readonly clock: Clock
  readonly references: readonly NamedReference[]
}

/** Objects that are read at once. */
const readAtOnce = 50
/**
 * The items in their order, of which only the new ones are looked at. One that names an unknown object is refused, with
 * everything else that is wrong with it.
 */
export async function withNamedReferences(
  services: NameServices,
  organizationId: string,
  items: readonly SentItem[],
  isNew: (item: unknown) => boolean,
): Promise<readonly SentItem[]> {
  const { references } = services
  const found = new Map<string, ReadonlyMap<string, string>>()
  for (const reference of references) {
    const named = items.flatMap((item) => nameIn(item, reference) ?? [])
    found.set(reference.name, await idsOf(services, organizationId, reference, [...new Set(named)]))
  }
  return items.map((item) => {
    if (!item.ok || !isObject(item.value) || !isNew(item.value)) return item
    const { value } = item
    const sent = references.filter(({ name }) => Object.hasOwn(value, name))
    return sent.length === 0 ? item : replaced(services, value, sent, found)
  })
}

function replaced(
  { kind, clock }: NameServices,
  item: State,
  sent: readonly NamedReference[],
  found: ReadonlyMap<string, ReadonlyMap<string, string>>,
): SentItem {
  const result: Record<string, unknown> = { ...item }
  const errors: FieldError[] = []
  for (const reference of sent) {
    const { field, name } = reference
    const externalId = item[name]
    const id = typeof externalId === 'string' ? found.get(name)?.get(externalId) : undefined
    const error = Object.hasOwn(item, field) ? twice(reference) : id === undefined ? unknown(reference) : null
    if (error !== null) errors.push(error)
    delete result[name]
    result[field] = id ?? nilUuid
  }
  if (errors.length === 0) return ok(result)
  const others = parseImport(kind, result, clock)
  return fail(validationFailed([...errors, ...(others.ok ? [] : (others.error.errors ?? []))]))
}

function unknown({ name, kind }: NamedReference): FieldError {
  const detail = `there is no ${kind.name} with this externalId`
  return { pointer: `/${name}`, code: 'unknown_reference', detail }
}

function twice({ name, field }: NamedReference): FieldError {
  return { pointer: `/${name}`, code: 'invalid_value', detail: `must be left out: ${field} is given` }
}

async function idsOf(
  { rows }: NameServices,
  organizationId: string,
  { kind }: NamedReference,
  externalIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const column = kind.table.unique.find(({ field }) => field === 'externalId')?.column.name
  if (column === undefined) throw new Error(`a ${kind.name} has no externalId`)
  const ids = new Map<string, string>()
  for (let from = 0; from < externalIds.length; from += readAtOnce) {
    const some = externalIds.slice(from, from + readAtOnce)
    for (const { target, id } of await rows(kind).withUnique(organizationId, column, some))
      ids.set(target, id)
  }
  return ids
}

function nameIn(item: SentItem, { name }: NamedReference): string | null {
  const externalId = item.ok && isObject(item.value) ? item.value[name] : null
  return typeof externalId === 'string' ? externalId : null
}
