import { expect, test } from 'vitest'
import { csvHeader, csvRow } from '../src/screens/desk/csv.ts'

const row = {
  id: 'a',
  object: 'customer',
  name: 'Hopper, "Grace"\nRear Admiral',
  email: null,
  phone: '+442071234567',
  tags: ['vip', 'news'],
  seats: -3,
  customAttributes: { plan: '=1+1' },
}

test('a row has its fields as columns, quoted where they must be', () => {
  expect(csvHeader(row)).toBe('\uFEFFid,name,email,phone,tags,seats,customAttributes\r\n')
  expect(csvRow(row)).toBe(
    'a,"Hopper, ""Grace""\nRear Admiral",,+442071234567,vip;news,-3,"{""plan"":""=1+1""}"\r\n',
  )
})

test.each(['=HYPERLINK("http://x")', '@SUM(1)', '+1+cmd|calc', '-1+1', '\t=1', '\r=1', '\n=1'])(
  'a spreadsheet takes %j as text',
  (text) => {
    expect(csvRow({ text })).toMatch(/^"?'/)
    expect(csvRow({ tags: [text] })).toMatch(/^"?'/)
  },
)
