import { setTimeout as delay } from 'node:timers/promises'

const attempts = 10
/** Upper limit of the first random pause, in milliseconds. It doubles up to `longestPause`. */
const firstPause = 4
const longestPause = 250

/** Runs `attempt` until it returns a value, at most ten times, with random exponential backoff; null: conflict. */
export async function retryOnConflict<A>(attempt: () => Promise<A | null>): Promise<A | null> {
  for (let lost = 0; lost < attempts; lost++) {
    if (lost > 0) await delay(Math.random() * Math.min(longestPause, firstPause * 2 ** (lost - 1)))
    const result = await attempt()
    if (result !== null) return result
  }
  return null
}
