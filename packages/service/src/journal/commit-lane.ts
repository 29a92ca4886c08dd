/** The line of one organization: what waits to be committed, and what of it is under way. Who goes next is `GroupCommit`'s. */
import type { DatabaseError } from 'pg'
import { ranOut } from '../db/errors.ts'
import type { Unit, UnitOutcome } from './change.ts'
import { clockAheadCode } from './lead.ts'

/** One organization's part of a call. */
export interface CallPart {
  readonly organizationId: string
  readonly units: readonly Unit[]
}

/** What takes the clock and is no unit. Rejects as a call does when the clock is held by others. */
export interface Errand {
  readonly run: (patient: boolean) => Promise<void>
  readonly reject: (error: unknown) => void
  readonly since: number
}

export interface Waiting {
  readonly unit: Unit
  readonly keys: readonly string[]
  /** Takes long: goes in a call of its own, so that it holds up nobody but its organization. */
  readonly far: boolean
  /** When it came. */
  readonly since: number
  readonly resolve: (outcome: UnitOutcome) => void
  readonly reject: (error: unknown) => void
}

export interface Lane {
  readonly organizationId: string
  queue: Waiting[]
  errands: Errand[]
  errandUnderWay: boolean
  underWay: number
  /** What is under way reaches far: until it is done, more of this organization would only wait behind it. */
  farUnderWay: boolean
  /** Somebody else held the clock for long: the next call waits for it, and nobody else with it. */
  contended: boolean
  /** Keys of the units under way. */
  readonly held: Set<string>
}

export interface Part {
  readonly lane: Lane
  readonly batch: readonly Waiting[]
}

/** A line in which nobody waits. */
export function idleLane(organizationId: string): Lane {
  const nothing = { underWay: 0, errandUnderWay: false, farUnderWay: false, contended: false }
  return { organizationId, queue: [], errands: [], held: new Set(), ...nothing }
}

/** Whether an organization's next units go in a call of their own. */
export function needsOwnCall({ queue, contended }: Lane): boolean {
  const [next] = queue
  return next !== undefined && (contended || next.far)
}

/**
 * One change raised and took its neighbours with it. Each organization again by itself, and the one that raises
 * change by change, so that only that change fails. Nothing smaller of a single change; nor of one organization
 * that ran out of time, since each of its changes would have to wait that long again; nor of a time that is wrong for all.
 */
export function smallerCalls(parts: readonly Part[], error: DatabaseError): readonly Part[] {
  const [first] = parts
  if (error.code === clockAheadCode) return []
  if (parts.length > 1 || first === undefined) return parts
  if (first.batch.length === 1 || ranOut(error)) return []
  return first.batch.map((waiting) => ({ lane: first.lane, batch: [waiting] }))
}
