/** Records as batches of the API. The same file makes the same batches, so that a batch can be sent again. */
import type { Layout } from './columns.ts'
import type { CsvRecord } from './csv.ts'
import { type Entry, entryOf } from './entry.ts'

export interface Batch {
  /** From 0. */
  readonly number: number
  /** In the order of the file. */
  readonly entries: readonly Entry[]
  /** The externalIds of its rows. */
  readonly externalIds: ReadonlySet<string>
}

/** Bounds of a batch: the service takes 1,000 rows and 16 MiB. */
interface Bounds {
  readonly rows: number
  readonly bytes: number
}

const serviceBounds: Bounds = { rows: 1_000, bytes: 12 * 1024 * 1024 }

/**
 * Groups records. A row whose externalId stands in the batch already begins another one: the service takes a row at most
 * once a call, and in a file the later line wins.
 */
export async function* toBatches(
  records: AsyncIterable<CsvRecord>,
  layout: Layout,
  bounds: Bounds = serviceBounds,
): AsyncGenerator<Batch, void, undefined> {
  let number = 0
  let entries: Entry[] = []
  let externalIds = new Set<string>()
  let bytes = 0
  const take = (): Batch => {
    const batch = { number: number++, entries, externalIds }
    entries = []
    externalIds = new Set()
    bytes = 0
    return batch
  }
  for await (const record of records) {
    const entry = entryOf(record, layout)
    const size = 'item' in entry ? Buffer.byteLength(JSON.stringify(entry.item)) : 0
    const externalId = 'item' in entry ? entry.item.externalId : undefined
    const repeats = typeof externalId === 'string' && externalIds.has(externalId)
    if (entries.length > 0 && (repeats || bytes + size > bounds.bytes)) yield take()
    entries.push(entry)
    bytes += size
    if (typeof externalId === 'string') externalIds.add(externalId)
    if (entries.length >= bounds.rows) yield take()
  }
  if (entries.length > 0) yield take()
}
