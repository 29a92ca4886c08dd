import { expect, test } from 'vitest'
import { z } from 'zod'
import { customer } from '../../src/desk/customer/index.ts'
import { teammate } from '../../src/desk/teammate/index.ts'
import { defineField } from '../../src/kernel/fields/field.ts'
import { parseCreation } from '../../src/kernel/fields/validate.ts'

test('a body with more mistakes than anyone reads gets an answer of bounded size that says how many there are', () => {
  const body = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`x${n}`, 0]))
  const parsed = parseCreation(customer, { name: 'a', ...body })
  if (parsed.ok) throw new Error('accepted')
  expect(parsed.error.errors).toHaveLength(100)
  expect(parsed.error.detail).toContain('49999 more')
})

test('of a hundred thousand unknown fields a hundred are listed, and no value is looked at', () => {
  const body = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`x${n}`, 0]))
  let read = 0
  const watched = new Proxy(body, {
    get(target, name) {
      read++
      return Reflect.get(target, name)
    },
  })
  const parsed = parseCreation(customer, watched)
  if (parsed.ok) throw new Error('accepted')
  expect(parsed.error.errors).toHaveLength(100)
  expect(parsed.error.detail).toContain('(and at least 99999 more, see errors)')
  expect(read).toBe(0)
})

test('behind a hundred wrong places nothing is checked any more', () => {
  const checked: unknown[] = []
  const counted = defineField(
    z.unknown().check(({ value }) => {
      checked.push(value)
    }),
    'anything',
    'text',
    { description: 'Tells when it is looked at.' },
  )
  const shape = { name: 'probe', fields: { counted } }
  const wrong = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`x${n}`, 0]))
  parseCreation(shape, { ...wrong(99), counted: 'looked at' })
  parseCreation(shape, { ...wrong(100), counted: 'passed over' })
  expect(checked).toEqual(['looked at'])
})

test('the wrong places within one field are as few, and a long name is not repeated', () => {
  const attributes = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, n) => [`${'k'.repeat(50)}${n}`, null]),
  )
  const parsed = parseCreation(customer, { name: 'a', customAttributes: attributes, ['n'.repeat(10_000)]: 1 })
  if (parsed.ok) throw new Error('accepted')
  expect(parsed.error.errors).toHaveLength(100)
  const long = parseCreation(customer, { name: 'a', ['n'.repeat(100_000)]: 1 })
  if (long.ok) throw new Error('accepted')
  expect(long.error.errors).toMatchObject([{ pointer: '', code: 'unknown_field' }])
  expect(JSON.stringify(long.error).length).toBeLessThan(1_000)
})

test('a field that is missing is listed with the others that are wrong', () => {
  const parsed = parseCreation(teammate, { email: 'nope', active: 'yes', x: 1 })
  if (parsed.ok) throw new Error('accepted')
  expect(parsed.error.errors?.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
    '/email invalid_format',
    '/active invalid_type',
    '/x unknown_field',
    '/name required',
  ])
})
