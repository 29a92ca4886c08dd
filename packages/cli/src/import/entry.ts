/** A record of a file as a row to send, or everything that is wrong with it. */
import {
  type Kind,
  kinds,
  namedReferences,
  parseImport,
  parseNew,
  systemClock,
} from '@deskwire/service/kinds'
import { isLookedFor, itemOf, type Layout } from './columns.ts'
import type { CsvRecord } from './csv.ts'
import { type FieldFault, faultsText, stepsOf } from './fault.ts'
import { objectOf } from './ndjson.ts'

/** A record with the row that it makes, or why it makes none. */
export type Entry = CsvRecord &
  (
    | {
        readonly item: Record<string, unknown>
        /** Whether the service looks for an object with its externalId, and so may be sent it again. */
        readonly isMatched: boolean
      }
    | { readonly fault: string }
  )

export function entryOf(record: CsvRecord, layout: Layout): Entry {
  if (layout.isLines) return lineEntry(record, layout)
  const { length } = record.cells
  const wanted = layout.header.length
  if (length !== wanted) return { ...record, fault: `it has ${length} values where the header has ${wanted}` }
  const { item, faults } = itemOf(layout, record.cells)
  const isMatched = layout.idColumn !== null
  if (isMatched && item.externalId === undefined)
    faults.push({ path: ['externalId'], detail: 'rows are found by it: a line without one is not imported' })
  if (faults.length === 0) return rowEntry(record, layout, item, isMatched)
  // The service will not see this row, and so cannot add what else is wrong with it.
  const others = brokenRules(layout, item, isMatched).filter(
    ({ path }) => !faults.some((fault) => isWithin(fault, path)),
  )
  return { ...record, fault: faultsText([...faults, ...others]) }
}

function lineEntry(record: CsvRecord, layout: Layout): Entry {
  const read = objectOf(layout, record.cells[0] ?? '')
  if ('fault' in read) return { ...record, ...read }
  return rowEntry(record, layout, read.item, idOf(layout, read.item) !== null)
}

/** By an externalId that is none, the service looks for no row: it is refused here, with all else that is wrong. */
function rowEntry(
  record: CsvRecord,
  layout: Layout,
  item: Record<string, unknown>,
  isMatched: boolean,
): Entry {
  if (!isMatched || layout.kind.fields.externalId?.schema.safeParse(item.externalId).success)
    return { ...record, item, isMatched }
  return { ...record, fault: faultsText(brokenRules(layout, item, true)) }
}

/** The externalId that the service looks for; null where there is none. */
export function idOf(
  { kind, isHistory }: Layout,
  { externalId = null }: Readonly<Record<string, unknown>>,
): unknown {
  return isLookedFor(kind, isHistory) ? externalId : null
}

const nilUuid = '00000000-0000-0000-0000-000000000000'

/** The service finds the ids: `customerId` instead of `customerExternalId`. */
function withIds(kind: Kind, item: Record<string, unknown>): Record<string, unknown> {
  const named = namedReferences(kind, kinds).filter(({ name }) => typeof item[name] === 'string')
  const left = Object.entries(item).filter(([name]) => !named.some((reference) => reference.name === name))
  return Object.fromEntries([...left, ...named.map(({ field }) => [field, nilUuid])])
}

/** What this version of the service would refuse of a row by itself. */
export function brokenRules(
  { kind, isHistory }: Layout,
  item: Record<string, unknown>,
  isMatched: boolean,
): FieldFault[] {
  const parsed = isHistory
    ? parseImport(kind, withIds(kind, item), systemClock)
    : parseNew(kind, item, systemClock)
  if (parsed.ok) return []
  const { detail, errors = [{ pointer: '', code: 'invalid_value', detail }] } = parsed.error
  // A row that is there already has what it requires.
  const left = errors.filter(({ code }) => !(isMatched && !isHistory && code === 'required'))
  return left.map((error) => ({ path: stepsOf(error.pointer), detail: error.detail }))
}

/** Whether the fault is of this field or of a member of it: the field may be missing for that reason alone. */
function isWithin({ path }: FieldFault, field: readonly string[]): boolean {
  return field.length > 0 && field.every((step, n) => path[n] === step)
}
