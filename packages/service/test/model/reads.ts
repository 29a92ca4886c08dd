/** Pages of followers, compared with the model's to the byte. */
import { expect } from 'vitest'
import { checkpointOf } from '../../../testbed/follower.ts'
import type { Answer } from '../../../testbed/service.ts'
import { type Command, named } from './command.ts'
import {
  type ExpectedPage,
  type ModelFollower,
  type Source,
  type StreamModel,
  timeText,
} from './stream-model.ts'

/** A follower asks for a page; a copy that has caught up is exact. */
export function read(n: number, from: 'start' | 'next' | 'again' | 'watermark', limit?: number): Command {
  return named(`follower ${n} reads ${from}${limit === undefined ? '' : ` ${limit}`}`, {
    check(model) {
      const one = model.followers[n]
      if (one === undefined) return false
      if (from === 'again') return one.before !== null && one.before.at > 0
      return from === 'watermark' ? one.caughtUp && (one.place?.at ?? 0) > 0 : true
    },
    async run(model, real) {
      const one = followerOf(model, n)
      if (limit !== undefined) one.limit = limit
      const held = real.cursors.get(n)
      const begin = from === 'start' || held === undefined
      const watermark = timeText(one.place?.at ?? 0)
      const expected = model.read(one, begin ? 'start' : from)
      const query = begin
        ? 'updatedAfter=1970-01-01T00:00:00Z'
        : {
            start: '',
            next: `cursor=${held.cursor}`,
            again: held.last,
            watermark: `updatedAfter=${watermark}`,
          }[from]
      const answer = await real.api.get(pageOf(one, query))
      const cursor = expectPage(model, one, expected, answer)
      real.cursors.set(n, { cursor, last: query })
    },
  })
}

export function followerOf(model: StreamModel, n: number): ModelFollower {
  return model.followers[n] as ModelFollower
}

/** The address of a follower's page. */
export function pageOf({ source, limit }: ModelFollower, query: string): string {
  return `${source === 'changes' ? '/v1/changes' : `/v1/${source}s`}?limit=${limit}&${query}`
}

/** Holds an answer against the page that the model gives; its nextCursor. */
export function expectPage(
  model: StreamModel,
  one: ModelFollower,
  expected: ExpectedPage,
  { status, text, json }: Answer,
): string {
  expect(status, text).toBe(200)
  const records = expected.entries.map(({ body }) => body).join(',')
  expect(text.slice(0, text.indexOf(',"pagination":'))).toBe(`{"data":[${records}]`)
  const { nextCursor, checkpoint, ...others } = json.pagination
  expect(others).toEqual({
    total: expected.total,
    limit: one.limit,
    offset: 0,
    hasMore: expected.hasMore,
  })
  expect(proofs(one.source, checkpoint)).toEqual(expected.checkpoints)
  if (one.caughtUp) expect(model.drift(one)).toEqual([])
  return nextCursor
}

function proofs(source: Source, checkpoint: unknown): unknown {
  if (checkpoint === undefined) return null
  if (source !== 'changes') return { [source]: checkpoint }
  // Teammates and notes are read along, and nobody makes any.
  const { teammate, note, ...others } = checkpoint as Record<string, unknown>
  expect([teammate, note]).toEqual([checkpointOf([]), checkpointOf([])])
  return others
}
