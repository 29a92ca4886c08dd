/** A record of a file as a row to send, or everything that is wrong with it. */
import {
  type Kind,
  kinds,
  namedReferences,
  parseImport,
  parseNew,
  systemClock,
} from '@deskwire/service/administration'
import { itemOf, type Layout } from './columns.ts'
import type { CsvRecord } from './csv.ts'
import { type FieldFault, faultsText, stepsOf } from './fault.ts'
import { objectOf } from './ndjson.ts'

/** A record with the row that it makes, or why it makes none. */
export type Entry = CsvRecord & ({ readonly item: Record<string, unknown> } | { readonly fault: string })

export function entryOf(record: CsvRecord, layout: Layout): Entry {
  if (layout.isLines) return lineEntry(record, layout)
  const { length } = record.cells
  const wanted = layout.header.length
  if (length !== wanted) return { ...record, fault: `it has ${length} values where the header has ${wanted}` }
  const { item, faults } = itemOf(layout, record.cells)
  if (layout.hasExternalId && item.externalId === undefined)
    faults.push({ path: ['externalId'], detail: 'an upsert finds rows by it' })
  if (faults.length === 0) return { ...record, item }
  // The service will not see this row, and so cannot add what else is wrong with it.
  const others = brokenRules(layout, item).filter(
    ({ path }) => !faults.some((fault) => isWithin(fault, path)),
  )
  return { ...record, fault: faultsText([...faults, ...others]) }
}

function lineEntry(record: CsvRecord, layout: Layout): Entry {
  const read = objectOf(layout, record.cells[0] ?? '')
  if ('fault' in read || !layout.hasExternalId || read.item.externalId !== undefined)
    return { ...record, ...read }
  const missing = { path: ['externalId'], detail: 'rows are found by it' }
  return { ...record, fault: faultsText([missing, ...brokenRules(layout, read.item)]) }
}

const nilUuid = '00000000-0000-0000-0000-000000000000'

/** The service finds the ids: `customerId` instead of `customerExternalId`. */
function withIds(kind: Kind, item: Record<string, unknown>): Record<string, unknown> {
  const named = namedReferences(kind, kinds).filter(({ name }) => typeof item[name] === 'string')
  const left = Object.entries(item).filter(([name]) => !named.some((reference) => reference.name === name))
  return Object.fromEntries([...left, ...named.map(({ field }) => [field, nilUuid])])
}

/** What this version of the service would refuse of a row by itself. */
export function brokenRules(layout: Layout, item: Record<string, unknown>): FieldFault[] {
  const { kind, hasExternalId, isHistory } = layout
  const parsed = isHistory
    ? parseImport(kind, withIds(kind, item), systemClock)
    : parseNew(kind, item, systemClock)
  if (parsed.ok) return []
  const { detail, errors = [{ pointer: '', code: 'invalid_value', detail }] } = parsed.error
  // A row that is there already has what it requires.
  const left = errors.filter(({ code }) => !(hasExternalId && !isHistory && code === 'required'))
  return left.map((error) => ({ path: stepsOf(error.pointer), detail: error.detail }))
}

/** Whether the fault is of this field or of a member of it: the field may be missing for that reason alone. */
function isWithin({ path }: FieldFault, field: readonly string[]): boolean {
  return field.length > 0 && field.every((step, n) => path[n] === step)
}
