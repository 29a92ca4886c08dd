/** Columns by the declarations of the kinds: what is accepted, and what becomes of a cell. */
import { describe, expect, test } from 'vitest'
import { itemOf, readHeader } from '../../src/import/columns.ts'
import { entryOf } from '../../src/import/entry.ts'
import { kindNamed, plurals } from '../../src/kinds.ts'

const row = (plural: string, columns: string, cells: readonly string[], ignored: string[] = []) =>
  itemOf(readHeader(kindNamed(plural), columns.split(','), ignored), cells).item

describe('a row', () => {
  test('has the fields that its columns are named like, and leaves out what is empty', () => {
    const columns = 'externalId,name , email,tags,company'
    expect(row('customers', columns, ['crm-1', 'Ada', 'ada@example.com', 'vip; eu|new;;', ''])).toEqual({
      externalId: 'crm-1',
      name: 'Ada',
      email: 'ada@example.com',
      tags: ['vip', 'eu', 'new'],
    })
    expect(row('customers', columns, [])).toEqual({})
  })

  test('takes values of one’s own: text, unless the column says number or boolean', () => {
    const columns =
      'name,customAttributes.plan,customAttributes.a.b\\:c,customAttributes.seats:number,customAttributes.vip:boolean'
    const attributes = (cells: string[]) => row('customers', columns, ['Ada', ...cells]).customAttributes
    expect(attributes(['007', 'x', '12.5', 'TRUE'])).toEqual({
      plan: '007',
      'a.b:c': 'x',
      seats: 12.5,
      vip: true,
    })
    expect(attributes(['', '', '-3', ''])).toEqual({ seats: -3 })
    const proto = row('customers', 'name,customAttributes.__proto__', ['Ada', 'x']).customAttributes as object
    expect(Object.keys(proto)).toEqual(['__proto__'])
  })

  test('has attributes whose names hold colons and backslashes, written as filters write them', () => {
    const names = ['size\\:number', 'width\\:number:number', 'a\\\\b:boolean', 'c\\:\\:d']
    const columns = ['name', ...names.map((name) => `customAttributes.${name}`)].join(',')
    expect(row('customers', columns, ['Ada', '007', '7', 'true', 'x']).customAttributes).toEqual({
      'size:number': '007',
      'width:number': 7,
      'a\\b': true,
      'c::d': 'x',
    })
  })

  test('holds the value of each cell unchanged, or names the cell, its value and what is accepted', () => {
    const read = (type: string, cell: string) => {
      const header = ['externalId', `customAttributes.it:${type}`]
      const entry = entryOf({ line: 2, cells: ['a', cell] }, readHeader(kindNamed('customers'), header, []))
      return 'fault' in entry ? entry.fault : entry.item.customAttributes
    }
    const numbers: [cell: string, value: number][] = [
      ['0', 0],
      ['-12.50', -12.5],
      ['1e3', 1_000],
      ['9007199254740992', 2 ** 53],
      ['9007199254740994', 2 ** 53 + 2],
      ['0.1', 0.1],
      ['123456789012345000000000000', 1.23456789012345e26],
    ]
    for (const [cell, it] of numbers) expect(read('number', cell)).toEqual({ it })
    for (const cell of ['abc', '1_000', '1,000', '007', ' 1', '+1', '.5', '1.', '0x10', 'NaN', 'Infinity'])
      expect(read('number', cell)).toBe(
        `customAttributes.it: must be a number as JSON writes it, for example 1000, -3.5 or 1e6; got ${JSON.stringify(cell)}`,
      )
    const rounded: [cell: string, become: string][] = [
      ['9007199254740993', '9007199254740992'],
      ['-9007199254740993', '-9007199254740992'],
      ['123456789012345678.5', '123456789012345680'],
      ['0.12345678901234567890', '0.12345678901234568'],
      ['1e400', 'Infinity'],
      ['1e-400', '0'],
    ]
    for (const [cell, become] of rounded)
      expect(read('number', cell)).toBe(
        `customAttributes.it: must be a number that a double (IEEE 754) holds, or a string where one is accepted: ${cell} would become ${become}`,
      )
    expect([read('boolean', 'TRUE'), read('boolean', 'false')]).toEqual([{ it: true }, { it: false }])
    for (const cell of ['maybe', 'yes', '1', 'true '])
      expect(read('boolean', cell)).toBe(
        `customAttributes.it: must be true or false; got ${JSON.stringify(cell)}`,
      )
  })

  test('of which several cells are wrong names each of them, and what else its kind refuses', () => {
    const fault = (plural: string, columns: string, cells: string[]) => {
      const entry = entryOf({ line: 2, cells }, readHeader(kindNamed(plural), columns.split(','), []))
      return 'fault' in entry ? entry.fault.split('; ').map((one) => one.split(' must be')[0]) : entry.item
    }
    const columns = 'name,email,customAttributes.a:number,customAttributes.b:boolean,externalId'
    expect(fault('customers', columns, ['', 'nope', 'x', 'y', ''])).toEqual([
      'customAttributes.a:',
      'got "x"',
      'customAttributes.b:',
      'got "y"',
      'externalId: rows are found by it: a line without one is not imported',
      'email:',
    ])
    expect(fault('teammates', 'name,email,active', ['', 'nope', 'perhaps'])).toEqual([
      'active:',
      'got "perhaps"',
      'email:',
      'name: is required:',
    ])
    // Of a time that the service would shorten, as of one that is none.
    const booking = 'customerId,title,startAt,endAt,timezone'
    const times = ['2026-02-02T09:00:00.123456Z', '2026-02-02T10:00:00.1230+01:00']
    const id = '01980000-0000-7000-8000-000000000001'
    expect(fault('bookings', booking, [id, 't', ...times, 'UTC'])).toEqual([
      'startAt: must have at most three decimals of a second',
      'got "2026-02-02T09:00:00.123456Z"',
    ])
  })

  test('of other kinds has members of objects and truth values', () => {
    expect(row('teammates', 'name,active', ['Grace', 'false'])).toEqual({ name: 'Grace', active: false })
    const columns = 'customerId,title,startAt,endAt,timezone,location.type,location.value'
    const cells = ['c', 't', 's', 'e', 'z', 'phone', '+44']
    expect(row('bookings', columns, cells)).toMatchObject({ location: { type: 'phone', value: '+44' } })
  })

  test('does without the columns that are left out, and the reasons of an earlier import', () => {
    expect(row('customers', 'name,score,error', ['Ada', '9', 'email: bad'], ['score'])).toEqual({
      name: 'Ada',
    })
  })
})

describe('a header is refused', () => {
  test('with every column that there is not, and those that there are', () => {
    const refused = () => row('customers', 'name,nmae,id,status', [])
    expect(refused).toThrow(
      /^customers have no column "nmae", "id", "status"; accepted: name, company, email, phone,/,
    )
    expect(refused).toThrow('tags (separated by ; or |), customAttributes.NAME (text)')
    expect(() => row('customers', 'name,customAttributes.', [])).toThrow('no column "customAttributes."')
    expect(() => row('messages', 'attachments', [])).toThrow('no column "attachments"')
    // Set by the service.
    expect(() => row('conversations', 'externalId,summary', [])).toThrow('no column "summary"')
  })

  test.each(['seats:int', 'seats:Number', 'a:b:number', 'a\\b', 'a:'])(
    'with an attribute of no known type, or a colon in its name: %s',
    (name) => {
      expect(() => row('customers', `name,customAttributes.${name}`, [])).toThrow(
        /^the column "customAttributes\..*" has no type that is known; accepted: customAttributes\.NAME \(text\), customAttributes\.NAME:number, customAttributes\.NAME:boolean, with \\ before each : and \\ of NAME$/,
      )
    },
  )

  test('with a hint where the delimiter is another one', () => {
    expect(() => row('customers', 'name;email', [])).toThrow('is the delimiter another one (--delimiter)?')
  })

  test('where a column is there twice, or one is missing that new rows need', () => {
    expect(() => row('customers', 'name,email,name', [])).toThrow('the column name is there twice')
    const attributes = 'name,customAttributes.a,customAttributes.a:number'
    expect(() => row('customers', attributes, [])).toThrow(
      'the column customAttributes.a:number is there twice',
    )
    expect(() => row('tickets', 'subject', [])).toThrow('new tickets need columns for: customerId')
    // Rows that are found by externalId may be there already.
    expect(row('tickets', 'externalId,priority', ['t-1', 'high'])).toEqual({
      externalId: 't-1',
      priority: 'high',
    })
  })
})

test('every kind can be imported from some columns', () => {
  for (const plural of plurals) {
    const accepted = /accepted: (.*?); --ignore/
    const refused = () => row(plural, 'nothing', [])
    expect(refused).toThrow(accepted)
  }
})
