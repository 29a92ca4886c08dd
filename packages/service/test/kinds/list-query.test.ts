import { describe, expect, test } from 'vitest'
import { customer } from '../../src/desk/customer/index.ts'
import { teammate } from '../../src/desk/teammate/index.ts'
import { ticket } from '../../src/desk/ticket/index.ts'
import { encodeCursor } from '../../src/kernel/cursor.ts'
import { nilUuid } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { filterNames, parseListQuery } from '../../src/kinds/http/list-query.ts'

const organizationId = '01980000-0000-7000-8000-000000000001'
const position = { at: 1_000, id: nilUuid }
const cursor = { resource: 'customer', organizationId, epoch: 1, position, removalsAfter: null }

const parse = (query: string, kind = customer) =>
  parseListQuery(kind, { organizationId, scopes: ['*'] }, new URLSearchParams(query), systemClock)

function read(query: string, kind = customer) {
  const parsed = parse(query, kind)
  if (!parsed.ok) throw new Error(parsed.error.detail)
  return parsed.value
}

/** The code and the detail of the refusal, as one text. */
function refusal(query: string, kind = customer): string {
  const parsed = parse(query, kind)
  if (parsed.ok) throw new Error(`accepted: ${JSON.stringify(parsed.value)}`)
  return `${parsed.error.code}: ${parsed.error.detail}`
}

describe('limit and offset', () => {
  test.each([
    ['', 20],
    ['limit=1', 1],
    ['limit=100', 100],
    ['limit=101', 100],
    ['limit=007', 7],
    ['limit=99999999999999999999999999', 100],
  ])('%j is served with limit %i', (query, limit) => {
    expect(read(query)).toMatchObject({ mode: 'browse', limit })
    expect(read(`${query}&updatedAfter=2026-01-01T00:00:00Z`)).toMatchObject({ mode: 'sync', limit })
  })

  test.each(['0', '-1', '1.5', '1e3', '', ' 5', '5 ', 'ten', '0x10', '+5', '٥', 'Infinity'])(
    'limit %j is refused',
    (limit) => {
      expect(refusal(`limit=${encodeURIComponent(limit)}`)).toMatch(
        /^invalid_parameter: limit must be a whole number/,
      )
    },
  )

  test('offset is 0 unless told, and any integer from 0 on', () => {
    expect(read('')).toMatchObject({ offset: 0 })
    expect(read('offset=12345')).toMatchObject({ offset: 12_345 })
    for (const offset of ['-1', '1.5', 'x', '', '1e3']) {
      expect(refusal(`offset=${offset}`)).toMatch(/^invalid_parameter: offset must be a whole number/)
    }
  })
})

describe('parameters', () => {
  test('that are unknown are named, and so are those that are accepted', () => {
    expect(refusal('colour=red')).toMatch(
      /^invalid_parameter: .*\bcolour\b.*accepted: limit, offset, after, updatedAfter, cursor, wait, ids, email/,
    )
    for (const name of ['Limit', 'constructor', '__proto__', 'status', '']) {
      expect(refusal(`${name}=1`)).toMatch(/^invalid_parameter: There is no parameter/)
    }
  })

  test('that are given twice are named', () => {
    for (const query of ['limit=1&limit=2', 'tag=a&tag=a', 'cursor=x&cursor=y']) {
      expect(refusal(query)).toMatch(/^invalid_parameter: (limit|tag|cursor) is given more than once/)
    }
  })

  test('are those of the kind', () => {
    const all = ['externalId', 'tag', 'customAttribute', 'createdAfter', 'createdBefore', 'q']
    expect(filterNames(customer).sort()).toEqual([...all, 'email', 'phone'].sort())
    const tickets = [
      'customerId',
      'conversationId',
      'status',
      'priority',
      'type',
      'assigneeId',
      'number',
      'overdue',
    ]
    expect(filterNames(ticket).sort()).toEqual([...all, ...tickets].sort())
    expect(filterNames(teammate)).not.toContain('tag')
  })
})

describe('filters', () => {
  test.each([
    ['status=bogus', ticket],
    ['priority=', ticket],
    ['type=null', ticket],
    ['overdue=false', ticket],
    ['customerId=x', ticket],
    ['assigneeId=none', ticket],
    ['email=x', customer],
    ['phone=4930123456', customer],
    ['externalId=', customer],
    [`externalId=${'x'.repeat(256)}`, customer],
    ['externalId=%00', customer],
    ['tag=', customer],
    ['tag=%00', customer],
    ['q=', customer],
    ['q=%20-!%3F', customer],
    ['createdAfter=2026-01-01', customer],
    ['createdBefore=2026-02-30T00:00:00Z', customer],
    ['createdBefore=2026-01-01T00:00:00+01:00', customer],
  ])('%s is refused by name', (query, kind) => {
    expect(refusal(query, kind)).toMatch(new RegExp(`^invalid_parameter: ${query.split('=')[0]} must `))
  })

  test('values are read as the fields are', () => {
    expect(read('email=ADA@example.com')).toMatchObject({
      conditions: [{ column: 'email', value: 'ada@example.com' }],
    })
    expect(read('createdAfter=2026-01-01T00:00:00.9999%2B01:00')).toMatchObject({
      conditions: [{ on: 'after', column: 'created_at', at: '2025-12-31T23:00:00.999Z' }],
    })
  })

  test('a refusal repeats no more of a value than is needed to recognize it', () => {
    expect(refusal(`email=${'x'.repeat(10_000)}`).length).toBeLessThan(300)
  })
})

describe('a sync', () => {
  test('starts from updatedAfter or goes on from cursor, which wins', () => {
    expect(read('updatedAfter=2026-01-01T01:00:00%2B01:00')).toEqual({
      mode: 'sync',
      limit: 20,
      wait: 0,
      updatedAfter: Date.parse('2026-01-01T00:00:00Z'),
    })
    const text = encodeCursor(cursor)
    for (const query of [`cursor=${text}`, `cursor=${text}&updatedAfter=2026-01-01T00:00:00Z`]) {
      expect(read(query)).toEqual({ mode: 'sync', limit: 20, wait: 0, cursor })
    }
  })

  test.each(['', 'now', '2026-01-01', '2026-02-30T00:00:00Z', '1767225600'])(
    'updatedAfter %j is refused',
    (text) => {
      expect(refusal(`updatedAfter=${text}`)).toMatch(/^invalid_parameter: updatedAfter must be a date-time/)
    },
  )

  test('a plus sign that was not escaped is refused with the reason', () => {
    expect(refusal('updatedAfter=2026-01-01T00:00:00+01:00')).toContain('%2B')
  })

  test.each(['', 'x', 'null'])('cursor %j is refused, with and without updatedAfter', (text) => {
    expect(refusal(`cursor=${text}`)).toMatch(/^invalid_cursor: /)
    expect(refusal(`cursor=${text}&updatedAfter=2026-01-01T00:00:00Z`)).toMatch(/^invalid_cursor: /)
  })

  test.each([
    ['0', 0],
    ['1', 1],
    ['49', 49],
    ['50', 50],
    ['51', 50],
    ['86400', 50],
    ['999999999999999', 50],
  ])('wait=%s is served as %i seconds', (text, seconds) => {
    for (const start of ['updatedAfter=2026-01-01T00:00:00Z', `cursor=${encodeCursor(cursor)}`]) {
      expect(read(`${start}&wait=${text}`)).toMatchObject({ wait: seconds })
    }
  })

  test('takes no filter, and no offset but 0', () => {
    for (const sync of ['updatedAfter=2026-01-01T00:00:00Z', `cursor=${encodeCursor(cursor)}`]) {
      for (const other of [
        'offset=1',
        'offset=-0',
        'offset=',
        'email=a@b.c',
        'tag=a',
        'q=a',
        'createdAfter=2026-01-01T00:00:00Z',
        'externalId=7',
      ]) {
        const said = refusal(`${sync}&${other}`)
        expect(said).toMatch(/^filter_not_allowed_in_sync: /)
        expect(said).toContain(`leave out ${other.split('=')[0]},`)
      }
      expect(read(`${sync}&offset=0`)).toEqual(read(sync))
    }
  })
})
