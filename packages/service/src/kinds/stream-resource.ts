/**
 * What a cursor of `GET /v1/changes` belongs to: the kinds that its sync began with, which stay the same to its end. A
 * cursor holds a hash, by which the set is found: it is nearly always that of all kinds that the key may read. Where it is
 * not, it is looked for among all sets, which are two to the power of the number of kinds.
 */
import { type Cursor, decodeCursorOf, resourceKey } from '../kernel/cursor.ts'

/** The name of a stream of these kinds, whatever their order. */
export function streamResource(kinds: Iterable<string>): string {
  return `changes ${[...kinds].sort().join(' ')}`
}

/** Reads cursors of streams of any of these kinds, `readable` before all other sets; null for any other text. */
export function createStreamCursors(kinds: readonly string[]) {
  let all: ReadonlyMap<string, readonly string[]> | null = null
  const named = (names: readonly string[]) => [resourceKey(streamResource(names)), names] as const
  return {
    decode(
      text: string,
      organizationId: string,
      readable: readonly string[] = kinds,
    ): { cursor: Cursor; kinds: readonly string[] } | null {
      let found: readonly string[] | undefined
      const resourceOf = (key: string) => {
        const [own] = named(readable)
        if (key !== own) all ??= new Map(subsets(kinds).map(named))
        found = key === own ? readable : all?.get(key)
        return found === undefined ? null : streamResource(found)
      }
      const cursor = decodeCursorOf(text, resourceOf, organizationId)
      return cursor === null || found === undefined ? null : { cursor, kinds: found }
    },
  }
}

function subsets(names: readonly string[]): (readonly string[])[] {
  const [first, ...others] = names
  if (first === undefined) return []
  const without = subsets(others)
  return [[first], ...without, ...without.map((set) => [first, ...set])]
}
