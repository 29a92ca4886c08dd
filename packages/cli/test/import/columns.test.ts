/** Columns by the declarations of the kinds: what is accepted, and what becomes of a cell. */
import { describe, expect, test } from 'vitest'
import { itemOf, readHeader } from '../../src/import/columns.ts'
import { kindNamed, plurals } from '../../src/kinds.ts'

const row = (plural: string, columns: string, cells: readonly string[], ignored: string[] = []) =>
  itemOf(readHeader(kindNamed(plural), columns.split(','), ignored), cells)

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
      'name,customAttributes.plan,customAttributes.a.b:c,customAttributes.seats:number,customAttributes.vip:boolean'
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
    // What cannot be read goes on as it is: the service says what it accepts.
    expect(attributes(['', '', 'many', 'yes'])).toEqual({ seats: 'many', vip: 'yes' })
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
