/**
 * Notifies of commits: workers of due queues, and processes with waiting readers, this one too, of changed kinds and
 * types of events. It does so after the commit, as a NOTIFY within each write halves the writes per second. A lost
 * notification costs time until the next poll.
 *
 * The worker that this process has started is notified over IPC, half a millisecond sooner, and ignores notifications
 * that name it.
 */
import type { Pool } from 'pg'
import { stopwatch } from '../kernel/timestamps.ts'

/** An endpoint queue that has something due: its row of `endpoint_queues`, with its `priority`. */
interface WokenQueue {
  readonly organizationId: string
  readonly webhookId: string
  readonly priority: number
  /** The worker that holds it; null: none. */
  readonly worker: string | null
}

export interface DueQueues {
  /** In milliseconds since the Unix epoch. A worker whose clock is behind finds the queues due only then. */
  readonly at: number
  readonly queues: readonly WokenQueue[]
}

/** Notifies the worker that this process has started. Returns its id; null when it could not be notified. */
export type NotifyWorker = (due: DueQueues) => string | null

export const deliveriesChannel = 'deskwire_deliveries'
/** The payload after a large commit, whose deliveries workers create. */
export const largeCommit = 'large'

interface DeliveriesNotification {
  /** When the last queue is due, in milliseconds since the Unix epoch; 0: already, or not known. */
  readonly at: number
  /** The worker that was notified of all of them over IPC; null: none. */
  readonly notified: string | null
  /** Null: not known. */
  readonly queues: readonly WokenQueue[] | null
}

/** PostgreSQL's limit for a payload is 8,000 bytes. */
const payloadLimit = 7_900
const queuesANotification: number = Math.floor((payloadLimit - 100) / (3 * 36 + 5))

/**
 * Payloads, each with as many queues as it can hold: `due AT WORKER QUEUE,…`, with `-` for no worker, and
 * `organization:endpoint:priority:holder` for a queue.
 */
export function encodeDeliveries({ at, notified, queues }: DeliveriesNotification): readonly string[] {
  const head = `due ${at} ${notified ?? '-'}`
  if (queues === null) return [head]
  const texts = queues.map(
    ({ organizationId, webhookId, priority, worker }) =>
      `${organizationId}:${webhookId}:${priority}:${worker ?? ''}`,
  )
  return Array.from(
    { length: Math.ceil(texts.length / queuesANotification) },
    (_, n) => `${head} ${texts.slice(n * queuesANotification, (n + 1) * queuesANotification).join(',')}`,
  )
}

/** A payload of another form may be about anything. */
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
    const [organizationId = '', webhookId = '', priority, worker = ''] = queue.split(':')
    return { organizationId, webhookId, priority: Number(priority), worker: worker === '' ? null : worker }
  })
}

/** Milliseconds per notification on average, in bursts of five: with a fixed gap, half of them were late. */
const interval = 10
const burst = 5

export interface Notifier {
  deliveries(due?: DueQueues): void
  /** Workers have deliveries to create; others may be due. */
  largeCommit(): void
  /** `topics`: kinds that changed, and types of events. */
  changes(organizationId: string, topics: Iterable<string>): void
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
  /** A notification is scheduled, and collects what is reported until it is sent. */
  let planned = false
  /** When the next may be sent if there were no bursts. */
  let paidAt = 0

  function plan(): void {
    if (planned) return
    planned = true
    const wait = paidAt - elapsed() - (burst - 1) * interval
    // One commit calls several of these functions: one notification carries all.
    if (wait <= 0) queueMicrotask(send)
    else setTimeout(send, wait)
  }

  function send(): void {
    paidAt = Math.max(paidAt, elapsed()) + interval
    // It need not reach the disk, as a crash of the server disconnects every listener.
    const text = `select set_config('synchronous_commit', 'off', true),
        (select count(pg_notify('${deliveriesChannel}', p.payload)) from unnest($1::text[]) as p(payload)),
        case when $2::text is not null then pg_notify('${streamChannel}', $2) end`
    const notification = changed.size === 0 ? null : encodeNotification(changed)
    const deliveries = large ? [largeCommit] : due === null ? [] : encodeDeliveries(due)
    pool.query({ name: 'announce', text, values: [deliveries, notification] }).catch(onError)
    planned = false
    due = null
    large = false
    changed = new Map()
  }

  return {
    deliveries(created) {
      if (created?.queues.length === 0) return
      const notified = (created !== undefined && notifyWorker?.(created)) || null
      const own = { at: created?.at ?? 0, notified, queues: created?.queues ?? null }
      due = due === null ? own : together(due, own)
      plan()
    },
    largeCommit() {
      large = true
      plan()
    },
    changes(organizationId, topics) {
      const known = changed.get(organizationId) ?? new Set()
      for (const topic of topics) known.add(topic)
      changed.set(organizationId, known)
      plan()
    },
  }
}

function together(a: DeliveriesNotification, b: DeliveriesNotification): DeliveriesNotification {
  return {
    at: Math.max(a.at, b.at),
    notified: a.notified === b.notified ? a.notified : null,
    queues: a.queues === null || b.queues === null ? null : [...a.queues, ...b.queues],
  }
}

export const streamChannel = 'deskwire_stream'

/** Kinds that changed and types of events, by organization; null: anything may have changed. */
export type StreamNotification = ReadonlyMap<string, ReadonlySet<string>> | null

/** `organization:topic+topic,…`; empty when that is too long. */
function encodeNotification(notification: ReadonlyMap<string, ReadonlySet<string>>): string {
  const text = [...notification]
    .map(([organization, topics]) => `${organization}:${[...topics].join('+')}`)
    .join(',')
  return text.length > payloadLimit ? '' : text
}

/** An empty payload may be about anything. */
export function decodeNotification(payload: string): StreamNotification {
  if (payload === '') return null
  return new Map(
    payload.split(',').map((part) => {
      const [organization = '', topics = ''] = part.split(':')
      return [organization, new Set(topics.split('+'))]
    }),
  )
}
