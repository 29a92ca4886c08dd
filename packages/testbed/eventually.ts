/** Waits for a condition, instead of sleeping. */
import { setTimeout as delay } from 'node:timers/promises'

/** In milliseconds; far longer than anything takes on a busy machine. */
const patience = 120_000

/**
 * Polls until the condition holds, or fails. `isBrief`: it may hold for some tenths of a second only, so it is polled
 * often.
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | null | false> | T | null | false,
  { isBrief = false } = {},
): Promise<T> {
  const begun = performance.now()
  for (;;) {
    const since = performance.now()
    const found = await look()
    if (found !== null && found !== false) return found
    const now = performance.now()
    if (now - begun > patience) throw new Error(`not within ${patience} ms: ${what}`)
    // Expensive conditions are polled less often, so that they do not slow what they wait for, and slow ones, as
    // nobody notices.
    await delay(isBrief ? 5 : Math.min(Math.max(5, 8 * (now - since), (now - begun) / 16), 400))
  }
}
