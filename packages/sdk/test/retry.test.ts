import { describe, expect, test } from 'vitest'
import { defaultRetries, failureOf, type Method, pauseBefore } from '../src/retry.ts'
import { parseRetryAfter } from '../src/retry-after.ts'
import vectors from '../vectors/retry-after.json' with { type: 'json' }

const policy = { ...defaultRetries, random: () => 1 }
const call = { method: 'GET' as Method, failure: 'unknown' as const, retryAfterMs: undefined }

describe('the pause', () => {
  test('doubles up to its bound and ends with the limit', () => {
    const long = { ...policy, limit: 7 }
    const pauses = Array.from({ length: 8 }, (_, attempt) => pauseBefore(long, attempt, call))
    expect(pauses).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000, undefined])
  })

  test('is a random share of its upper bound', () => {
    expect(pauseBefore({ ...policy, random: () => 0 }, 2, call)).toBe(0)
    expect(pauseBefore({ ...policy, random: () => 0.25 }, 2, call)).toBe(200)
  })

  test('is never shorter than the service asked for, and not taken when that is too long', () => {
    const asking = (retryAfterMs: number) =>
      pauseBefore({ ...policy, random: () => 0.5 }, 0, { ...call, retryAfterMs })
    expect(asking(7_000)).toBe(7_100)
    expect(asking(60_000)).toBe(60_100)
    expect(asking(60_001)).toBeUndefined()
  })
})

test('what may be repeated, for every method and failure', () => {
  const methods: Method[] = ['GET', 'POST', 'PATCH', 'DELETE']
  const allowed = (failure: 'not_begun' | 'unknown' | 'final') =>
    methods.filter((method) => pauseBefore(policy, 0, { ...call, method, failure }) !== undefined)
  expect(allowed('not_begun')).toEqual(['GET', 'POST', 'PATCH', 'DELETE'])
  expect(allowed('unknown')).toEqual(['GET', 'POST'])
  expect(allowed('final')).toEqual([])
})

test('how failures are classed', () => {
  const classed = (code: string, ...statuses: number[]) =>
    statuses.map((status) => failureOf({ status, code }))
  expect(classed('rate_limited', 429)).toEqual(['not_begun'])
  expect(classed('unavailable', 503)).toEqual(['not_begun'])
  expect(classed('request_timeout', 408)).toEqual(['not_begun'])
  expect(new Set(classed('unexpected_answer', 0, 408, 500, 502, 503, 504, 520))).toEqual(new Set(['unknown']))
  expect(new Set(classed('x', 200, 301, 400, 401, 403, 404, 409, 410, 412, 422))).toEqual(new Set(['final']))
})

test('Retry-After is read as the vectors say', () => {
  const now = Date.parse(vectors.now)
  for (const { value, seconds } of vectors.values)
    expect([value, parseRetryAfter(value, now)]).toEqual([
      value,
      seconds === null ? undefined : seconds * 1_000,
    ])
  expect(parseRetryAfter(null, now)).toBeUndefined()
})

test('the default sleep ends with its signal, and refuses one that has ended', async () => {
  const controller = new AbortController()
  const sleeping = defaultRetries.sleep(3_600_000, controller.signal)
  controller.abort(new Error('enough'))
  await expect(sleeping).rejects.toThrow('enough')
  await expect(defaultRetries.sleep(3_600_000, controller.signal)).rejects.toThrow('enough')
  await expect(defaultRetries.sleep(0)).resolves.toBeUndefined()
})
