/** Text that is shown in part ends between characters, is well-formed, and says so. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../testbed/any-character.ts'
import { clipped } from '../src/clipped.ts'

test.each([
  ['short', 5, 'short'],
  ['longer', 4, 'long…'],
  ['e\u0301clair', 1, 'e…'],
  ['ae\u0301clair', 2, 'a…'],
  ['a👍🏽b', 3, 'a…'],
  ['a👩‍👩‍👧b', 9, 'a👩‍👩‍👧…'],
  ['a👩‍👩‍👧b', 8, 'a…'],
  ['🇩🇪🇫🇷', 6, '🇩🇪…'],
  ['a\r\nb', 2, 'a…'],
  ['', 0, ''],
])('%j in %i', (text, length, shown) => {
  expect(clipped(text, length)).toBe(shown)
})

test('of any text', () => {
  const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' })
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 40 }), fc.nat(40), (text, length) => {
      const shown = clipped(text, length)
      if (text.length <= length) return shown === text.toWellFormed()
      const kept = shown.slice(0, -1)
      const [whole] = segmenter.segment(text)
      const ends = [...segmenter.segment(text)].map(({ index }) => index)
      const isBetween = ends.includes(kept.length) || length < (whole?.segment.length ?? 0)
      return shown.endsWith('…') && kept.length <= length && isBetween && shown.isWellFormed()
    }),
  )
})

test('as one character can be longer than all that is shown', () => {
  const long = `a${'\u0301'.repeat(100)}`
  expect(clipped(long, 10)).toBe(`${long.slice(0, 10)}…`)
})

test('a lone half of a pair is shown as the mark of what cannot be shown', () => {
  expect(clipped('a\ud800bc', 2)).toBe('a\ufffd…')
})
