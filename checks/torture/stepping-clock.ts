/** A clock that is set repeatedly. */
import type { Clock } from '../../packages/service/src/kernel/timestamps.ts'
import { dice } from '../../packages/testbed/load.ts'

/** In milliseconds, between two steps. */
const longest = 2_000

/** How far it may be ahead, in milliseconds. */
export interface Steps {
  readonly seed: number
  /** How far it may be behind or ahead of the machine's clock, in milliseconds. */
  readonly behind: number
  readonly ahead: number
}

/** A third of the time as the machine's; otherwise anywhere between `behind` and `ahead`. */
export function steppingClock({ seed, behind, ahead }: Steps): Clock {
  const roll = dice(seed)
  let offset = 0
  let until = 0
  return {
    now() {
      const real = Date.now()
      if (real >= until) {
        until = real + roll() * longest
        offset = roll() < 0.33 ? 0 : Math.round(roll() * (behind + ahead) - behind)
      }
      return real + offset
    },
  }
}
