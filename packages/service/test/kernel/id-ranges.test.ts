import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allIds, partsOf } from '../../src/journal/range-digests.ts'

/** Those of specification 7.9. */
test.each([
  [
    allIds,
    4,
    [
      '3fffffff-ffff-ffff-ffff-ffffffffffff',
      '7fffffff-ffff-ffff-ffff-ffffffffffff',
      'bfffffff-ffff-ffff-ffff-ffffffffffff',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
    ],
  ],
  [
    { after: '01980000-0000-7000-8000-000000000000', before: '01980000-0000-7000-8000-00000000000a' },
    3,
    [
      '01980000-0000-7000-8000-000000000003',
      '01980000-0000-7000-8000-000000000006',
      '01980000-0000-7000-8000-00000000000a',
    ],
  ],
  [
    { after: '01980000-0000-7000-8000-000000000001', before: '01980000-0000-7000-8000-000000000002' },
    2,
    ['01980000-0000-7000-8000-000000000001', '01980000-0000-7000-8000-000000000002'],
  ],
])('%j in %i parts ends at these ids', (range, parts, bounds) => {
  const divided = partsOf(range, parts)
  expect(divided.map(({ before }) => before)).toEqual(bounds)
  expect(divided.map(({ after }) => after)).toEqual([range.after, ...bounds.slice(0, -1)])
})

test('parts follow each other without a gap, from one end to the other, and are of one size but for one id', () => {
  const numberOf = (id: string) => BigInt(`0x${id.replaceAll('-', '')}`)
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), fc.integer({ min: 1, max: 256 }), (one, other, parts) => {
      const [after, before] = [one, other].sort() as [string, string]
      const divided = partsOf({ after, before }, parts)
      expect(divided).toHaveLength(parts)
      expect([divided[0]?.after, divided.at(-1)?.before]).toEqual([after, before])
      for (const [n, part] of divided.entries()) if (n > 0) expect(part.after).toBe(divided[n - 1]?.before)
      const sizes = divided.map((part) => numberOf(part.before) - numberOf(part.after))
      const least = (numberOf(before) - numberOf(after)) / BigInt(parts)
      expect(sizes.every((size) => size === least || size === least + 1n)).toBe(true)
    }),
  )
})
