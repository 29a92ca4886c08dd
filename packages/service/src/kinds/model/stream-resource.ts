/**
 * The resource of a cursor of `GET /v1/changes`: a hash of the kinds that its sync began with. That is nearly always
 * all kinds that the key may read; otherwise it is looked up among all sets of kinds.
 */
import { type Cursor, decodeCursorOf, resourceKey } from '../../kernel/cursor.ts'

/** 16 kinds have 65,535 sets, whose hashes take 4 MB and, once, 0.1 s. A cursor of more would have to name them. */
const mostKinds = 16

export function streamResource(kinds: Iterable<string>): string {
  return `changes ${[...kinds].sort().join(' ')}`
}

/** Reads cursors of streams of any of these kinds, trying `readable` first; null for any other text. */
export function createStreamCursors(kinds: readonly string[]) {
  if (kinds.length > mostKinds)
    throw new Error(`a stream joins ${mostKinds} kinds at most, not ${kinds.length}`)
  /** The kinds of each set, a bit each, by its hash. */
  let sets: ReadonlyMap<string, number> | null = null
  const setOf = (bits: number) => kinds.filter((_, place) => (bits & (1 << place)) !== 0)

  function allSets(): ReadonlyMap<string, number> {
    const all = new Map<string, number>()
    for (let bits = 1; bits < 2 ** kinds.length; bits++)
      all.set(resourceKey(streamResource(setOf(bits))), bits)
    return all
  }

  function otherSet(key: string): readonly string[] | null {
    sets ??= allSets()
    const bits = sets.get(key)
    return bits === undefined ? null : setOf(bits)
  }

  return {
    decode(
      text: string,
      organizationId: string,
      readable: readonly string[] = kinds,
    ): { cursor: Cursor; kinds: readonly string[] } | null {
      let found: readonly string[] | null = null
      const own = streamResource(readable)
      const resourceOf = (key: string) => {
        found = key === resourceKey(own) ? readable : otherSet(key)
        return found === null ? null : streamResource(found)
      }
      const cursor = decodeCursorOf(text, resourceOf, organizationId)
      return cursor === null || found === null ? null : { cursor, kinds: found }
    },
  }
}
