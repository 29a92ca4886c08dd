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

/** A 500 at this time, after which it is not sent again. */
export function failed(delivery: ClaimedDelivery, now: number): AttemptResult {
  const made = succeeded(delivery, now)
  const error = { code: 'non_2xx', message: 'The endpoint answered 500.' } as const
  return {
    ...made,
    verdict: { ...made.verdict, status: 'failed', error, counts: 'failure' },
    responseStatus: 500,
  }
}
