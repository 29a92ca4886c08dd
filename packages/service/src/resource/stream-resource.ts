/**
 * What a cursor of `GET /v1/changes` belongs to: the kinds that its sync began with, which stay the same to its end. A
 * cursor holds a hash, by which the set is found among all sets of kinds: two to the power of their number.
 */
import { type Cursor, decodeCursorOf, resourceKey } from '../kernel/cursor.ts'

/** The name of a stream of these kinds, whatever their order. */
export function streamResource(kinds: Iterable<string>): string {
  return `changes ${[...kinds].sort().join(' ')}`
}

/** Reads cursors of streams of any of these kinds; null for any other text. */
export function createStreamCursors(kinds: readonly string[]) {
  const sets = new Map(
    subsets(kinds).map((names) => {
      const resource = streamResource(names)
      return [resourceKey(resource), { names, resource }]
    }),
  )
  return {
    decode(text: string, organizationId: string): { cursor: Cursor; kinds: readonly string[] } | null {
      const cursor = decodeCursorOf(text, (key) => sets.get(key)?.resource ?? null, organizationId)
      const kinds = cursor === null ? undefined : sets.get(resourceKey(cursor.resource))?.names
      return cursor === null || kinds === undefined ? null : { cursor, kinds }
    },
  }
}

function subsets(names: readonly string[]): (readonly string[])[] {
  const [first, ...others] = names
  if (first === undefined) return []
  const without = subsets(others)
  return [[first], ...without, ...without.map((set) => [first, ...set])]
}
