/**
 * Tells other processes of commits: workers, that deliveries are due; those with waiting readers, what has changed. Sent
 * after the commit and beside it, as NOTIFY within each write takes half of the writes per second away. It is a hint, and
 * losing one delays a delivery or a reader until the next poll.
 *
 * The worker beside this process is told without the database, and of each queue: that is half a millisecond sooner, and it
 * need not search for what it is told. It knows by its own id in a notification that it has been told of all that.
 */
import type { Pool } from 'pg'
import { stopwatch } from '../kernel/timestamps.ts'
import type { HandedOver } from './commit-protocol.ts'

/** An endpoint's queue that a commit has made due: a row of `lanes`, and its `tier`. */
export interface WokenQueue {
  readonly organizationId: string
  readonly webhookId: string
  readonly tier: number
}

/** What a commit has made due. */
export interface DueDeliveries {
  /** Since when, in milliseconds since the Unix epoch: to a process whose clock is a little behind, they are due only then. */
  readonly at: number
  /** The queues that it woke: of others, whoever has them knows, or looks again by himself. */
  readonly queues: readonly WokenQueue[]
  /** What it handed over to the worker beside this process, by the organization's id. */
  readonly handedOver: readonly (readonly [organizationId: string, HandedOver])[]
  /** Attempts that each of the deliveries has. */
  readonly maxAttempts: number
}

/** The worker beside this process. */
export interface WorkerBeside {
  /** Its id while it takes what commits hand over; null otherwise. */
  readonly id: string | null
  /** For how long it has what is handed over, in milliseconds. */
  readonly leaseFor: number
  /** False when it could not be told; what was handed over to it is given back then, when it has ended. */
  tell(due: DueDeliveries): boolean
}

/** The channel on which workers listen. */
export const deliveriesChannel = 'deskwire_deliveries'
/** What is said there when deliveries are not only due but to be made: a large commit leaves that to workers. */
export const largeCommit = 'large'

/** What is said there of deliveries that are due. */
export interface DeliveriesNotification {
  /** All of them are from then on, in milliseconds since the Unix epoch; 0 where that is long since, or not known. */
  readonly at: number
  /** The worker that has been told of all of them; null when none has. */
  readonly told: string | null
}

/** `due AT`, and the worker that was told behind it. */
export function encodeDeliveries({ at, told }: DeliveriesNotification): string {
  return told === null ? `due ${at}` : `due ${at} ${told}`
}

/** What a notification says; one of an earlier release says nothing but that there are some. */
export function decodeDeliveries(payload: string): DeliveriesNotification {
  const [what, at, told = null] = payload.split(' ')
  return what === 'due' ? { at: Number(at), told } : { at: 0, told: null }
}

/**
 * At once, and for long no more than one in ten milliseconds a process. Five may come closer together, as commits of an
 * even load do: a gap enforced between any two held back half of the notifications at a hundred commits a second.
 */
const apart = 10
const together = 5

export interface Notifier {
  /** Deliveries are due; of what a commit made, it is known at which endpoints. */
  deliveries(due?: DueDeliveries): void
  /** A commit has left deliveries to be made; others may be due. */
  largeCommit(): void
  /** Kinds of an organization have changed. */
  changes(organizationId: string, kinds: Iterable<string>): void
}

export function createNotifier(
  pool: Pool,
  onError: (error: Error) => void,
  worker: WorkerBeside | null = null,
): Notifier {
  const elapsed = stopwatch()
  let due: DeliveriesNotification | null = null
  let large = false
  let changed = new Map<string, Set<string>>()
  /** A sending is planned, and gathers what comes until then. */
  let planned = false
  /** When the sendings so far are paid for, one each ten milliseconds. */
  let paidAt = 0

  function plan(): void {
    if (planned) return
    planned = true
    const wait = paidAt - elapsed() - (together - 1) * apart
    // What one commit tells is told together.
    if (wait <= 0) queueMicrotask(send)
    else setTimeout(send, wait)
  }

  function send(): void {
    paidAt = Math.max(paidAt, elapsed()) + apart
    // One statement for both; it need not reach the disk, as nobody would hear of it after a crash.
    const text = `select set_config('synchronous_commit', 'off', true),
        case when $1::text is not null then pg_notify('${deliveriesChannel}', $1) end,
        case when $2::text is not null then pg_notify('${streamChannel}', $2) end`
    const notification = changed.size === 0 ? null : encodeNotification(changed)
    const deliveries = large ? largeCommit : due && encodeDeliveries(due)
    pool.query({ name: 'announce', text, values: [deliveries, notification] }).catch(onError)
    planned = false
    due = null
    large = false
    changed = new Map()
  }

  return {
    deliveries(made) {
      const told = made !== undefined && worker?.tell(made) ? worker.id : null
      const at = made?.at ?? 0
      due = due === null ? { at, told } : { at: Math.max(due.at, at), told: due.told === told ? told : null }
      plan()
    },
    largeCommit() {
      large = true
      plan()
    },
    changes(organizationId, kinds) {
      const known = changed.get(organizationId) ?? new Set()
      for (const kind of kinds) known.add(kind)
      changed.set(organizationId, known)
      plan()
    },
  }
}

/** The channel on which processes with waiting readers listen. */
export const streamChannel = 'deskwire_stream'

/** PostgreSQL takes less than 8,000 bytes a notification. */
const payloadLimit = 7_900

/** Kinds that changed, by organization; null for a change of anything anywhere. */
export type StreamNotification = ReadonlyMap<string, ReadonlySet<string>> | null

/** `organization:kind+kind,…`; nothing when that is too much for one notification. */
export function encodeNotification(notification: ReadonlyMap<string, ReadonlySet<string>>): string {
  const text = [...notification]
    .map(([organization, kinds]) => `${organization}:${[...kinds].join('+')}`)
    .join(',')
  return text.length > payloadLimit ? '' : text
}

/** What a notification tells; one that names nothing may be about anything. */
export function decodeNotification(payload: string): StreamNotification {
  if (payload === '') return null
  return new Map(
    payload.split(',').map((part) => {
      const [organization = '', kinds = ''] = part.split(':')
      return [organization, new Set(kinds.split('+'))]
    }),
  )
}
