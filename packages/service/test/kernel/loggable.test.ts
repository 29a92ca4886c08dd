import { expect, test } from 'vitest'
import { loggable } from '../../src/kernel/log.ts'

test('an error is logged with its kind, message and stack', () => {
  const shown = loggable(new TypeError('that is no function'))
  expect(shown).toMatchObject({ type: 'TypeError', message: 'that is no function' })
  expect(shown.stack).toMatch(/^\s+at .*loggable\.test\.ts/)
})

test("an error of the database is logged by its names, without the row, the statement or anyone's value", () => {
  const names = { code: '23505', severity: 'ERROR', table: 'customers', constraint: 'customers_email' }
  const data = {
    detail: 'Key (email)=(ada@example.com)',
    where: 'ada@example.com',
    hint: 'ada',
    query: 'ada',
  }
  const shown = loggable(Object.assign(new Error('duplicate key'), names, data))
  expect(shown).toMatchObject({ ...names, message: 'duplicate key' })
  expect(JSON.stringify(shown)).not.toContain('ada')
})

test('a message that quotes the value it is about is left out, at the head of the stack as well', () => {
  const error = Object.assign(new Error('invalid input syntax for type uuid: "ada"\n  at ease'), {
    code: '22P02',
  })
  const shown = loggable(error)
  expect(shown.code).toBe('22P02')
  expect(shown).not.toHaveProperty('message')
  expect(shown.stack).not.toContain('ada')
})
