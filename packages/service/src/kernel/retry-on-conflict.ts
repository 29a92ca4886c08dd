/** Tries a decision again when another writer was quicker. */
import { setTimeout as delay } from 'node:timers/promises'

/** Others may be quicker this often before the caller is told to try again. */
const attempts = 10
/** Milliseconds that the first pause lasts at most; the next ones twice as long each, up to the longest. */
const firstPause = 4
const longestPause = 250

/**
 * What `attempt` comes to, which answers null when another writer was quicker: it is made again then, on what is stored by
 * then. Null when others were quicker each time. Between the attempts it waits, longer each time and as long as chance has it:
 * writers that all want one row would else be in each other's way until one of them gives up.
 */
export async function retryOnConflict<A>(attempt: () => Promise<A | null>): Promise<A | null> {
  for (let lost = 0; lost < attempts; lost++) {
    if (lost > 0) await delay(Math.random() * Math.min(longestPause, firstPause * 2 ** (lost - 1)))
    const result = await attempt()
    if (result !== null) return result
  }
  return null
}
