/** The ordered events of `GET /v1/events`, whose cursors lose nothing while the log keeps it. */
import { DeskwireError } from '@deskwire/sdk'
import type { Api, Json } from './api.ts'

/** Of a page, at most. */
export const maxEvents = 100
/** "From now" looks so many milliseconds back for the last event, as processes' clocks differ by less. */
const startWindow = 10_000

export interface Occurrence {
  readonly id: string
  readonly type: string
  readonly createdAt: string
  readonly data: Json | null
}

export interface Page {
  readonly data: readonly Occurrence[]
  readonly pagination: { readonly nextCursor: string; readonly hasMore: boolean }
}

/** Reads under way that wait: streams of one caller that wait for the same share one. */
export class WaitingReads {
  readonly #underWay = new Map<
    string,
    { readonly page: Promise<Page | null>; readonly signal: AbortSignal }
  >()

  /** `signal` ends the read, or the wait for that of another; of those that share one, another then reads instead. */
  async share(name: string, signal: AbortSignal, read: () => Promise<Page | null>): Promise<Page | null> {
    for (let other = this.#underWay.get(name); other !== undefined; other = this.#underWay.get(name))
      try {
        return await unlessAborted(other.page, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (!other.signal.aborted) throw error
      }
    const page = read().finally(() => this.#underWay.delete(name))
    this.#underWay.set(name, { page, signal })
    return page
  }
}

/** Rejects with the signal's reason if that comes first. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const end = () => reject(signal.reason)
  if (signal.aborted) end()
  signal.addEventListener('abort', end)
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', end))
}

export type EventLog = ReturnType<typeof eventLog>

interface Reader {
  /** Those with the same name may read the same. */
  readonly caller: string
  readonly signal: AbortSignal
  readonly waiting: WaitingReads
}

export function eventLog(api: Api, now: () => number, { caller, signal, waiting }: Reader) {
  return {
    /** Null: the log does not go back so far, or a backup was restored. */
    async after(cursor: string, query: Json): Promise<Page | null> {
      const read = () => list({ ...query, cursor }).catch(nullWhereDropped)
      if (!query.wait) return read()
      return waiting.share(JSON.stringify([caller, cursor, query]), signal, read)
    },

    /** The cursor after the last event of a type. */
    async end(types: string): Promise<string> {
      let from: Json = { createdAfter: new Date(now() - startWindow).toISOString() }
      for (;;) {
        const { nextCursor: cursor, hasMore } = (await list({ types, limit: maxEvents, ...from })).pagination
        if (!hasMore) return cursor
        from = { cursor }
      }
    },
  }

  async function list(query: Json): Promise<Page> {
    return (await api.get('/events', query)) as unknown as Page
  }
}

function nullWhereDropped(error: unknown): null {
  if (error instanceof DeskwireError && error.code === 'cursor_too_old') return null
  throw error
}
