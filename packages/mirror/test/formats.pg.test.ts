/** What PostgreSQL reads and prints, against PostgreSQL: a column that nobody has touched reads as it was written. */

import { readJson } from '@deskwire/sdk/json'
import fc from 'fast-check'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { anyCharacter } from '../../testbed/any-character.ts'
import { testDatabase } from '../../testbed/database.ts'
import type { Cell, Column, ColumnType } from '../src/index.ts'
import { arrayText } from '../src/stores/array-text.ts'
import { copyLine, copyLines, copyValues } from '../src/stores/copy-text.ts'
import { jsonbText } from '../src/stores/jsonb.ts'
import { PostgresStore } from '../src/stores/postgres.ts'

/** Text that PostgreSQL can hold: the service takes no other. */
const text = fc
  .string({ unit: anyCharacter, maxLength: 12 })
  .map((value) => value.toWellFormed().replaceAll('\u0000', '\\'))
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value))
const time = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map((date) => date.toISOString())
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    double,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 5 }),
  ),
})).value

/** What an array's text has to quote. */
const listed = fc.constantFrom('', 'null', 'NULL', 'a b', 'a,b', '{}', '"', '\\', '\t', '\u00a0', ' ')

const cells: Record<ColumnType, fc.Arbitrary<Cell>> = {
  uuid: fc.uuid(),
  text,
  integer: fc.maxSafeInteger(),
  number: double,
  boolean: fc.boolean(),
  timestamp: time,
  json: json.map((value) => JSON.stringify(value)),
  texts: fc.array(fc.oneof(text, listed), { maxLength: 4 }).map((value) => JSON.stringify(value)),
}
const types: Record<ColumnType, string> = {
  uuid: 'uuid',
  text: 'text',
  integer: 'bigint',
  number: 'double precision',
  boolean: 'boolean',
  timestamp: 'timestamptz',
  json: 'jsonb',
  texts: 'text[]',
}

test('each type of column reads as shown() says', async () => {
  await using database = await testDatabase({ template: null })
  const client = new Client(database.connection)
  await client.connect()
  await client.query("set timezone = 'UTC'")
  const store = new PostgresStore({ connection: database.connection })
  try {
    for (const [type, cell] of Object.entries(cells) as [ColumnType, fc.Arbitrary<Cell>][]) {
      const values = fc.sample(cell, { numRuns: 500, seed: 7 })
      // An array of arrays would become one: lists are read from the texts that the store writes.
      const given = type === 'texts' ? values.map((value) => arrayText(JSON.parse(value as string))) : values
      const text = `select v::${types[type]} as v from unnest($1::${type === 'texts' ? 'text' : types[type]}[]) with ordinality as t (v, n) order by n`
      const raw = { getTypeParser: () => (value: unknown) => value }
      const { rows } = await client.query<{ v: string }>({ text, values: [given], types: raw })
      const column = { type } as Column
      const shown = rows.map(({ v }) => v)
      expect(shown).toEqual(values.map((value) => store.shown(column, value)))
      if (type === 'json' || type === 'texts')
        expect(shown).toEqual(values.map((value) => store.shown(column, value, readJson(value as string))))
    }
  } finally {
    await client.end()
  }
})

test('keys of jsonb are in the order of their lengths, and then of their bytes', () => {
  expect(jsonbText({ bb: 1, é: 2, a: [1e21, -1.5e-7, true, null], '': '\u001f\t' })).toBe(
    '{"": "\\u001f\\t", "a": [1000000000000000000000, -0.00000015, true, null], "bb": 1, "é": 2}',
  )
})

test('a line of COPY holds any text', () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.string({ unit: fc.constantFrom('\\', 'N', '\t', '\n', '\r', 'é', 'b') }))),
      (values) => {
        fc.pre(values.length > 0)
        const line = copyLine(values)
        expect(line).not.toContain('\n')
        expect(copyValues(line)).toEqual(values)
      },
    ),
  )
})

test('lines are whole wherever their bytes are cut', async () => {
  const bytes = Buffer.from('eins\nzwölf\n\ndrei\n')
  for (let cut = 0; cut <= bytes.length; cut++) {
    for (let second = cut; second <= bytes.length; second++) {
      const pieces = [bytes.subarray(0, cut), bytes.subarray(cut, second), bytes.subarray(second)]
      const lines: string[] = []
      for await (const some of copyLines(inTurn(pieces))) lines.push(...some)
      expect(lines).toEqual(['eins', 'zwölf', '', 'drei'])
    }
  }
})

async function* inTurn<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}
