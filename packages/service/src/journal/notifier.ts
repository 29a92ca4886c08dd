/**
 * Tells other processes of commits: workers, that deliveries are due; those with waiting readers, what has changed. Sent
 * after the commit and beside it, as NOTIFY within each write takes half of the writes per second away. It is a hint, and
 * losing one delays a delivery or a reader until the next poll.
 */
import type { Pool } from 'pg'
import { stopwatch } from '../kernel/timestamps.ts'

/** The channel on which workers listen. */
export const deliveriesChannel = 'deskwire_deliveries'
/** What is said there when deliveries are not only due but to be made: a large commit leaves that to workers. */
export const largeCommit = 'large'

/**
 * At once, and for long no more than one in ten milliseconds a process. Five may come closer together, as commits of an
 * even load do: a gap enforced between any two held back half of the notifications at a hundred commits a second.
 */
const apart = 10
const together = 5

export interface Notifier {
  /** Deliveries are due. */
  deliveries(): void
  /** A commit has left deliveries to be made; others may be due. */
  largeCommit(): void
  /** Kinds of an organization have changed. */
  changes(organizationId: string, kinds: Iterable<string>): void
}

export function createNotifier(pool: Pool, onError: (error: Error) => void): Notifier {
  const elapsed = stopwatch()
  let due = false
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
        case when $1 then pg_notify('${deliveriesChannel}', $3) end,
        case when $2::text is not null then pg_notify('${streamChannel}', $2) end`
    const notification = changed.size === 0 ? null : encodeNotification(changed)
    pool
      .query({ name: 'announce', text, values: [due, notification, large ? largeCommit : ''] })
      .catch(onError)
    planned = false
    due = false
    large = false
    changed = new Map()
  }

  return {
    deliveries() {
      due = true
      plan()
    },
    largeCommit() {
      due = true
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
