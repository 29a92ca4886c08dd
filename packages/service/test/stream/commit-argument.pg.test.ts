/** The commit function's argument is typed once: what TypeScript writes is what the database's types read. */
import { expect, test } from 'vitest'
import { testJournal } from '../../../testbed/journal.ts'
import { commitChangeType, commitLimitsType } from '../../src/journal/commit-function.ts'
import {
  changeAttributes,
  encodeUnits,
  limitAttributes,
  separator,
} from '../../src/journal/commit-protocol.ts'

test('the attributes of both types are those that are written, in their order', async () => {
  await using journal = await testJournal()
  const attributesOf = async (type: string) => {
    const { rows } = await journal.pool.query<{ name: string }>(
      `select a.attname::text as name from pg_attribute a
         where a.attrelid = $1::text::regclass and a.attnum > 0 order by a.attnum`,
      [type],
    )
    return rows.map(({ name }) => name)
  }
  expect(await attributesOf(commitChangeType.name)).toEqual(Object.keys(changeAttributes))
  expect(await attributesOf(commitLimitsType.name)).toEqual(limitAttributes)
})

test('texts come through as they are: quotes, backslashes, brackets, commas, lines, and nothing', async () => {
  await using journal = await testJournal()
  const { pool, decide, organizationId } = journal
  const names = [
    '"',
    '\\',
    '\\"',
    '(a,b)',
    '{"x": null}',
    ' , ',
    'a\nb\r\nc',
    "'",
    'NULL',
    '😀 \\u0000',
    '}"{',
    'a\x1e"\x1eb',
    '\x1e',
  ]
  const created = await Promise.all(
    names.map((name) => decide.customer.create(organizationId, { name, tags: [name] })),
  )
  const { changes, heads } = encodeUnits(
    created.map((change) => ({ changes: [change] })),
    { maxAttempts: 6, waitsForLock: false, maxClockSkew: null },
  )
  const { rows } = await pool.query<{
    head: string
    own: unknown
    ends: null
    events: string[]
    terms: string
  }>(
    `select (string_to_array($2, $3))[c.head] as head, c.own, c.ends, c.events, c.terms
       from unnest(string_to_array($1, $3)::${commitChangeType.name}[]) c`,
    [changes, heads, separator],
  )
  expect(rows).toEqual(
    created.map((change) => {
      if (change.operation !== 'insert') throw new Error('it creates one')
      const { head, columns, events, searchDocument } = change
      return { head, own: columns, ends: null, events, terms: searchDocument?.terms }
    }),
  )
})
