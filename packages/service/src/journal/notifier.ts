/**
 * Notifies other processes of commits: workers, of the queues that are due; processes with waiting readers, of what has changed. Sent
 * after the commit, as NOTIFY within each write halves the writes per second. A notification is a hint: one that is lost
 * delays a delivery or a reader until the next poll.
 *
 * The worker next to this process is told over its own channel, half a millisecond sooner. It recognizes its id in the
 * notification and ignores it.
 */
import type { Pool } from 'pg'
import { stopwatch } from '../kernel/timestamps.ts'

/** An endpoint's queue that a commit has made due: a row of `lanes`, and its `tier`. */
interface WokenQueue {
  readonly organizationId: string
  readonly webhookId: string
  readonly tier: number
}

/** What a commit has made due. */
export interface DueQueues {
  /** Since when, in milliseconds since the Unix epoch: to a process whose clock is a little behind, they are due only then. */
  readonly at: number
  /** The queues that it woke. The holder of any other looks again before it releases it. */
  readonly queues: readonly WokenQueue[]
}

/** Tells the worker next to this process which queues are due, and returns its id; null when it could not be told. */
export type TellWorker = (due: DueQueues) => string | null

/** The channel on which workers listen. */
export const deliveriesChannel = 'deskwire_deliveries'
/** The payload there when deliveries are still to be created: a large commit leaves that to workers. */
export const largeCommit = 'large'

/** The payload there when deliveries are due. */
interface DeliveriesNotification {
  /** All of them are due from then on, in milliseconds since the Unix epoch; 0 when they are due already, or it is not known. */
  readonly at: number
  /** The worker that was told of all of them; null when none was. */
  readonly told: string | null
  /** Their queues; null when they are not known, or are too many for a notification. */
  readonly queues: readonly WokenQueue[] | null
}

/** PostgreSQL takes less than 8,000 bytes a notification. */
const payloadLimit = 7_900
/** Of each queue a notification holds two ids and what separates them. */
const queuesANotification = Math.floor((payloadLimit - 100) / (2 * 36 + 4))

/** `due AT WORKER QUEUE,…`, with `-` for no worker, and `organization:endpoint:tier` for a queue. */
export function encodeDeliveries({ at, told, queues }: DeliveriesNotification): string {
  const words = ['due', String(at), told ?? '-']
  if (queues !== null && queues.length <= queuesANotification)
    words.push(
      queues.map(({ organizationId, webhookId, tier }) => `${organizationId}:${webhookId}:${tier}`).join(','),
    )
  return words.join(' ')
}

/** The content of a notification, which names no queues when there are too many, and nothing when it is about something else. */
export function decodeDeliveries(payload: string): DeliveriesNotification {
  const [what, at, told, queues] = payload.split(' ')
  if (what !== 'due') return { at: 0, told: null, queues: null }
  return { at: Number(at), told: told === '-' ? null : (told ?? null), queues: decodeQueues(queues) }
}

function decodeQueues(text: string | undefined): readonly WokenQueue[] | null {
  if (text === undefined) return null
  return text.split(',').map((queue) => {
    const [organizationId = '', webhookId = '', tier] = queue.split(':')
    return { organizationId, webhookId, tier: Number(tier) }
  })
}

/**
 * At once, and for long no more than one in ten milliseconds a process. Five may come closer together, as commits of an
 * even load do: a gap enforced between any two held back half of the notifications at a hundred commits a second.
 */
const apart = 10
const sentTogether = 5

export interface Notifier {
  /** Deliveries are due; after a commit, at these queues. */
  deliveries(due?: DueQueues): void
  /** A commit has left deliveries to be made; others may be due. */
  largeCommit(): void
  /** Kinds of an organization have changed. */
  changes(organizationId: string, kinds: Iterable<string>): void
}

export function createNotifier(
  pool: Pool,
  onError: (error: Error) => void,
  tellWorker: TellWorker | null = null,
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
    const wait = paidAt - elapsed() - (sentTogether - 1) * apart
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
      // Whoever holds the queues that were not woken looks again.
      if (made?.queues.length === 0) return
      const told = (made !== undefined && tellWorker?.(made)) || null
      const own = { at: made?.at ?? 0, told, queues: made?.queues ?? null }
      due = due === null ? own : together(due, own)
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

/** One notification for two. */
function together(a: DeliveriesNotification, b: DeliveriesNotification): DeliveriesNotification {
  return {
    at: Math.max(a.at, b.at),
    told: a.told === b.told ? a.told : null,
    queues: a.queues === null || b.queues === null ? null : [...a.queues, ...b.queues],
  }
}

/** The channel on which processes with waiting readers listen. */
export const streamChannel = 'deskwire_stream'

/** Kinds that changed, by organization; null for a change of anything anywhere. */
export type StreamNotification = ReadonlyMap<string, ReadonlySet<string>> | null

/** `organization:kind+kind,…`; nothing when that is too much for one notification. */
function encodeNotification(notification: ReadonlyMap<string, ReadonlySet<string>>): string {
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
