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

export type EventLog = ReturnType<typeof eventLog>

export function eventLog(api: Api, now: () => number) {
  return {
    /** Null: the log does not go back so far, or a backup was restored. */
    async after(cursor: string, query: Json): Promise<Page | null> {
      try {
        return await list({ ...query, cursor })
      } catch (error) {
        if (error instanceof DeskwireError && error.code === 'cursor_too_old') return null
        throw error
      }
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
