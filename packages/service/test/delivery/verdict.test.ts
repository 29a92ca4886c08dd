import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Verdict } from '../../src/delivery/model.ts'
import {
  type AttemptOutcome,
  type DeliveryState,
  decide,
  foldHealth,
  hasFailedTooLong,
  noChange,
} from '../../src/delivery/verdict.ts'

const delays = [60_000, 300_000, 1_800_000, 7_200_000, 28_800_000]
const now = Date.parse('2026-03-01T12:00:00.000Z')
const first: DeliveryState = { attemptCount: 0, attemptsBefore: 0, maxAttempts: 6, isControl: false }

const answered = (status: number): AttemptOutcome => ({
  kind: 'answered',
  status,
  responseBody: 'x',
  durationMs: 1,
})
const failedAttempt = (
  code: 'timeout' | 'connection_failed' | 'tls_error' | 'resolver_failed' | 'address_not_public',
): AttemptOutcome => ({ kind: 'failed', code, message: `because ${code}`, durationMs: 1 })
const unanswered = (kind: 'subject_unavailable' | 'endpoint_disabled' | 'worker_lost'): AttemptOutcome => ({
  kind,
  message: `because ${kind}`,
})

const success = {
  status: 'succeeded',
  attempted: true,
  nextAttemptAt: null,
  counts: 'success',
  disable: null,
}
const again = {
  status: 'pending',
  attempted: true,
  nextAttemptAt: now + 60_000,
  counts: 'failure',
  disable: null,
}
const never = { status: 'failed', attempted: false, nextAttemptAt: null, counts: 'nothing', disable: null }

/** Every outcome of a first attempt: its error code and the rest of its verdict. */
const outcomes: readonly (readonly [AttemptOutcome, string | null, Omit<Verdict, 'error'>])[] = [
  ...[200, 201, 202, 204, 226, 299].map((status) => [answered(status), null, success] as const),
  ...[300, 301, 302, 303, 304, 307, 308, 399].map((status) => [answered(status), 'redirect', again] as const),
  ...[400, 401, 404, 408, 410, 429, 499, 500, 502, 503, 599, 999].map(
    (status) => [answered(status), 'non_2xx', again] as const,
  ),
  ...(['timeout', 'connection_failed', 'tls_error', 'resolver_failed'] as const).map(
    (code) => [failedAttempt(code), code, again] as const,
  ),
  [
    failedAttempt('address_not_public'),
    'address_not_public',
    {
      status: 'failed',
      attempted: true,
      nextAttemptAt: null,
      counts: 'failure',
      disable: 'address_not_public',
    },
  ],
  [unanswered('subject_unavailable'), 'subject_unavailable', never],
  [unanswered('endpoint_disabled'), 'endpoint_disabled', never],
  [unanswered('worker_lost'), 'worker_lost', { ...again, counts: 'nothing' }],
].map((row) => row as [AttemptOutcome, string | null, Omit<Verdict, 'error'>])

const title = (outcome: AttemptOutcome) =>
  outcome.kind === 'answered'
    ? String(outcome.status)
    : outcome.kind === 'failed'
      ? outcome.code
      : outcome.kind

describe.each(outcomes.map((row) => [title(row[0]), ...row] as const))(
  '%s',
  (_title, outcome, code, rest) => {
    test('at the first attempt', () => {
      const { error, ...verdict } = decide(first, outcome, now, { delays, random: 0 })
      expect(verdict).toEqual(rest)
      expect(error?.code ?? null).toBe(code)
      if (outcome.kind === 'answered' && error !== null)
        expect(error.message).toContain(String(outcome.status))
      else if (error !== null) expect(error.message).toBe(`because ${code}`)
    })

    test('at the last attempt there is no next one', () => {
      const verdict = decide({ ...first, attemptCount: 5 }, outcome, now, { delays, random: 0 })
      const status = rest.status === 'pending' ? 'failed' : rest.status
      expect(verdict).toMatchObject({ ...rest, status, nextAttemptAt: null })
    })

    test('of a ping: one attempt, and it never counts', () => {
      const verdict = decide({ ...first, maxAttempts: 1, isControl: true }, outcome, now, {
        delays,
        random: 0,
      })
      const status = rest.status === 'pending' ? 'failed' : rest.status
      expect(verdict).toMatchObject({ ...rest, status, nextAttemptAt: null, counts: 'nothing' })
    })
  },
)

test('the delays of the automatic schedule, and of every manual one after it, are those of the specification', () => {
  const waits = (from: number) =>
    [0, 1, 2, 3, 4, 5].map((n) => {
      const delivery = {
        attemptCount: from + n,
        attemptsBefore: from,
        maxAttempts: from + 6,
        isControl: false,
      }
      const { nextAttemptAt } = decide(delivery, answered(500), now, { delays, random: 0 })
      return nextAttemptAt === null ? null : (nextAttemptAt - now) / 60_000
    })
  for (const from of [0, 6, 12, 1, 3, 7]) expect(waits(from)).toEqual([1, 5, 30, 120, 480, null])
})

test('without delays there is one attempt', () => {
  expect(decide({ ...first, maxAttempts: 1 }, answered(500), now, { delays: [], random: 0 })).toMatchObject({
    status: 'failed',
  })
})

test('fewer or more delays than when the delivery was made: still an end, and delays that are set, or up to 5 % more', () => {
  const states = fc
    .record({
      made: fc.nat({ max: 30 }),
      attemptsBefore: fc.nat({ max: 30 }),
      attempts: fc.integer({ min: 1, max: 30 }),
      isControl: fc.boolean(),
    })
    .map(({ made, attemptsBefore, attempts, isControl }) => ({
      attemptCount: attemptsBefore + made,
      attemptsBefore,
      maxAttempts: attemptsBefore + attempts,
      isControl,
    }))
  const settings = fc.array(fc.integer({ min: 1, max: 1e8 }), { maxLength: 8 })
  fc.assert(
    fc.property(
      states,
      fc.constantFrom(...outcomes),
      settings,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (state, [outcome], set, random) => {
        const verdict = decide(state, outcome, now, { delays: set, random })
        expect(verdict.nextAttemptAt !== null).toBe(verdict.status === 'pending')
        expect(verdict.error === null).toBe(verdict.status === 'succeeded')
        expect(verdict.disable !== null).toBe(verdict.error?.code === 'address_not_public')
        if (verdict.nextAttemptAt !== null) {
          expect(state.attemptCount + 1).toBeLessThan(state.maxAttempts)
          const delay = set[state.attemptCount - state.attemptsBefore] ?? set.at(-1) ?? 0
          expect(verdict.nextAttemptAt - now).toBeGreaterThanOrEqual(delay)
          expect(verdict.nextAttemptAt - now).toBeLessThanOrEqual(delay * (1 + 0.05 * random) + 1)
        }
        if (state.isControl || !verdict.attempted) expect(verdict.counts).toBe('nothing')
      },
    ),
  )
})

describe('health', () => {
  const verdicts = fc.array(fc.constantFrom('success', 'failure', 'nothing'), { maxLength: 30 })
  const fold = (counts: readonly string[], start = now) =>
    counts.reduce((change, one, n) => foldHealth(change, { counts: one } as Verdict, start + n), noChange)

  test('is what happened since the last success, and what counts nothing changes nothing', () => {
    fc.assert(
      fc.property(verdicts, (counts) => {
        const last = counts.lastIndexOf('success')
        const since = counts.map((one, n) => ({ one, n })).slice(last + 1)
        const failures = since.filter(({ one }) => one === 'failure')
        expect(fold(counts)).toEqual({
          succeededAt: last === -1 ? null : now + last,
          failures: failures.length,
          failedAt: failures.length === 0 ? null : now + failures[0]!.n,
        })
      }),
    )
  })

  test('an endpoint has failed too long from the very millisecond on', () => {
    const threeDays = 72 * 3_600_000
    expect(hasFailedTooLong(null, now, threeDays)).toBe(false)
    expect(hasFailedTooLong(now - threeDays + 1, now, threeDays)).toBe(false)
    expect(hasFailedTooLong(now - threeDays, now, threeDays)).toBe(true)
    expect(hasFailedTooLong(now + 5, now, threeDays)).toBe(false)
  })

  test('and the longer it fails the truer it is', () => {
    const times = fc.nat({ max: 1e12 })
    fc.assert(
      fc.property(times, times, times, times, (since, at, later, after) => {
        if (hasFailedTooLong(since, at, after)) expect(hasFailedTooLong(since, at + later, after)).toBe(true)
      }),
    )
  })
})
