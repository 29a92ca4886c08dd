/** A send whose attempts hang until the test answers them. */
import type { Send } from '../service/src/delivery/queue/attempt.ts'
import { answered } from './engine.ts'
import { eventually } from './eventually.ts'

type Outcome = Awaited<ReturnType<Send>>

interface HeldAttempt {
  readonly url: string
  readonly body: string
  readonly eventId: string
  readonly signature: string
  answer(status: number): void
  fail(code: Extract<Outcome, { kind: 'failed' }>['code']): void
}

export interface HeldSend {
  readonly send: Send
  /** In the order in which they were made. */
  readonly attempts: readonly HeldAttempt[]
  inFlight(): readonly HeldAttempt[]
  /** Waits until so many were made in all, and returns the last. */
  made(count: number): Promise<HeldAttempt>
}

export function heldSend(): HeldSend {
  const attempts: HeldAttempt[] = []
  const hanging = new Set<HeldAttempt>()
  return {
    attempts,
    inFlight: () => [...hanging],
    made: (count) => eventually(`${count} attempts`, () => attempts[count - 1] ?? null),
    send: ({ url, body, headers }) =>
      new Promise((resolve) => {
        const end = (outcome: Outcome) => {
          hanging.delete(attempt)
          resolve(outcome)
        }
        const attempt: HeldAttempt = {
          url,
          body,
          eventId: headers['x-service-event-id'] ?? '',
          signature: headers['x-service-signature'] ?? '',
          answer: (status) => end(answered(status)),
          fail: (code) => end({ kind: 'failed', code, message: code, durationMs: 1 }),
        }
        attempts.push(attempt)
        hanging.add(attempt)
      }),
  }
}
