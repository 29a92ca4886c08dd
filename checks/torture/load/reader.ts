/** Followers over HTTP that record what they read: first syncs, cursors, repeats, restarts from a watermark. */
import type { Checkpoint, Read } from '../history/format.ts'
import { type Recorder, versionsOf } from './recorder.ts'
import type { Call } from './writer.ts'

/** The kinds that writers write, and that `/v1/changes` reports. */
export const writtenKinds = ['customer', 'conversation', 'message', 'ticket', 'booking'] as const

const beginning = 'updatedAfter=1970-01-01T00:00:00Z'

export type Source = (typeof writtenKinds)[number] | 'changes'

export interface Reader {
  /** Reads one page, mostly the next one; false without a response. Rejects when the response is no page. */
  read(call: Call, dice: () => number): Promise<boolean>
  /** Reads until it has caught up. */
  drain(call: Call): Promise<void>
  readonly pages: number
}

export function createReader(
  recorder: Recorder,
  { name, source, limit }: { readonly name: string; readonly source: Source; readonly limit: number },
): Reader {
  const kinds = source === 'changes' ? [...writtenKinds, 'note', 'teammate'] : [source]
  const path = source === 'changes' ? '/v1/changes' : `/v1/${source}s`
  recorder.write({ does: 'follow', follower: name, kinds })
  let cursor: string | null = null
  /** The query of its last page. */
  let last: string | null = null
  let latest: string | null = null
  /** The time of the last record when it had caught up; within a commit it would be no watermark. */
  let watermark: string | null = null
  let pages = 0
  let caughtUp = false

  async function page(call: Call, from: Read['from'], query: string): Promise<boolean> {
    recorder.write({ does: 'read', follower: name, from })
    const answer = await call('GET', `${path}?limit=${limit}&${query}`).catch(() => null)
    if (answer === null || answer.status >= 500) return false
    if (answer.status !== 200) throw new Error(`${name}: ${answer.status} ${answer.text}`)
    const { versions, pagination } = versionsOf(answer.text)
    recorder.write({
      does: 'page',
      follower: name,
      versions,
      checkpoint: proofOf(pagination.checkpoint),
    })
    pages++
    caughtUp = !pagination.hasMore
    cursor = pagination.nextCursor
    last = query
    // It belonged to another copy.
    if (from === 'start') watermark = null
    latest = versions.at(-1)?.[2] ?? latest
    if (caughtUp) watermark = latest
    return true
  }

  function proofOf(checkpoint: unknown): Record<string, Checkpoint> | null {
    if (checkpoint === undefined) return null
    const ofKinds =
      source === 'changes'
        ? (checkpoint as Record<string, Checkpoint>)
        : { [source]: checkpoint as Checkpoint }
    const told = Object.entries(ofKinds).map(([kind, { count, digest }]) => [kind, { count, digest }])
    return Object.fromEntries(told)
  }

  const start = (call: Call) => page(call, 'start', beginning)
  const next = (call: Call) => (cursor === null ? start(call) : page(call, 'next', `cursor=${cursor}`))

  return {
    get pages() {
      return pages
    },
    async read(call, dice) {
      const what = dice()
      if (cursor === null || last === null || what < 0.002) return start(call)
      // A repeated first sync is another one, with another copy.
      if (what < 0.03 && last !== beginning) return page(call, 'again', last)
      // A client that stores the last time of its records, and no cursor.
      if (what < 0.05 && watermark !== null)
        return page(call, { after: watermark }, `updatedAfter=${watermark}`)
      // A follower that has caught up may wait.
      if (what < 0.15 && caughtUp) return page(call, 'next', `cursor=${cursor}&wait=1`)
      return next(call)
    },
    async drain(call) {
      do {
        if (!(await next(call))) throw new Error(`${name} gets no answer`)
      } while (!caughtUp)
    },
  }
}
