/**
 * Where a drain has read its queue to, so that a claim does not begin at the head of an index that is full of dead
 * entries while some snapshot is held. Pure.
 *
 * The position is exact: every pending delivery that the drain does not have is at the position or behind it in the
 * order of (`next_attempt_at`, `id`), also those that no snapshot shows yet. The argument, for each way in which a
 * delivery becomes due:
 *
 * - Read: a claim returns what its snapshot shows from the position on, in order. A full claim has shown all up to its
 *   last row, any other all that is due at its time. The drain takes all of it, or the position stays. What it drops or
 *   schedules before the position, it moves the position back for (`goBackTo`; `complete-deliveries.sql` for what it
 *   schedules).
 * - Commits: a delivery is due at its commit's stamp. Commits of an organization are serialized, stamps increase in
 *   their order, and a commit is visible before the next begins: a snapshot that shows a stamp shows all before it. So
 *   the position stays at or before the latest stamp that a claim has shown, whatever the clocks say. Stamps are read
 *   off the events of deliveries, except control events, which have none.
 * - Everything else that makes a delivery due counts up `rewinds` of the queue in its transaction, or after it
 *   (`wake-queues.sql`): a retry by hand, a resend, a ping, recoveries, large commits, events about endpoints, clocks
 *   that were set back. A claim reads from where the position says only if its own snapshot shows the count that the
 *   position was read with, else from the beginning.
 * - A release stores the position in the queue's row, and the next lease begins there. Whatever counts up `rewinds`
 *   forgets it.
 */
import { nilUuid } from '../../kernel/ids.ts'
import type { ClaimedDelivery } from '../model.ts'

/** Times are milliseconds since the Unix epoch. */
interface ReadTo {
  readonly at: number
  readonly id: string
}

export interface ReadPosition {
  /** The queue's count when this was read. No queue has the one of `unread`. */
  readonly rewinds: number
  /** Null: nothing is known. */
  readonly readTo: ReadTo | null
  /** The latest stamp that a claim has shown. */
  readonly stamp: number
}

type Positioned = Pick<ClaimedDelivery, 'id' | 'dueAt' | 'event'>

export const unread: ReadPosition = { rewinds: -1, readTo: null, stamp: Number.NEGATIVE_INFINITY }

const lastUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * After a claim from `position` at the time `now`, of which all deliveries were taken. `rewinds`: as its first
 * statement read it.
 */
export function readOn(
  position: ReadPosition,
  claim: {
    readonly rewinds: number
    readonly deliveries: readonly Positioned[]
    readonly isFull: boolean
    readonly now: number
  },
): ReadPosition {
  const { rewinds, deliveries, isFull, now } = claim
  const stamp = Math.max(position.stamp, ...deliveries.map(stampOf))
  const known = rewinds === position.rewinds ? position.readTo : null
  if (stamp === Number.NEGATIVE_INFINITY) return { rewinds, readTo: known, stamp }
  const due = { at: now, id: nilUuid }
  const last = isFull ? deliveries.at(-1) : undefined
  const read = last === undefined ? due : earlier(placeOf(last), due)
  const readTo = earlier(read, { at: stamp, id: lastUuid })
  return { rewinds, readTo: known !== null && isBefore(readTo, known) ? known : readTo, stamp }
}

/** Before all of these deliveries. */
export function goBackTo(position: ReadPosition, deliveries: Iterable<Positioned>): ReadPosition {
  let { readTo } = position
  if (readTo === null) return position
  for (const delivery of deliveries) readTo = earlier(readTo, placeOf(delivery))
  return { ...position, readTo }
}

function placeOf({ id, dueAt }: Positioned): ReadTo {
  return { at: dueAt, id }
}

function stampOf({ event }: Positioned): number {
  return event.subjectKind === 'webhook' ? Number.NEGATIVE_INFINITY : Date.parse(event.createdAt)
}

function earlier(a: ReadTo, b: ReadTo): ReadTo {
  return isBefore(b, a) ? b : a
}

function isBefore(a: ReadTo, b: ReadTo): boolean {
  return a.at < b.at || (a.at === b.at && a.id < b.id)
}
