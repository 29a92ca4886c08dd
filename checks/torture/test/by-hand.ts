/** Parts of handwritten histories. */
import { createHash } from 'node:crypto'
import type { Checkpoint, Version } from '../history/format.ts'

/** A moment, by its number from 0 to 9. */
const at = (n: number) => `2026-01-31T09:30:00.00${n}Z`

/** With bytes that no other moment has. */
export function version(kind: string, id: string, n: number, by: number | null, ...of: string[]): Version {
  const bare = [kind, id, at(n), `000000000000${n}`, by] as const
  return of.length === 0 ? bare : [...bare, of]
}

/** Of a copy of one kind. */
export function checkpoint(kind: string, ...held: readonly Version[]): Record<string, Checkpoint> {
  const terms = held.map(([, id, time]) =>
    createHash('sha256').update(`${id}:${time}`).digest().readBigUInt64BE(0),
  )
  const sum = BigInt.asUintN(
    64,
    terms.reduce((sum, term) => sum + term, 0n),
  )
  return { [kind]: { count: held.length, digest: sum.toString(16).padStart(16, '0') } }
}
