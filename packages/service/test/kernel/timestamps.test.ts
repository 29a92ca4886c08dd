import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatTimestamp, parseTimestamp } from '../../src/kernel/timestamps.ts'

const reads: readonly (readonly [text: string, same: string])[] = [
  ['2026-01-31T09:30:00Z', '2026-01-31T09:30:00.000Z'],
  ['2026-01-31t09:30:00z', '2026-01-31T09:30:00.000Z'],
  ['2026-01-31T09:30:00.5Z', '2026-01-31T09:30:00.500Z'],
  ['2026-01-31T09:30:00+02:00', '2026-01-31T07:30:00.000Z'],
  ['2026-01-31T23:30:00-05:30', '2026-02-01T05:00:00.000Z'],
  ['2026-01-31T09:30:00-00:00', '2026-01-31T09:30:00.000Z'],
  ['2026-01-31T09:30:00+23:59', '2026-01-30T09:31:00.000Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ['0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
]

const refused: readonly (readonly [text: string, why: string])[] = [
  ['2026-02-30T00:00:00Z', 'a day that February does not have'],
  ['2025-02-29T00:00:00Z', 'a leap day in a common year'],
  ['2026-04-31T00:00:00Z', 'a day that April does not have'],
  ['2026-13-01T00:00:00Z', 'month 13'],
  ['2026-00-01T00:00:00Z', 'month 0'],
  ['2026-01-00T00:00:00Z', 'day 0'],
  ['2026-01-01T24:00:00Z', 'hour 24'],
  ['2026-01-01T00:60:00Z', 'minute 60'],
  ['2016-12-31T23:59:60Z', 'a leap second, which no layer below can hold'],
  ['2026-01-01T00:00:00', 'no offset'],
  ['2026-01-01T00:00:00+0200', 'an offset without a colon'],
  ['2026-01-01T00:00:00+24:00', 'an offset of a whole day'],
  ['2026-01-01T00:00:00+02:60', 'an offset with 60 minutes'],
  ['2026-01-01T00:00:00 02:00', 'a plus sign that became a space'],
  ['2026-01-01 00:00:00Z', 'a space for the T'],
  ['2026-01-01T00:00Z', 'no seconds'],
  ['2026-01-01', 'a date alone'],
  ['2026-01-01T00:00:00.Z', 'a point without decimals'],
  ['1767225600', 'seconds since the epoch'],
  ['0000-12-31T23:59:59Z', 'the year 0'],
  ['0001-01-01T00:00:00+00:01', 'before the year 1 in UTC'],
  ['9999-12-31T23:59:59-00:01', 'after the year 9999 in UTC'],
  ['+010000-01-01T00:00:00Z', 'a year of five digits'],
  ['2026-01-01T00:00:00Z\n', 'a line break at the end'],
  [' 2026-01-01T00:00:00Z', 'a space before it'],
  ['２026-01-01T00:00:00Z', 'a digit that is not ASCII'],
  ['', 'nothing'],
]

describe('parseTimestamp', () => {
  test.each(reads)('reads %s as %s', (text, same) => {
    expect(parseTimestamp(text)).toBe(Date.parse(same))
  })

  test.each(refused)('refuses %j: %s', (text) => {
    expect(parseTimestamp(text)).toBeNull()
  })

  test.each([
    ['2026-01-01T00:00:00.9999999999Z', '2026-01-01T00:00:00.999Z'],
    ['2026-01-01T00:00:00.0009Z', '2026-01-01T00:00:00.000Z'],
    // Down is towards the past, before 1970 too.
    ['1969-12-31T23:59:59.9999Z', '1969-12-31T23:59:59.999Z'],
  ])('rounds %s down to %s', (text, same) => {
    expect(parseTimestamp(text)).toBe(Date.parse(same))
  })

  test('a time is the same whatever offset it is written with', () => {
    const offset = fc.integer({ min: -(23 * 60 + 59), max: 23 * 60 + 59 })
    const day = 86_400_000
    const instant = fc.integer({
      min: Date.parse('0001-01-01T00:00:00Z') + day,
      max: Date.parse('9999-12-31T23:59:59.999Z') - day,
    })
    fc.assert(
      fc.property(instant, offset, (at, minutes) => {
        const wall = new Date(at + minutes * 60_000).toISOString().slice(0, -1)
        const size = Math.abs(minutes)
        const clock = [Math.floor(size / 60), size % 60]
          .map((part) => String(part).padStart(2, '0'))
          .join(':')
        expect(parseTimestamp(`${wall}${minutes < 0 ? '-' : '+'}${clock}`)).toBe(at)
      }),
    )
  })
})

describe('formatTimestamp', () => {
  test('has exactly three decimals and Z', () => {
    expect(formatTimestamp(0)).toBe('1970-01-01T00:00:00.000Z')
  })

  test('what it writes is read back as the same time', () => {
    const at = fc.integer({
      min: Date.parse('0001-01-01T00:00:00Z'),
      max: Date.parse('9999-12-31T23:59:59.999Z'),
    })
    fc.assert(
      fc.property(at, (time) => {
        expect(parseTimestamp(formatTimestamp(time))).toBe(time)
      }),
    )
  })
})
