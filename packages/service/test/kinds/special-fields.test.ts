import { domainToASCII } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { customer } from '../../src/desk/customer/index.ts'
import { teammate } from '../../src/desk/teammate/index.ts'
import { ticket } from '../../src/desk/ticket/index.ts'
import { parseCreation } from '../../src/kernel/fields/validate.ts'
import { creation, patched } from './kinds.ts'

const customerId = '01980000-0000-7000-8000-000000000001'
const ofCustomer = (field: string, value: unknown) =>
  creation(customer, JSON.stringify({ name: 'a', [field]: value }))
const ofTicket = (field: string, value: unknown) =>
  creation(ticket, JSON.stringify({ customerId, subject: 's', [field]: value }))

describe('email', () => {
  test.each([
    ['jose\u0301@example.com', 'josé@example.com'],
    ['ada@EXA\u0308MPLE.com', 'ada@exämple.com'],
    ['ada@XN--exmple-cua.com', 'ada@exämple.com'],
    ['ada@ｅｘａｍｐｌｅ。com', 'ada@example.com'],
    ['ada@faß.de', 'ada@faß.de'],
    ['ada@xn--fa-hia.de', 'ada@faß.de'],
    // Joined by U+200C, which would be invisible.
    ['ada@xn--mgba3gch31f060k.com', 'ada@xn--mgba3gch31f060k.com'],
    ['ada@xn--a.example', 'ada@xn--a.example'],
    ['ada@[127.0.0.1]', 'ada@[127.0.0.1]'],
    ['ada@exa_mple.com', 'ada@exa_mple.com'],
  ])('%j is stored as %j', (sent, stored) => {
    expect(ofCustomer('email', sent)).toHaveProperty('email', stored)
    expect(creation(teammate, JSON.stringify({ name: 'a', email: sent }))).toHaveProperty('email', stored)
  })

  test('whatever is stored is stored again as it is', () => {
    const part = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
    const domain = fc.oneof(
      part,
      part.map((text) => domainToASCII(text) || 'xn--a'),
    )
    fc.assert(
      fc.property(part, domain, fc.constantFrom('', '.com', '.XN--P1AI'), (local, name, ending) => {
        const once = ofCustomer('email', `${local}@${name}${ending}`)
        if (Array.isArray(once)) return
        const { email } = once as { email: string }
        expect(ofCustomer('email', email)).toHaveProperty('email', email)
        expect(email).toBe(email.normalize('NFC'))
      }),
      { numRuns: 3_000, seed: 1 },
    )
  })

  test.each([
    ['ada\u200b@example.com', 'U+200B'],
    ['ada@exam\u00adple.com', 'U+00AD'],
    ['\u202eada@example.com', 'U+202E'],
    ['ada\u2066@example.com', 'U+2066'],
    ['ada\u2028@example.com', 'U+2028'],
    ['ada@example.com\u0007', 'U+0007'],
    ['ada\u3164@example.com', 'U+3164'],
    ['ada\ufe0f@example.com', 'U+FE0F'],
    ['ada@a\u{e0061}.com', 'U+E0061'],
  ])('%j is refused, and the error names %s', (value, named) => {
    const parsed = parseCreation(customer, { email: value })
    expect(parsed.ok ? parsed.value : parsed.error.errors).toEqual([
      {
        pointer: '/email',
        code: 'invalid_format',
        detail: `must be an email address of at most 320 characters; it has the invisible character ${named}`,
      },
    ])
  })

  test.each(['ada@ü.com/x', 'ada@ü.com:80', 'ada@ü%41.com', 'ada@ü[.com', 'ada@ü?.com'])(
    'refuses %j, whose domain is none',
    (value) => {
      const parsed = parseCreation(customer, { email: value })
      expect(parsed.ok ? parsed.value : parsed.error.errors?.[0]?.detail).toContain(
        'its domain is no domain name',
      )
    },
  )

  test('is stored in lower case', () => {
    expect(ofCustomer('email', 'Ada.LOVELACE@Example.COM')).toHaveProperty(
      'email',
      'ada.lovelace@example.com',
    )
    expect(ofCustomer('email', 'ÄDA@EXÄMPLE.COM')).toHaveProperty('email', 'äda@exämple.com')
  })

  test('has at most 320 characters: 64, @ and 255', () => {
    const longest = `${'l'.repeat(64)}@${'d'.repeat(255)}`
    expect(ofCustomer('email', longest)).toHaveProperty('email', longest)
    expect(ofCustomer('email', `l${longest}`)).toContain('/email too_long')
  })

  test.each([
    '',
    '@',
    'a@',
    '@b',
    'ab',
    'a b@example.com',
    'a@b@c',
    ' a@b',
    'a@b ',
    'a@b\n',
    'a\0@b',
    '\ud800@b',
  ])('refuses %j', (value) => {
    expect(ofCustomer('email', value)).toContainEqual(
      expect.stringMatching(/^\/email (invalid_format|too_short)$/),
    )
  })

  test('is the same of a teammate', () => {
    expect(creation(teammate, '{"name":"a","email":"A@B.C"}')).toHaveProperty('email', 'a@b.c')
    expect(creation(teammate, '{"name":"a","email":"bcd"}')).toEqual(['/email invalid_format'])
  })
})

describe('phone', () => {
  test.each(['+4930123456', '+12025550123', '+123456789012345'])('takes %s', (value) => {
    expect(ofCustomer('phone', value)).toHaveProperty('phone', value)
  })

  test.each([
    '4930123456',
    '+0301234567',
    '+49 30 123456',
    '+1234567890123456',
    '+',
    '',
    '+49301234a',
    '+٤٩٣٠١٢٣٤٥',
  ])('refuses %j', (value) => {
    expect(ofCustomer('phone', value)).toEqual(['/phone invalid_format'])
  })
})

describe('locale', () => {
  test.each([
    ['en', 'en'],
    ['de-at', 'de-AT'],
    ['ZH-hant-tw', 'zh-Hant-TW'],
    ['sr-Latn-RS', 'sr-Latn-RS'],
  ])('takes %s and stores %s', (value, stored) => {
    expect(ofCustomer('locale', value)).toHaveProperty('locale', stored)
  })

  test.each(['de_DE', 'en-', '-en', 'english language', 'en-US-', 'e', ''])('refuses %j', (value) => {
    expect(ofCustomer('locale', value)).toContainEqual(expect.stringMatching(/^\/locale /))
  })
})

describe('timezone', () => {
  test.each(['Europe/Berlin', 'America/Argentina/Buenos_Aires', 'UTC', 'Etc/GMT+5'])('takes %s', (value) => {
    expect(ofCustomer('timezone', value)).toHaveProperty('timezone', value)
  })

  test.each([
    ['europe/london', 'Europe/London'],
    ['ASIA/CALCUTTA', 'Asia/Calcutta'],
    ['gb-eire', 'GB-Eire'],
    ['jst', 'JST'],
    ['america/port-au-prince', 'America/Port-au-Prince'],
    ['antarctica/dumontdurville', 'Antarctica/DumontDUrville'],
    ['brazil/denoronha', 'Brazil/DeNoronha'],
  ])('takes %s and stores %s', (value, stored) => {
    expect(ofCustomer('timezone', value)).toHaveProperty('timezone', stored)
  })

  test.each(['+01:00', '01:00', 'Europe/Atlantis', 'Berlin', 'local', ' UTC', ''])('refuses %j', (value) => {
    expect(ofCustomer('timezone', value)).toContainEqual(expect.stringMatching(/^\/timezone /))
  })
})

describe('tags', () => {
  test('repeats are dropped, the order of the first ones is kept', () => {
    expect(ofCustomer('tags', ['b', 'a', 'b', 'A', 'a'])).toHaveProperty('tags', ['b', 'a', 'A'])
  })

  test('up to 50 of 1 to 50 characters', () => {
    const most = Array.from({ length: 50 }, (_, n) => `${n}`.padEnd(50, 'x'))
    expect(ofCustomer('tags', most)).toHaveProperty('tags', most)
    expect(ofCustomer('tags', [...most, 'one more'])).toEqual(['/tags too_many'])
    expect(ofCustomer('tags', ['🦉'.repeat(50)])).toHaveProperty('tags', ['🦉'.repeat(50)])
    expect(ofCustomer('tags', ['a', 'x'.repeat(51), ''])).toEqual(['/tags/1 too_long', '/tags/2 too_short'])
  })

  test('are a list of strings that can be stored', () => {
    expect(ofCustomer('tags', 'vip')).toEqual(['/tags invalid_type'])
    expect(ofCustomer('tags', { 0: 'vip' })).toEqual(['/tags invalid_type'])
    expect(ofCustomer('tags', ['a', 1, null, ['b']])).toEqual([
      '/tags/1 invalid_type',
      '/tags/2 invalid_type',
      '/tags/3 invalid_type',
    ])
    expect(ofCustomer('tags', ['\0', '\ud800'])).toEqual(['/tags/0 invalid_format', '/tags/1 invalid_format'])
  })

  test('a PATCH replaces them', () => {
    expect(patched(customer, '{"name":"a","tags":["a","b"]}', '{"tags":["c"]}')).toHaveProperty('tags', ['c'])
    expect(patched(customer, '{"name":"a","tags":["a","b"]}', '{"tags":[]}')).toHaveProperty('tags', [])
  })
})

describe('choices', () => {
  test.each([
    ['type', ['question', 'incident', 'problem', 'task', null]],
    ['priority', ['low', 'normal', 'high', 'urgent']],
    ['status', ['new', 'open', 'pending', 'on_hold', 'resolved', 'closed']],
  ])('ticket.%s takes its words and no other', (field, words) => {
    for (const word of words) expect(ofTicket(field, word)).toHaveProperty(field, word)
    for (const other of ['', 'other', 'New', 'LOW', ' low', 'constructor']) {
      expect(ofTicket(field, other)).toEqual([`/${field} invalid_value`])
    }
  })
})

describe('ids of other objects', () => {
  test('are UUIDs, in any case, stored in lower case', () => {
    const upper = '01980000-ABCD-7000-8000-00000000000F'
    expect(ofTicket('assigneeId', upper)).toHaveProperty('assigneeId', upper.toLowerCase())
  })

  test.each([
    '',
    'x',
    customerId.slice(1),
    `${customerId}0`,
    `{${customerId}}`,
    customerId.replaceAll('-', ''),
  ])('refuse %j', (value) => {
    expect(ofTicket('conversationId', value)).toEqual(['/conversationId invalid_format'])
  })
})

describe('times', () => {
  test('come in any RFC 3339 spelling and are stored in UTC with three decimals', () => {
    expect(ofTicket('dueAt', '2026-01-31T09:30:00.1239+02:00')).toHaveProperty(
      'dueAt',
      '2026-01-31T07:30:00.123Z',
    )
  })

  test.each(['2026-02-30T00:00:00Z', '2026-01-31', 'tomorrow', ''])('refuse %j', (value) => {
    expect(ofTicket('dueAt', value)).toEqual(['/dueAt invalid_format'])
  })

  test('are never numbers', () => {
    expect(ofTicket('dueAt', 1_767_225_600)).toEqual(['/dueAt invalid_type'])
  })
})

test('active is true or false, true unless told', () => {
  expect(creation(teammate, '{"name":"a"}')).toHaveProperty('active', true)
  expect(creation(teammate, '{"name":"a","active":false}')).toHaveProperty('active', false)
  for (const value of ['"true"', '1', '0', '""']) {
    expect(creation(teammate, `{"name":"a","active":${value}}`)).toEqual(['/active invalid_type'])
  }
})
