import { describe, expect, test } from 'vitest'
import { customer } from '../../src/desk/customer/index.ts'
import { teammate } from '../../src/desk/teammate/index.ts'
import { ticket } from '../../src/desk/ticket/index.ts'
import { creation, patched } from './kinds.ts'

const customerId = '01980000-0000-7000-8000-000000000001'
/** One character for a reader, two for JavaScript, four bytes in UTF-8. */
const astral = '🦉'

/** Field by field: the kind, what else a creation needs, and the lengths that the field takes. */
const lengths = [
  ['customer.name', customer, {}, 0, 255],
  ['customer.company', customer, {}, 0, 255],
  ['customer.externalId', customer, {}, 1, 255],
  ['ticket.subject', ticket, { customerId }, 1, 255],
  ['ticket.description', ticket, { customerId, subject: 's' }, 0, 64_000],
  ['ticket.externalId', ticket, { customerId, subject: 's' }, 1, 255],
  ['teammate.name', teammate, {}, 1, 255],
] as const

describe.each(lengths)('%s', (title, kind, rest, min, max) => {
  const field = title.split('.')[1] as string
  const send = (value: unknown) => creation(kind, JSON.stringify({ ...rest, [field]: value }))

  test(`takes ${min} to ${max} characters, counted in code points`, () => {
    for (const character of ['a', 'é', astral]) {
      for (const length of [min, 1, max]) {
        expect(send(character.repeat(length))).toHaveProperty(field, character.repeat(length))
      }
      expect(send(character.repeat(max + 1))).toEqual([`/${field} too_long`])
    }
    if (min > 0) expect(send('')).toEqual([`/${field} too_short`])
  })

  test('refuses U+0000 and halves of surrogate pairs, which cannot be stored', () => {
    const [high, low] = ['\ud83e', '\udd89']
    for (const value of ['\0', 'a\0b', high, low, `a${high}`, `${low}${high}`, `${high}a${low}`]) {
      expect(send(value)).toEqual([`/${field} invalid_format`])
    }
  })

  test('refuses what is not a string', () => {
    for (const value of [1, true, [], {}, ['a']]) expect(send(value)).toEqual([`/${field} invalid_type`])
  })
})

test('a text is stored as it was sent: spaces, case, line ends, invisible and control characters', () => {
  const text = ' A\r\n\tb\u200b\u0007\uffff\u0301 '
  expect(creation(customer, JSON.stringify({ name: text }))).toHaveProperty('name', text)
})

describe('null', () => {
  test('is the value of an optional field that is not sent, and the same when it is sent', () => {
    const state = creation(ticket, JSON.stringify({ customerId, subject: 's' }))
    const nulls = {
      description: null,
      type: null,
      assigneeId: null,
      dueAt: null,
      conversationId: null,
      externalId: null,
    }
    expect(creation(ticket, JSON.stringify({ customerId, subject: 's', ...nulls }))).toEqual(state)
    expect(state).toMatchObject({
      ...nulls,
      priority: 'normal',
      status: 'new',
      tags: [],
      customAttributes: {},
    })
  })

  test('empties an optional field in a PATCH', () => {
    expect(patched(customer, '{"name":"a","email":"a@example.com"}', '{"email":null}')).toMatchObject({
      email: null,
    })
  })

  test.each([
    ['ticket', ticket, 'subject'],
    ['ticket', ticket, 'priority'],
    ['ticket', ticket, 'status'],
    ['ticket', ticket, 'tags'],
    ['ticket', ticket, 'customAttributes'],
    ['teammate', teammate, 'name'],
    ['teammate', teammate, 'active'],
  ] as const)('is refused for %s.%3$s, which always has a value', (name, kind, field) => {
    const before = name === 'ticket' ? { customerId, subject: 's' } : { name: 'n' }
    expect(creation(kind, JSON.stringify({ ...before, [field]: null }))).toEqual([`/${field} invalid_type`])
    expect(patched(kind, JSON.stringify(before), `{"${field}":null}`)).toEqual([`/${field} invalid_type`])
  })
})

describe('fields that cannot be set', () => {
  test('what a kind does not have is an unknown field, whatever it is called', () => {
    expect(
      creation(
        customer,
        '{"name":"a","nmae":1,"__proto__":{"email":"x"},"constructor":1,"toString":null,"":1}',
      ),
    ).toEqual([
      '/nmae unknown_field',
      '/__proto__ unknown_field',
      '/constructor unknown_field',
      '/toString unknown_field',
      '/ unknown_field',
    ])
  })

  test('a pointer writes / as ~1 and ~ as ~0', () => {
    expect(creation(customer, '{"name":"a","a/b~c~1":1}')).toEqual(['/a~1b~0c~01 unknown_field'])
  })

  test('what the service sets is read-only at creation and in a PATCH, even with its own value', () => {
    const common = ['id', 'object', 'organizationId', 'createdAt', 'updatedAt']
    for (const field of common) {
      expect(creation(customer, `{"name":"a","${field}":null}`)).toEqual([`/${field} read_only`])
      expect(patched(teammate, '{"name":"a"}', `{"${field}":"x"}`)).toEqual([`/${field} read_only`])
    }
    for (const field of [...common, 'number', 'resolvedAt', 'closedAt']) {
      const before = JSON.stringify({ customerId, subject: 's' })
      expect(creation(ticket, JSON.stringify({ customerId, subject: 's', [field]: null }))).toEqual([
        `/${field} read_only`,
      ])
      expect(patched(ticket, before, `{"${field}":null}`)).toEqual([`/${field} read_only`])
    }
  })

  test('what is set at creation is read-only afterwards', () => {
    const before = JSON.stringify({ customerId, subject: 's' })
    expect(patched(ticket, before, `{"customerId":"${customerId}"}`)).toEqual(['/customerId read_only'])
  })

  test('every required field that is missing is named', () => {
    expect(creation(ticket, '{}')).toEqual(['/customerId required', '/subject required'])
    expect(creation(teammate, '{"email":"a@example.com"}')).toEqual(['/name required'])
  })

  test('every wrong field is named, not only the first', () => {
    expect(creation(customer, '{"name":1,"phone":"x","tags":null,"color":"red"}')).toEqual([
      '/name invalid_type',
      '/phone invalid_format',
      '/tags invalid_type',
      '/color unknown_field',
    ])
  })

  test('a body that is not an object is refused as a whole', () => {
    for (const body of ['null', '[]', '"name"', '1', 'true', '[{"name":"a"}]']) {
      expect(creation(customer, body)).toEqual([' invalid_type'])
      expect(patched(customer, '{"name":"a"}', body)).toEqual([' invalid_type'])
    }
  })
})
