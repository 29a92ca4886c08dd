/** Records as batches of the API. The same file makes the same batches, so that a batch can be sent again. */
import { createHash } from 'node:crypto'
import type { Layout } from './columns.ts'
import type { CsvRecord } from './csv.ts'
import { type Entry, entryOf } from './entry.ts'

export interface Batch {
  /** From 0. */
  readonly number: number
  /** In the order of the file. */
  readonly entries: readonly Entry[]
  /** Whether the service looks for its rows by their externalIds. */
  readonly isMatched: boolean
  /** The externalIds of its rows. */
  readonly externalIds: ReadonlySet<string>
  /** Of its rows. */
  readonly digest: string
}

/** Bounds of a batch: the service takes 1,000 rows and 16 MiB. */
interface Bounds {
  readonly rows: number
  readonly bytes: number
}

const serviceBounds: Bounds = { rows: 1_000, bytes: 12 * 1024 * 1024 }

/**
 * Groups records: those whose rows are looked for by externalId, and others. A row whose externalId is in its batch
 * already begins another one: the service takes a row at most once a call, and in a file the later line wins.
 */
export async function* toBatches(
  records: AsyncIterable<CsvRecord>,
  layout: Layout,
  bounds: Bounds = serviceBounds,
): AsyncGenerator<Batch, void, undefined> {
  let number = 0
  const [others, matched] = [new Group(false), new Group(true)]
  let group = others
  for await (const record of records) {
    const entry = entryOf(record, layout)
    if ('item' in entry) group = entry.isMatched ? matched : others
    const text = 'item' in entry ? JSON.stringify(entry.item) : ''
    if (!group.takes(entry, text, bounds)) yield group.end(number++)
    group.add(entry, text)
    if (group.length >= bounds.rows) yield group.end(number++)
  }
  const left = [others, matched].filter(({ length }) => length > 0)
  for (const one of left.sort((a, b) => a.line - b.line)) yield one.end(number++)
}

/** A batch that is being filled. */
class Group {
  readonly #isMatched: boolean
  #entries: Entry[] = []
  #externalIds = new Set<string>()
  #bytes = 0
  #hash = createHash('sha256')

  constructor(isMatched: boolean) {
    this.#isMatched = isMatched
  }

  get length(): number {
    return this.#entries.length
  }

  /** Of its first record. */
  get line(): number {
    return this.#entries[0]?.line ?? 0
  }

  takes(entry: Entry, text: string, bounds: Bounds): boolean {
    if (this.length === 0) return true
    return !this.#externalIds.has(idOf(entry) ?? '') && this.#bytes + Buffer.byteLength(text) <= bounds.bytes
  }

  add(entry: Entry, text: string): void {
    this.#entries.push(entry)
    this.#bytes += Buffer.byteLength(text)
    this.#hash.update(`${text}\n`)
    const id = idOf(entry)
    if (id !== null) this.#externalIds.add(id)
  }

  /** The batch; the group is empty then. */
  end(number: number): Batch {
    const batch = {
      number,
      entries: this.#entries,
      isMatched: this.#isMatched,
      externalIds: this.#externalIds,
      digest: this.#hash.digest('hex'),
    }
    this.#entries = []
    this.#externalIds = new Set()
    this.#bytes = 0
    this.#hash = createHash('sha256')
    return batch
  }
}

function idOf(entry: Entry): string | null {
  return 'item' in entry && typeof entry.item.externalId === 'string' ? entry.item.externalId : null
}
