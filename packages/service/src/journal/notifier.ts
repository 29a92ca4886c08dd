/**
 * Tells the workers that something is due: at once, and then at most once in ten milliseconds a process. Sent after
 * the commit and beside it, as NOTIFY within each write takes half of the writes per second away.
 */
import type { Pool } from 'pg'

/** The channel on which workers listen. */
export const deliveriesChannel = 'deskwire_deliveries'

/** Milliseconds. */
const atMostEvery = 10

/** A function that notifies; losing a notification delays a delivery until the workers' next poll, and no more. */
export function createNotifier(pool: Pool, onError: (error: Error) => void): () => void {
  let quiet = false
  let again = false

  function send(): void {
    pool.query(`select pg_notify('${deliveriesChannel}', '')`).catch(onError)
    quiet = true
    setTimeout(() => {
      quiet = false
      if (!again) return
      again = false
      send()
    }, atMostEvery)
  }

  return () => {
    if (quiet) again = true
    else send()
  }
}
