/** Waiting for a condition: what tests do in the place of sleeping. */
import { setTimeout as delay } from 'node:timers/promises'

/** Far longer than anything takes, on a machine that has much else to do; ms. */
const patience = 120_000

/** Polls until the condition holds. Fails when it does not come true. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | null | false> | T | null | false,
): Promise<T> {
  const deadline = performance.now() + patience
  for (;;) {
    const since = performance.now()
    const found = await look()
    if (found !== null && found !== false) return found
    const now = performance.now()
    if (now > deadline) throw new Error(`not within ${patience} ms: ${what}`)
    // A look at all processes takes a while, and would take a core from what it waits for.
    await delay(Math.min(Math.max(5, 4 * (now - since)), 50))
  }
}
