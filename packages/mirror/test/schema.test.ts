/** Tables, made of the service's own document. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { kinds as declared } from '../../service/src/desk/index.ts'
import { MirrorError } from '../src/index.ts'
import { cellsOf } from '../src/row.ts'
import { kindsOf, tableOf } from '../src/schema.ts'

const document = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'))
const kinds = kindsOf(document)

function columnsOf(name: string): string[] {
  return (kinds.get(name)?.columns ?? []).map(
    (column) => `${column.name} ${column.type}${column.refers ? ' →' : ''}`,
  )
}

test('every kind has a table, and nothing else has', () => {
  expect([...kinds.values()].map(({ name, plural }) => [name, plural]).sort()).toEqual(
    declared.map(({ name, plural }) => [name, plural]).sort(),
  )
})

test('a field is a column of its type', () => {
  expect(columnsOf('message')).toEqual([
    'id uuid',
    'organization_id uuid',
    'created_at timestamp',
    'conversation_id uuid →',
    'direction text',
    'author json',
    'body text',
    'content_type text',
    'attachments json',
    'sent_at timestamp',
    'channel text',
    'external_id text',
    'customer_id uuid →',
    'updated_at timestamp',
  ])
  expect(columnsOf('ticket')).toEqual(
    expect.arrayContaining(['number integer', 'tags texts', 'assignee_id uuid →']),
  )
  expect(columnsOf('teammate')).toContain('active boolean')
  expect(kinds.get('teammate')?.columns.find(({ field }) => field === 'email')?.comment).toMatch(/lower case/)
})

test('what a later release declares comes behind what is there', () => {
  const later = structuredClone(document)
  const { properties } = later.components.schemas.Teammate
  later.components.schemas.Teammate.properties = {
    score: { type: ['number', 'null'] },
    ...properties,
    removedAt: { type: 'string' },
    either: { type: ['string', 'integer'] },
  }
  const teammate = kinds.get('teammate')
  const before = teammate && tableOf(teammate, 'teammates', true)
  const after = tableOf(
    kindsOf(later).get('teammate') as NonNullable<typeof teammate>,
    'teammates',
    true,
    before,
  )
  expect(after.columns.slice(0, before?.columns.length)).toEqual(before?.columns)
  const added = after.columns.slice(before?.columns.length).map(({ name, type }) => `${name} ${type}`)
  expect(added).toEqual(['score number', 'removed_at_ text', 'either json'])
})

test('a field that is no longer declared keeps its column, which new rows leave empty', () => {
  const later = structuredClone(document)
  delete later.components.schemas.Teammate.properties.name
  const teammate = (of: object) => kindsOf(of).get('teammate') ?? expect.unreachable('there are teammates')
  const before = tableOf(teammate(document), 'teammates', true)
  const after = tableOf(teammate(later), 'teammates', true, before)
  const nameOf = ({ columns }: typeof before) => columns.find(({ field }) => field === 'name')
  expect(nameOf(before)).toMatchObject({ required: true })
  expect(nameOf(after)).toMatchObject({ required: false, dropped: true })
  expect(tableOf(teammate(later), 'teammates', true, after)).toEqual(after)
})

test('an answer that is no document of Deskwire is refused', () => {
  for (const answer of [null, {}, [], { paths: { '/v1/x/{id}': {} } }])
    expect(() => kindsOf(answer)).toThrow(MirrorError)
})

test('a value of another type than its column leaves it empty', () => {
  const ticket = kinds.get('ticket')
  const table = tableOf(ticket as NonNullable<typeof ticket>, 'tickets', false)
  const cell = (field: string, value: unknown) =>
    cellsOf(table, { [field]: value })[table.columns.findIndex((column) => column.field === field)]
  expect([cell('number', 7), cell('number', 7.5), cell('number', '7')]).toEqual([7, null, null])
  expect([cell('subject', 'a'), cell('subject', 1), cell('subject', undefined)]).toEqual(['a', null, null])
  expect([cell('customerId', 'ABC'), cell('dueAt', 'soon'), cell('dueAt', null)]).toEqual([null, null, null])
  expect([cell('tags', ['a']), cell('tags', 1), cell('tags', null)]).toEqual(['["a"]', null, null])
})
