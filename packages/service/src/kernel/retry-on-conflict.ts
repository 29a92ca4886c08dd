/** Decides again after a write conflict. */
import { setTimeout as delay } from 'node:timers/promises'

/** Attempts before the caller gives up. */
const attempts = 10
/** Maximum length of the first pause in milliseconds; it doubles up to `longestPause`. */
const firstPause = 4
const longestPause = 250

/**
 * Runs `attempt` until it returns a value, at most ten times, with random exponential backoff. Null means a
 * write conflict.
 */
export async function retryOnConflict<A>(attempt: () => Promise<A | null>): Promise<A | null> {
  for (let lost = 0; lost < attempts; lost++) {
    if (lost > 0) await delay(Math.random() * Math.min(longestPause, firstPause * 2 ** (lost - 1)))
    const result = await attempt()
    if (result !== null) return result
  }
  return null
}
