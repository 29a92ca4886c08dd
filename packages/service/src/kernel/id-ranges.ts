/** Equal ranges of ids (specification 7.9). Ids are treated as numbers of 128 bits. */
import { highestId } from './cursor.ts'
import { nilUuid } from './ids.ts'

/** The ids after `after`, up to and including `before`. */
export interface IdRange {
  readonly after: string
  readonly before: string
}

/** No object has the lowest id. */
export const allIds: IdRange = { after: nilUuid, before: highestId }

/** Equal parts, ascending, with bounds rounded down; some may be empty. `before` must not be lower than `after`. */
export function partsOf({ after, before }: IdRange, parts: number): readonly IdRange[] {
  const first = numberOf(after)
  const width = numberOf(before) - first
  const bounds = Array.from({ length: parts + 1 }, (_, n) =>
    idOf(first + (width * BigInt(n)) / BigInt(parts)),
  )
  return bounds.slice(1).map((bound, n) => ({ after: bounds[n] as string, before: bound }))
}

function numberOf(id: string): bigint {
  return BigInt(`0x${id.replaceAll('-', '')}`)
}

function idOf(number: bigint): string {
  const hex = number.toString(16).padStart(32, '0')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
