import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../../testbed/any-character.ts'
import { clipped, quoted } from '../../src/kernel/errors.ts'

test('a text that is cut is still text: half of an emoji is left out', () => {
  expect(clipped('ab🙂', 3)).toBe('ab…')
  expect(clipped('ab🙂', 4)).toBe('ab🙂')
  expect(quoted(`${'x'.repeat(59)}🙂`)).toBe(`"${'x'.repeat(59)}…"`)
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 20 }), fc.nat(12), (text, length) => {
      const cut = clipped(text, length, '')
      expect(cut.isWellFormed()).toBe(true)
      expect(text.startsWith(cut)).toBe(true)
      expect(cut.length).toBeLessThanOrEqual(length)
      expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, length) - 1)
    }),
  )
})
