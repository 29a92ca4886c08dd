/** How files become statements, templates are filled, and functions get their names. */
import { expect, test } from 'vitest'
import { fillTemplate, schemaObject, statementsOf } from '../../src/db/sql-file.ts'

test('a file is split at the ends of its statements, each with its comment', () => {
  const first = '-- What it is; and why;\ncreate table a (\n  -- Of this;\n  n int\n)'
  const second =
    "create function f() returns void language plpgsql as $function$\nbegin\n  perform ';';\nend;\n$function$"
  expect(statementsOf(`${first};\n\n${second};\n`)).toEqual([first, second])
  expect(statementsOf('')).toEqual([])
  expect(statementsOf('select 1;\n\n-- The end.\n')).toEqual(['select 1'])
})

test('a statement that does not end is refused, as it would be lost', () => {
  expect(() => statementsOf('select 1;\n-- More.\nselect 2\n')).toThrow(
    'does not end with a semicolon: -- More.',
  )
  expect(() => statementsOf('select 1')).toThrow('does not end')
})

test('names are put in, also next to an underscore, and lines are repeated for each entry of a list', () => {
  const template = `create index __table___by___column__ on __table__ (
  -- each column
  __column__ __type__,
  -- end column
  id)`
  const filled = fillTemplate(
    template,
    { table: 'notes', column: 'at' },
    {
      column: [
        { column: 'a', type: 'int' },
        { column: 'b', type: 'text' },
      ],
    },
  )
  expect(filled).toBe('create index notes_by_at on notes (\n  a int,\n  b text,\n  id)')
  expect(fillTemplate(template, { table: 'notes', column: 'at' }, { column: [] })).toBe(
    'create index notes_by_at on notes (\n  id)',
  )
})

test('a name or a list that is not given is refused', () => {
  expect(() => fillTemplate('select __what__', {})).toThrow('a name that it is not given: what')
  expect(() => fillTemplate('-- each one\nx\n-- end one\n', {})).toThrow('a list that it is not given: one')
})

test('a function is named by its text, and by the text of what it calls', () => {
  const callee = (result: number) =>
    schemaObject(`-- It.\ncreate function called() returns int language sql return ${result};\n`)
  const caller = (result: number) =>
    schemaObject('create function calls() returns int language sql return called() + not_called();\n', [
      callee(result),
    ])
  expect(caller(1)).toEqual(caller(1))
  expect(caller(1).name).toMatch(/^calls_[0-9a-f]{12}$/)
  expect(caller(1).name).not.toBe(caller(2).name)
  expect(caller(1).definition).toBe(
    `create or replace function ${caller(1).name}() returns int language sql return ${callee(1).name}() + not_called()`,
  )
  expect(() => schemaObject('select 1')).toThrow('the text creates no function or type')
})

test('a type is put in where it is named, also when a comment comes first', () => {
  const type = schemaObject('-- A pair.\ncreate type pair as (a int, b int);\n')
  expect(type.definition).toBe(`-- A pair.\ncreate type ${type.name} as (a int, b int)`)
  const user = schemaObject('create function f(p pair[]) returns void language sql as $$ $$;\n', [type])
  expect(user.definition).toContain(`(p ${type.name}[])`)
})
