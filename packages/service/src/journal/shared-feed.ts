import { share } from '../kernel/share.ts'
import type { Feed, PageOutcome } from './feed.ts'

/** A feed, and the same for those who wait for news of it. */
export interface Feeds<C> {
  readonly feed: Feed<C>
  /**
   * One statement for all who ask for the same page at the same time: a thousand waiting readers whom one commit wakes
   * are at the same place of the same stream. Telling who asks for the same costs more than it saves those who do not wait.
   */
  readonly waitingFeed: Feed<C>
}

export function shareWaiting<C>(feed: Feed<C>): Feeds<C> {
  const look = share<PageOutcome<C>>()
  const waitingFeed: Feed<C> = {
    page(organizationId, start, limit) {
      const key = JSON.stringify([organizationId, start, limit])
      return look(key, () => feed.page(organizationId, start, limit))
    },
  }
  return { feed, waitingFeed }
}
