/** The room that requests of others are left: who leaves it, how much, and that it goes by what is measured. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RoomForOthers, roomElsewhere, roomTuning } from '../../src/kernel/room-for-others.ts'

const {
  adjustEvery,
  forgetAfter,
  lateFrom,
  othersFor,
  rateAtFirst,
  rateAtLeast,
  restOfLargeAtMost,
  restAtMost,
} = roomTuning

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Room by a lateness that the test says. */
function roomWhile(lateness: number | null) {
  const measured = { lateness, isOn: false }
  const room = new RoomForOthers(roomTuning, () => performance.now(), {
    read: () => measured.lateness,
    begin() {
      measured.isOn = true
    },
    end() {
      measured.isOn = false
    },
  })
  return { room, measured }
}

/** What rests so long after a millisecond of work has this part of the time. */
const partOf = (rest: number) => 1 / (1 + rest)

test('work rests while others have requests, and for a moment longer; whoever is alone does not', () => {
  const { room } = roomWhile(lateFrom + 1)
  room.note('busy')
  expect(room.restAfter('busy', 10)).toBe(0)
  room.note('other')
  expect(partOf(room.restAfter('busy', 1))).toBeCloseTo(rateAtFirst)
  // Its own requests meanwhile hide no other's.
  room.note('busy')
  vi.advanceTimersByTime(othersFor)
  expect(room.restAfter('busy', 10)).toBeGreaterThan(0)
  vi.advanceTimersByTime(1)
  expect(room.restAfter('busy', 10)).toBe(0)
})

test('late timers leave work less of the time, down to what it has at least; prompt ones give it all back', () => {
  const { room, measured } = roomWhile(lateFrom + 1)
  const partAfter = (milliseconds: number) => {
    for (let past = 0; past < milliseconds; past += adjustEvery) {
      room.note('other')
      room.restAfter('busy', 1)
      vi.advanceTimersByTime(adjustEvery)
    }
    room.note('other')
    return partOf(room.restAfter('busy', 1))
  }
  room.note('other')
  // Nothing was found to be late yet.
  expect(room.restAfterLarge('busy', 1_000)).toBe(restAtMost)
  expect(partAfter(adjustEvery)).toBeLessThan(rateAtFirst)
  expect(partAfter(10_000)).toBeCloseTo(rateAtLeast)
  expect([room.restAfter('busy', 1_000), room.restAfterLarge('busy', 1_000)]).toEqual([
    restAtMost,
    restOfLargeAtMost,
  ])
  measured.lateness = 0
  expect(partAfter(adjustEvery)).toBeGreaterThan(rateAtLeast)
  expect(partAfter(20_000)).toBeCloseTo(1)
})

test('another thread is told its part while it works beside others, and nothing is measured once all is done', () => {
  const { room, measured } = roomWhile(lateFrom + 1)
  const rest = () => roomElsewhere(room.partElsewhere).restAfter('busy', 1)
  room.note('other')
  expect(rest()).toBe(0)
  room.beginElsewhere('busy')
  room.beginElsewhere('busy')
  expect([partOf(rest()), measured.isOn]).toEqual([expect.closeTo(rateAtFirst), true])
  room.endElsewhere('busy')
  vi.advanceTimersByTime(adjustEvery)
  expect(partOf(rest())).toBeLessThan(rateAtFirst)
  // Who comes while it works is left room from the next look on, and no longer than there is somebody.
  vi.advanceTimersByTime(othersFor)
  expect(rest()).toBe(0)
  room.note('other')
  vi.advanceTimersByTime(adjustEvery)
  expect(rest()).toBeGreaterThan(0)
  room.endElsewhere('busy')
  expect(rest()).toBe(0)
  vi.advanceTimersByTime(forgetAfter + adjustEvery)
  expect(measured.isOn).toBe(false)
})
