/**
 * SQL from `.sql` files next to the code that calls it. Most files hold one function, type or statement, with its
 * argument and its promise at the top. What is written once for several tables is a template: `__name__` stands for a
 * name or a list of columns, and the lines between `-- each NAME` and `-- end NAME` are repeated for each entry of a
 * list.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { SchemaFunction } from './migration.ts'

/** The text of a file. `base`: the caller's `import.meta.url`. */
export function readSql(base: string, file: string): string {
  return readFileSync(new URL(file, base), 'utf8')
}

/** The statements of a file of tables, each with the comment before it. */
export function readStatements(base: string, file: string): readonly string[] {
  return statementsOf(readSql(base, file))
}

/**
 * Pure. A statement ends with a semicolon at the end of a line, outside of comments and of a function's body.
 * @throws when the last one does not end.
 */
export function statementsOf(text: string): readonly string[] {
  const statements = text.match(/(?:--.*\n|\$(\w*)\$[\s\S]*?\$\1\$|[\s\S])*?;\n/g) ?? []
  const rest = text.slice(statements.join('').length)
  if (/^(?!--|\s*$)/m.test(rest)) throw new Error(`a statement does not end with a semicolon: ${rest.trim()}`)
  return statements.map((statement) => statement.trim().slice(0, -1))
}

type Names = Readonly<Record<string, string>>

/** Pure. @throws when the template has a name or a list that it is not given. */
export function fillTemplate(
  template: string,
  names: Names,
  lists: Readonly<Record<string, readonly Names[]>> = {},
): string {
  const repeated = template.replace(
    /^[ \t]*-- each (\w+)\n([\s\S]*?)^[ \t]*-- end \1\n/gm,
    (_, name: string, lines: string) => {
      const entries = lists[name]
      if (entries === undefined) throw new Error(`the template has a list that it is not given: ${name}`)
      return entries.map((entry) => fillTemplate(lines, { ...names, ...entry })).join('')
    },
  )
  return repeated.replace(/__([a-z]\w*?)__/g, (_, name: string) => {
    const value = names[name]
    if (value === undefined) throw new Error(`the template has a name that it is not given: ${name}`)
    return value
  })
}

/**
 * The function or composite type that `text` creates. Its name gets a hash of its text, so that processes of two
 * releases can share a database; `uses` are the functions and types that the text calls by their names without a hash.
 */
export function schemaObject(text: string, uses: readonly SchemaFunction[] = []): SchemaFunction {
  const linked = uses.reduce(
    (linking, used) => linking.replace(callsOf(used), used.name),
    text.trim().replace(/;$/, ''),
  )
  const [head, created, purpose] = /^create (function|type) (\w+)/m.exec(linked) ?? []
  if (head === undefined || purpose === undefined) throw new Error('the text creates no function or type')
  const name = `${purpose}_${createHash('sha256').update(linked).digest('hex').slice(0, 12)}`
  const replacing = created === 'function' ? 'create or replace function' : 'create type'
  return { name, definition: linked.replace(head, () => `${replacing} ${name}`) }
}

/** The functions of a file with several, each with the comment before it; they may call those before them. */
export function schemaObjects(text: string, uses: readonly SchemaFunction[] = []): readonly SchemaFunction[] {
  const made: SchemaFunction[] = []
  for (const one of statementsOf(text)) made.push(schemaObject(one, [...uses, ...made]))
  return made
}

function callsOf({ name, definition }: SchemaFunction): RegExp {
  const purpose = name.replace(/_[0-9a-f]{12}$/, '')
  return new RegExp(/^create type /m.test(definition) ? `\\b${purpose}\\b` : `\\b${purpose}(?=\\()`, 'g')
}
