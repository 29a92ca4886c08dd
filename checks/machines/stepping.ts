/** Loaded before a service: its clock is set again and again. */
import { steppingClock } from '../torture/stepping-clock.ts'

const now = Date.now
const clock = steppingClock({ seed: 1, behind: 3 * 3_600_000, ahead: 120_000 })
let isInside = false
Date.now = () => {
  if (isInside) return now()
  isInside = true
  try {
    return clock.now()
  } finally {
    isInside = false
  }
}
