/** Which answers are begun while others of the same route are being made. Without a server, and time is told. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { AnswerRoom, type Making } from '../../src/http/answer-room.ts'
import { ShareExceeded } from '../../src/kernel/budget.ts'

const limits = { total: 1_000, uncounted: 10, large: 50, waitsForFirst: 250 }

function roomWithClock() {
  let now = 0
  const room = new AnswerRoom(limits, () => now)
  const ask = (who = 'a', route = 'GET /v1/tickets') => {
    const asked: { got: Making | ShareExceeded | null; leave: () => void } = { got: null, leave: () => {} }
    asked.leave = room.begin(who, route, (got) => {
      asked.got = got
    })
    return asked
  }
  const made = ({ got }: ReturnType<typeof ask>, bytes: number) => {
    if (got === null || got instanceof ShareExceeded) throw new Error('it was not begun')
    return got.made(bytes)
  }
  return { room, ask, made, pass: (milliseconds: number) => (now += milliseconds) }
}

const begun = (asked: readonly { readonly got: unknown }[]) => asked.filter(({ got }) => got !== null).length

test('one of a route whose size is not known yet; then all, as they are small', () => {
  const { ask, made } = roomWithClock()
  const asked = Array.from({ length: 5 }, () => ask())
  expect(begun(asked)).toBe(1)
  expect(asked[0]?.got).toMatchObject({ isLarge: false, isKnown: false })
  expect(begun([ask('b'), ask('b'), ask('a', 'GET /v1/customers')])).toBe(2)
  made(asked[0] as never, 49)
  expect(begun(asked)).toBe(5)
  expect(begun([ask(), ask(), ask()])).toBe(3)
  expect(ask().got).toMatchObject({ isLarge: false, isKnown: true })
})

test('a slow one whose size is not known holds the next up for a quarter of a second, and two hold up all', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const { ask } = roomWithClock()
  const [slow, gone, next, last] = [ask(), ask(), ask(), ask()]
  gone.leave()
  vi.advanceTimersByTime(249)
  expect(begun([next, last])).toBe(0)
  vi.advanceTimersByTime(1)
  expect(next.got).not.toBeNull()
  vi.advanceTimersByTime(10_000)
  expect(last.got).toBeNull()
  // Of one that failed nothing is known, and who has waited goes on beside the other.
  slow.leave()
  expect(last.got).not.toBeNull()
})

test('one of large ones at a time, for a minute after the last of them', () => {
  const { ask, made, pass } = roomWithClock()
  const first = ask()
  made(first, 50)
  first.leave()
  pass(30_000)
  const small = ask()
  made(small, 1)
  pass(30_000)
  const asked = [ask(), ask(), ask()]
  expect(begun(asked)).toBe(1)
  expect(asked[0]?.got).toMatchObject({ isLarge: true })
  pass(1)
  made(asked[0] as never, 1)
  expect(begun(asked)).toBe(3)
  expect(begun([ask(), ask()])).toBe(2)
})

test('what waits for news is not being made, and what nobody waits for is not begun', () => {
  const { room, ask } = roomWithClock()
  const [first, second, third, fourth] = [ask(), ask(), ask(), ask()]
  third.leave()
  const { got } = first
  if (got === null || got instanceof ShareExceeded) throw new Error('it was not begun')
  got.waits()
  expect(begun([third, fourth])).toBe(1)
  expect(fourth.got).not.toBeNull()
  second.leave()
  expect(got.made(400)).toBeNull()
  expect(room.held).toBe(400)
  first.leave()
  first.leave()
  expect(room.held).toBe(0)
})

test('while others hold much, whoever holds nothing is asked for nothing beforehand', () => {
  const { ask, made } = roomWithClock()
  const first = ask()
  made(first, 300)
  expect(made(ask('b'), 300)).toBeNull()
  // Another as large would be more than is left, for both.
  expect(ask().got).toBeInstanceOf(ShareExceeded)
  first.leave()
  expect(ask().got).not.toBeInstanceOf(ShareExceeded)
})
