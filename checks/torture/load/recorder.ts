/** Writes a history: writers and followers report to it, in order. */
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import type { Ask, Line, Version } from '../history/format.ts'

export interface Recorder {
  /** Before sending a request; returns its number. */
  ask(ask: Omit<Ask, 'does' | 'n'>): number
  /** The next request's number, for the text that it sends. */
  readonly next: number
  write(line: Exclude<Line, Ask>): void
}

export function createRecorder(write: (line: Line) => void): Recorder {
  let next = 0
  return {
    get next() {
      return next
    },
    ask(ask) {
      const n = next++
      write({ does: 'ask', n, ...ask })
      return n
    },
    write,
  }
}

/** Writes lines in batches. `close` resolves when they are written. */
export function fileSink(path: string): { write(line: Line): void; close(): Promise<void> } {
  const stream = createWriteStream(path)
  let batch = ''
  const flush = () => {
    stream.write(batch)
    batch = ''
  }
  return {
    write(line) {
      batch += `${JSON.stringify(line)}\n`
      if (batch.length > 65_536) flush()
    },
    async close() {
      flush()
      stream.end()
      await finished(stream)
    },
  }
}

interface Shown {
  readonly object: string
  readonly id: string
  readonly resource?: string
  readonly removedAt?: string
  readonly updatedAt?: string
  readonly body?: string
  readonly customAttributes?: { readonly n?: number }
  readonly customerId?: string | null
  readonly conversationId?: string | null
}

/** The version of an object or removal record. Its text names its request. */
export function versionOf(body: string): Version {
  return shownVersion(JSON.parse(body) as Shown, body)
}

/** The versions on a page, each of its own bytes. Throws when the page is not the JSON that was written. */
export function versionsOf(page: string): { versions: Version[]; pagination: Pagination } {
  const { data, pagination } = JSON.parse(page) as { data: Shown[]; pagination: Pagination }
  const bodies = data.map((one) => JSON.stringify(one))
  if (!page.startsWith(`{"data":[${bodies.join(',')}],`))
    throw new Error('a page is not the JSON that was written')
  return { versions: data.map((one, n) => shownVersion(one, bodies[n] as string)), pagination }
}

interface Pagination {
  readonly hasMore: boolean
  readonly nextCursor: string
  readonly checkpoint?: unknown
}

function shownVersion(shown: Shown, body: string): Version {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 13)
  const { object, id } = shown
  if (object === 'removed') return [shown.resource ?? '', id, shown.removedAt ?? '', hash, null]
  const of = [shown.customerId, shown.conversationId].filter((one) => typeof one === 'string')
  const by = object === 'message' ? Number(shown.body?.slice(1)) : shown.customAttributes?.n
  const version = [object, id, shown.updatedAt ?? '', hash, by ?? -2] as const
  return of.length > 0 ? [...version, of] : version
}
