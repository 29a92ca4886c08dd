import { expect, test } from 'vitest'
import { quoted } from '../../src/kernel/errors.ts'

test('a text that is cut is still text: an emoji is left out as a whole', () => {
  expect(quoted(`${'x'.repeat(59)}🙂`)).toBe(`"${'x'.repeat(59)}…"`)
})
