/** Pages of a sync over HTTP, through the SDK, for `follow`. */
import { type Change, createClient, type SyncPage } from '@deskwire/sdk'
import type { FollowedPage, StreamRecord } from './follower.ts'

type Row = { id: string; updatedAt: string }

/** `url` may change from page to page. */
export function httpReader(options: {
  readonly url: () => string
  readonly token: string
  readonly kind: 'teammates' | 'customers' | 'conversations' | 'messages' | 'notes' | 'tickets' | 'bookings'
  readonly limit: number
}): (cursor: string | null) => Promise<FollowedPage<string>> {
  const { url, token, kind, limit } = options
  return async (cursor) => {
    const client = createClient({ baseUrl: `${url()}/v1`, apiKey: token, retries: 0 })
    const pages = client[kind].sync({ limit, ...(cursor === null ? {} : { cursor }) })
    const { value } = await pages.next()
    const page = value as SyncPage<never>
    return {
      records: page.changes.map((change) => recordOfChange(change)),
      next: page.cursor,
      checkpoint: page.checkpoint ?? null,
    }
  }
}

function recordOfChange(change: Change<never>): StreamRecord {
  if (change.type === 'upsert') {
    const row: Row = change.row
    return { id: row.id, at: row.updatedAt, removed: false, body: JSON.stringify(row) }
  }
  const { id, resource, removedAt } = change
  const body = JSON.stringify({ object: 'removed', id, resource, removedAt })
  return { id, at: removedAt, removed: true, body }
}
