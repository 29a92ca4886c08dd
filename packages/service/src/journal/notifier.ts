/**
 * Notifies other processes of commits: workers of queues that are due, processes with waiting readers of kinds that changed. Sent
 * after the commit, as NOTIFY within each write halves the writes per second. A lost notification delays a delivery or a reader until the next
 * poll.
 *
 * The worker next to this process is notified over its own channel, half a millisecond sooner. It recognizes its id in the
 * notification and ignores it.
 */
import type { Pool } from 'pg'
import { stopwatch } from '../kernel/timestamps.ts'

/** An endpoint queue that a commit has made due: its row of `lanes`, and the `tier` of that. */
interface WokenQueue {
  readonly organizationId: string
  readonly webhookId: string
  readonly tier: number
}

/** The endpoint queues that a commit has made due. */
export interface DueQueues {
  /** Since when, in milliseconds since the Unix epoch. A worker whose clock is a little behind finds them due only then. */
  readonly at: number
  /** Without those that a worker has leased, which looks again before it releases them. */
  readonly queues: readonly WokenQueue[]
}

/** Notifies the worker next to this process of queues that are due, and returns its id; null when it could not be notified. */
export type NotifyWorker = (due: DueQueues) => string | null

/** The channel on which workers listen. */
export const deliveriesChannel = 'deskwire_deliveries'
/** The payload for a large commit, whose deliveries workers create. */
export const largeCommit = 'large'

/** The payload when deliveries are due. */
interface DeliveriesNotification {
  /** When the last of them is due, in milliseconds since the Unix epoch; 0 when they are due already, or it is not known. */
  readonly at: number
  /** The worker that was notified of all of them; null when none was. */
  readonly notified: string | null
  /** Null when they are not known, or too many for a notification. */
  readonly queues: readonly WokenQueue[] | null
}

/** A notification of PostgreSQL has less than 8,000 bytes. */
const payloadLimit = 7_900
/** A queue takes two ids, its tier, and separators. */
const queuesANotification = Math.floor((payloadLimit - 100) / (2 * 36 + 4))

/** `due AT WORKER QUEUE,…`, with `-` for no worker, and `organization:endpoint:tier` for a queue. */
export function encodeDeliveries({ at, notified, queues }: DeliveriesNotification): string {
  const words = ['due', String(at), notified ?? '-']
  if (queues !== null && queues.length <= queuesANotification)
    words.push(
      queues.map(({ organizationId, webhookId, tier }) => `${organizationId}:${webhookId}:${tier}`).join(','),
    )
  return words.join(' ')
}

/** Decodes a notification; one that cannot be read may be about anything. */
export function decodeDeliveries(payload: string): DeliveriesNotification {
  const [what, at, notified, queues] = payload.split(' ')
  if (what !== 'due') return { at: 0, notified: null, queues: null }
  return {
    at: Number(at),
    notified: notified === '-' ? null : (notified ?? null),
    queues: decodeQueues(queues),
  }
}

function decodeQueues(text: string | undefined): readonly WokenQueue[] | null {
  if (text === undefined) return null
  return text.split(',').map((queue) => {
    const [organizationId = '', webhookId = '', tier] = queue.split(':')
    return { organizationId, webhookId, tier: Number(tier) }
  })
}

/**
 * A process sends at most one notification in so many milliseconds, and up to five at once: with a gap between any two, half of the
 * notifications were late at a hundred commits a second.
 */
const interval = 10
const burst = 5

export interface Notifier {
  /** Deliveries are due, in these queues. */
  deliveries(due?: DueQueues): void
  /** Workers have deliveries to create; others may be due. */
  largeCommit(): void
  /** Kinds of an organization have changed. */
  changes(organizationId: string, kinds: Iterable<string>): void
}

export function createNotifier(
  pool: Pool,
  onError: (error: Error) => void,
  notifyWorker: NotifyWorker | null = null,
): Notifier {
  const elapsed = stopwatch()
  let due: DeliveriesNotification | null = null
  let large = false
  let changed = new Map<string, Set<string>>()
  /** A notification is planned, and collects what comes until it is sent. */
  let planned = false
  /** When the next may be sent, were there no bursts. */
  let paidAt = 0

  function plan(): void {
    if (planned) return
    planned = true
    const wait = paidAt - elapsed() - (burst - 1) * interval
    // A commit calls several functions: they go together.
    if (wait <= 0) queueMicrotask(send)
    else setTimeout(send, wait)
  }

  function send(): void {
    paidAt = Math.max(paidAt, elapsed()) + interval
    // It need not reach the disk, as a crash of the server ends every listener.
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
      // The workers that have leased the queues look again.
      if (made?.queues.length === 0) return
      const notified = (made !== undefined && notifyWorker?.(made)) || null
      const own = { at: made?.at ?? 0, notified, queues: made?.queues ?? null }
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

/** One notification instead of two. */
function together(a: DeliveriesNotification, b: DeliveriesNotification): DeliveriesNotification {
  return {
    at: Math.max(a.at, b.at),
    notified: a.notified === b.notified ? a.notified : null,
    queues: a.queues === null || b.queues === null ? null : [...a.queues, ...b.queues],
  }
}

/** The channel on which processes with waiting readers listen. */
export const streamChannel = 'deskwire_stream'

/** Kinds that changed, by organization; null when anything may have changed. */
export type StreamNotification = ReadonlyMap<string, ReadonlySet<string>> | null

/** `organization:kind+kind,…`; empty when that is too long for a notification. */
function encodeNotification(notification: ReadonlyMap<string, ReadonlySet<string>>): string {
  const text = [...notification]
    .map(([organization, kinds]) => `${organization}:${[...kinds].join('+')}`)
    .join(',')
  return text.length > payloadLimit ? '' : text
}

/** Decodes a notification; an empty one may be about anything. */
export function decodeNotification(payload: string): StreamNotification {
  if (payload === '') return null
  return new Map(
    payload.split(',').map((part) => {
      const [organization = '', kinds = ''] = part.split(':')
      return [organization, new Set(kinds.split('+'))]
    }),
  )
}
