/** Says in time that an endpoint is about to be disabled for failing: at half of the time that it has, and at three quarters. */
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { LaneKey } from './lanes.ts'

const stages = [0.75, 0.5] as const

/** The part of its time that an endpoint has been failing for, as far as it is worth a warning; null before. Milliseconds. */
export function alarmStage(failingSince: number | null, now: number, disableAfter: number): number | null {
  if (failingSince === null) return null
  return stages.find((part) => now - failingSince >= part * disableAfter) ?? null
}

/** Endpoints that were warned of: beyond, the oldest may be warned of again. */
const remembered = 10_000

export interface Warning {
  readonly failingSince: string
  readonly disabledFrom: string
}

/** Decides whether a warning is due, once a stage for each time that an endpoint fails. Each worker has one. */
export class Alarm {
  readonly #last = new Map<string, string>()

  /** Null when there is nothing new to say. Times in milliseconds. */
  warning(lane: LaneKey, failingSince: number | null, now: number, disableAfter: number): Warning | null {
    const key = `${lane.organizationId} ${lane.webhookId}`
    const stage = alarmStage(failingSince, now, disableAfter)
    if (stage === null || failingSince === null) return null
    const said = `${failingSince} ${stage}`
    if (this.#last.get(key) === said) return null
    this.#last.delete(key)
    this.#last.set(key, said)
    for (const oldest of this.#last.keys()) {
      if (this.#last.size <= remembered) break
      this.#last.delete(oldest)
    }
    return {
      failingSince: formatTimestamp(failingSince),
      disabledFrom: formatTimestamp(failingSince + disableAfter),
    }
  }
}
