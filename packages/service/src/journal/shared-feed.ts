import { share } from '../kernel/share.ts'
import type { Feed, PageOutcome } from './feed.ts'

/**
 * The feed, with one statement for all who ask for the same page at the same time: a thousand waiting readers whom one commit
 * wakes are at the same place of the same stream.
 */
export function createSharedFeed<C>(feed: Feed<C>): Feed<C> {
  const look = share<PageOutcome<C>>()
  return {
    page(organizationId, start, limit) {
      const key = JSON.stringify([organizationId, start, limit])
      return look(key, () => feed.page(organizationId, start, limit))
    },
  }
}
