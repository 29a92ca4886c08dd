/** Results of deliveries without attempts. */
import type { AttemptResult, ClaimedDelivery } from '../service/src/delivery/model.ts'

/** A 200 at this time, in milliseconds since the Unix epoch. */
export function succeeded(delivery: ClaimedDelivery, now: number): AttemptResult {
  return {
    delivery,
    url: 'https://hook.test/',
    verdict: {
      status: 'succeeded',
      attempted: true,
      error: null,
      nextAttemptAt: null,
      counts: 'success',
      disable: null,
    },
    startedAt: now,
    endedAt: now,
    responseStatus: 200,
    responseBody: '',
    durationMs: 1,
    lostHandshake: false,
  }
}
