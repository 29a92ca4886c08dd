import { describe, expect, test } from 'vitest'
import { customer } from '../../src/desk/customer/index.ts'
import { parseCreation } from '../../src/kernel/fields/validate.ts'

const context = { now: '2026-01-31T09:30:00.000Z' }

function state(values: object) {
  const parsed = parseCreation(customer, values)
  if (!parsed.ok) throw new Error(parsed.error.detail)
  return parsed.value
}

describe('a customer', () => {
  test.each([
    [{ name: 'Ada' }],
    [{ email: 'ada@example.com' }],
    [{ phone: '+4930123456' }],
    [{ externalId: '7' }],
  ])('needs no more than %j', (values) => {
    expect(customer.rules.create?.(state(values), context)).toMatchObject({ ok: true })
  })

  test.each([[{}], [{ company: 'Engines' }], [{ tags: ['a'], customAttributes: { a: 1 } }], [{ name: '' }]])(
    'that only has %j can be told from no other, and is refused as a whole',
    (values) => {
      expect(customer.rules.create?.(state(values), context)).toMatchObject({
        ok: false,
        error: { code: 'validation_failed', errors: [{ pointer: '', code: 'required' }] },
      })
    },
  )

  test('cannot lose the last of what identifies it', () => {
    const [before, draft] = [state({ name: 'Ada' }), state({ company: 'Engines' })]
    expect(customer.rules.update?.(before, draft, new Set(['name']), context)).toMatchObject({ ok: false })
  })
})
