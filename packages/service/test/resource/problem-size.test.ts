import { expect, test } from 'vitest'
import { parseCreation } from '../../src/resource/validate.ts'
import { customer } from '../../src/resources/customer/index.ts'

test('a body with more mistakes than anyone reads gets an answer of bounded size that says how many there are', () => {
  const body = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`x${n}`, 0]))
  const parsed = parseCreation(customer, { name: 'a', ...body })
  if (parsed.ok) throw new Error('accepted')
  expect(parsed.error.errors).toHaveLength(100)
  expect(parsed.error.detail).toContain('49999 more')
})
