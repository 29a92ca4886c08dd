/** A clock that is set again and again, as no machine's should be. */
import type { Clock } from '../../packages/service/src/kernel/timestamps.ts'
import { dice } from '../../packages/testbed/load.ts'

/** How long it goes on undisturbed at most, in milliseconds. */
const longest = 2_000

/** Of this many milliseconds it may be ahead. */
export interface Steps {
  readonly seed: number
  /** How far it may be behind the machine's clock, and ahead of it, in milliseconds. */
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
