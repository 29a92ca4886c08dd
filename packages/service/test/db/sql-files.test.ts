/** SQL is in files that a person and a parser can read: the rules of db/sql-file.ts, for each file and for what is made of them. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadModule, parsePlPgSQLSync, parseSync } from 'libpg-query'
import { expect, test } from 'vitest'
import { statementsOf } from '../../src/db/sql-file.ts'
import { schemaOf } from '../../src/schema.ts'

await loadModule()

const src = fileURLToPath(new URL('../../src', import.meta.url))
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(ts|sql)$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(src, path), 'utf8') }))
const files = sources.filter(({ path }) => path.endsWith('.sql'))
const modules = sources.filter(({ path }) => path.endsWith('.ts'))

/** Parses the statements, and the bodies of functions in plpgsql. @throws where PostgreSQL would refuse the syntax. */
function parse(text: string): number {
  // The parser knows no types of a database.
  const known = text
    .replaceAll(/\b(returns|as|v_\w+) \w+\[\]/g, '$1 text[]')
    .replaceAll(/\breturns written_row\w*/g, 'returns text')
  if (/language plpgsql/.test(text))
    for (const statement of statementsOf(`${known.trim().replace(/;$/, '')};\n`)) parsePlPgSQLSync(statement)
  return parseSync(text).stmts?.length ?? 0
}

test('there are files to look at', () => {
  expect(files.length).toBeGreaterThan(50)
})

test.each(files)('$path begins with a comment, and parses as it is', ({ text }) => {
  expect(text).toMatch(/^-- \S/)
  expect(text).toMatch(/[^\n]\n$/)
  // A file of one statement for a driver may leave its semicolon out.
  expect(parse(text)).toBe(/;\n(?:--.*\n|\n)*$/.test(text) ? statementsOf(text).length : 1)
})

test('no line is longer than 120 characters', () => {
  const wide = files.filter(({ text }) => text.split('\n').some((line) => line.length > 120))
  expect(wide.map(({ path }) => path)).toEqual([])
})

test('a file with a function or type has its name, and nothing else, but for the parts of a kind and of a body', () => {
  const letters = (name = '') => name.replace('___kind__', '').replaceAll(/[_-]/g, '')
  const made = files.flatMap(({ path, text }) =>
    [...text.matchAll(/^create (?:function|type) (\w+)/gm)].map(([, name]) => ({ path, name })),
  )
  expect(made.length).toBeGreaterThan(30)
  const several = ['journal/kind.sql', 'journal/body.sql']
  const alone = made.filter(({ path }) => !several.includes(path))
  expect(alone.filter(({ path, name }) => letters(basename(path, '.sql')) !== letters(name))).toEqual([])
})

test('modules name the files that there are, and no others', () => {
  const named = modules.flatMap(({ path, text }) =>
    [...text.matchAll(/'(\.[^']*\.sql)'/g)].map(([, file]) => join(dirname(path), file as string)),
  )
  expect([...new Set(named)].sort()).toEqual(files.map(({ path }) => path).sort())
})

test('every function and statement that is made of them parses', () => {
  const { functions, migrations } = schemaOf()
  for (const { definition } of functions) expect(parse(definition)).toBe(1)
  for (const statement of migrations.flatMap((migration) => migration.statements))
    expect(parse(statement), statement).toBe(1)
})

test('a function calls only functions that the schema has, and by their names with a hash', () => {
  const { functions } = schemaOf()
  const names = functions.map(({ name }) => name)
  const purposes = names.map((name) => name.replace(/_[0-9a-f]{12}$/, ''))
  const wrong = functions.flatMap(({ name, definition }) => {
    const code = definition.replaceAll(/--.*$/gm, '')
    const called = [...code.matchAll(/\b\w+_[0-9a-f]{12}\b/g)].map(([word]) => word)
    const unlinked = [...code.matchAll(/\b(\w+)\(/g)].map(([, word]) => word as string)
    return [
      ...called.filter((other) => !names.includes(other)),
      ...unlinked.filter((other) => purposes.includes(other)),
    ].map((other) => `${name}: ${other}`)
  })
  expect(wrong).toEqual([])
})

test('no module has the text of a function', () => {
  const writing = modules.filter(({ text }) =>
    /create (or replace )?function \w|language plpgsql|\bschemaFunction\(/.test(
      text.replaceAll(/\/\*[\s\S]*?\*\//g, ''),
    ),
  )
  expect(writing.map(({ path }) => path)).toEqual([])
})
