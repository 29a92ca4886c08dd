/**
 * The schema as a database has it after all migrations, for reading: a map, every table with its keys, checks and indexes,
 * then the functions. Tables come from the catalogue of a database that was migrated, not from the migrations: a reader
 * sees what is there, and not by which steps it came. Functions that have a part for each kind are shown for one.
 */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { embedded } from '../../packages/service/src/db/embedded.ts'
import { migrate, migrationsTable } from '../../packages/service/src/db/migrate.ts'
import { createPool, type endPool } from '../../packages/service/src/db/pool.ts'
import { kinds } from '../../packages/service/src/desk/index.ts'
import { schemaOf } from '../../packages/service/src/schema.ts'

type Database = Pick<Parameters<typeof endPool>[0], 'query'>

/** Whose parts of functions are shown. */
const shownKinds = ['conversation']

const statements = () => [
  migrationsTable,
  ...schemaOf().migrations.flatMap((migration) => migration.statements),
]

/** What each table is, in the order in which they are created: the comment above its statement. */
function descriptions(): ReadonlyMap<string, string> {
  return new Map(
    statements().flatMap((statement) => {
      const [, comment, name] = /^((?:-- .*\n)+)create table (?:if not exists )?(\w+) /m.exec(statement) ?? []
      return comment === undefined || name === undefined ? [] : [[name, comment.trim()] as const]
    }),
  )
}

/** As migrations wrote them, each with the comment above it. */
function views(): readonly string[] {
  return statements()
    .filter((statement) => /^create view /m.test(statement))
    .map((statement) => `${statement};\n`)
}

/** The functions that migrations made, as they wrote them. @throws when the database has others. */
async function functionsOfMigrations(database: Database): Promise<readonly string[]> {
  const { rows } = await database.query<{ name: string }>(functionsQuery)
  const written = new Map(
    statements().flatMap((statement) => {
      const [, name] = /^create function (\w+)\(/m.exec(statement) ?? []
      return name === undefined ? [] : [[name, statement] as const]
    }),
  )
  return rows.map(({ name }) => {
    const statement = written.get(name)
    if (statement === undefined) throw new Error(`no migration makes the function ${name}`)
    return `${statement};\n`
  })
}

/**
 * Those of this version that a commit and the completion of its deliveries run, for the kinds that are shown, by their
 * names in the files; of the others the names alone, which their files have.
 */
function functionsOfVersion(): readonly string[] {
  const { functions, commitFunction } = schemaOf(kinds.filter(({ name }) => shownKinds.includes(name)))
  const withoutHash = new RegExp(`\\b(${functions.map(({ name }) => name).join('|')})\\b`, 'g')
  const plainName = (name: string) => name.replace(/_[0-9a-f]{12}$/, '')
  const run = new Set([commitFunction.name])
  const others = ['complete_deliveries', 'lock_clock', 'wake_queues']
  for (const { name } of functions) if (others.includes(plainName(name))) run.add(name)
  for (const name of run)
    for (const [called] of functions.find((one) => one.name === name)?.definition.matchAll(withoutHash) ?? [])
      run.add(called)
  const rest = functions.filter(({ name }) => !run.has(name)).map(({ name }) => plainName(name))
  return [
    ...functions
      .filter(({ name }) => run.has(name))
      .map(({ definition }) => {
        const text = definition.replace(withoutHash, plainName)
        return `${text.replace(/^create or replace function/m, 'create function')};\n`
      }),
    `-- Others, each in a file of its name below packages/service/src:\n${wrapped(rest.sort().join(', '))}\n`,
  ]
}

/** As lines of a comment. */
function wrapped(text: string): string {
  return text.replace(/(.{1,110})(?:, |$)/g, '-- $1\n').trimEnd()
}

/** Creates a database, migrates it, renders its schema and drops it. */
export async function schemaPage(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'deskwire-schema-'))
  const database = await embedded.start({ dataDir })
  try {
    const pool = createPool(database.connection, { max: 1, onIdleError: () => {} })
    try {
      await migrate(pool, schemaOf())
      return await renderSchema(pool)
    } finally {
      await pool.end()
    }
  } finally {
    await database.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** The schema of a migrated database. */
export async function renderSchema(database: Database): Promise<string> {
  const found = await database.query<Table>(tablesQuery)
  const described = descriptions()
  const unknown = found.rows.filter(({ name, parent }) => parent === null && !described.has(name))
  if (unknown.length > 0) {
    const names = unknown.map(({ name }) => name).join(', ')
    throw new Error(`nothing says what ${names} is: write a comment above its "create table"`)
  }
  const order = [...described.keys()]
  const shown = found.rows.toSorted(
    (a, b) =>
      order.indexOf(a.parent ?? a.name) - order.indexOf(b.parent ?? b.name) ||
      Number(a.parent !== null) - Number(b.parent !== null) ||
      (a.name < b.name ? -1 : 1),
  )
  return [
    map,
    ...withoutRepetition(
      shown.map((table) => [table.name, tableText(table, described.get(table.name) ?? '')]),
    ),
    ...views(),
    '-- Functions that migrations made.\n',
    ...(await functionsOfMigrations(database)),
    ofVersion,
    ...functionsOfVersion(),
  ].join('\n')
}

/** The words of each kind have a table; those that differ in their names alone are shown once. */
function withoutRepetition(texts: readonly (readonly [name: string, text: string])[]): readonly string[] {
  const first = new Map<string, string>()
  return texts.map(([name, text]) => {
    const kind = /^(\w+)_words$/.exec(name)?.[1]
    if (kind === undefined) return text
    const pattern = text.replaceAll(new RegExp(`\\b${kind}(?=\\b|_words)`, 'g'), '')
    const like = first.get(pattern)
    first.set(pattern, like ?? name)
    return like === undefined ? text : `-- ${name} is like ${like}.\n`
  })
}

const map = readFileSync(new URL('schema-map.sql', import.meta.url), 'utf8')

const ofVersion = `-- Functions of this version, the commit function first. In a database each name ends in a hash of the function's text,
-- so that processes of two releases can share it. What has a part for each kind is shown for one: ${shownKinds.join(', ')}.
-- What each key of the commit function's argument means: packages/service/src/journal/commit-protocol.ts.
`

interface Table {
  readonly name: string
  /** Its table and bounds, for a partition. */
  readonly parent: string | null
  readonly bound: string | null
  readonly partitioned: string | null
  readonly options: string | null
  readonly columns: readonly string[]
  readonly constraints: readonly string[]
  readonly indexes: readonly string[]
  readonly triggers: readonly string[]
  /** Without statistics. */
  readonly uncounted: readonly string[]
}

function tableText(table: Table, description: string): string {
  const { name, parent, bound, partitioned, options, columns, constraints, indexes } = table
  const { triggers, uncounted } = table
  const lines: string[] = []
  const withOptions = options === null ? '' : ` with (${options})`
  if (parent === null) {
    lines.push(description)
    const members = [...columns, ...constraints]
      .map(plain)
      .map((member) => `  ${member}`)
      .join(',\n')
    const partitionedBy = partitioned === null ? '' : ` partition by ${plain(partitioned)}`
    lines.push(`create table ${name} (\n${members}\n)${partitionedBy}${withOptions};`)
  } else {
    lines.push(`create table ${name} partition of ${parent} ${plain(bound ?? '')}${withOptions};`)
  }
  lines.push(...indexes.map((index) => `${plain(index)};`))
  if (parent === null) lines.push(...triggers.map((trigger) => `${plain(trigger)};`))
  if (parent === null && uncounted.length > 0)
    lines.push(`-- No statistics are kept of ${uncounted.join(', ')}.`)
  return `${lines.join('\n')}\n`
}

/** Lower case (names have no capitals), without what goes without saying. */
function plain(sql: string): string {
  return sql
    .replace(/'[^']*'|[A-Z]+/g, (part) => (part.startsWith("'") ? part : part.toLowerCase()))
    .replace(/timestamp(\(3\))? with time zone/g, 'timestamptz$1')
    .replace(' using btree ', ' ')
}

const tablesQuery = `select c.relname as name, pc.relname as parent,
    pg_get_expr(c.relpartbound, c.oid) as bound, pg_get_partkeydef(c.oid) as partitioned,
    array_to_string(c.reloptions, ', ') as options,
    array(select a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
        || case when a.attnotnull then ' not null' else '' end
        || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
      from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum)::text[] as columns,
    array(select pg_get_constraintdef(k.oid, true) from pg_constraint k
      where k.conrelid = c.oid and k.contype in ('p', 'u', 'f', 'c')
      order by position(k.contype in 'pufc'), pg_get_constraintdef(k.oid, true))::text[] as constraints,
    array(select pg_get_indexdef(i.indexrelid, 0, true) from pg_index i
      where i.indrelid = c.oid and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid)
        and not exists (select 1 from pg_inherits h where h.inhrelid = i.indexrelid)
      order by i.indexrelid::regclass::text)::text[] as indexes,
    array(select pg_get_triggerdef(t.oid, true) from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal
      order by t.tgname)::text[] as triggers,
    array(select a.attname from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and a.attstattarget = 0
      order by a.attnum)::text[] as uncounted
  from pg_class c
  left join pg_inherits p on p.inhrelid = c.oid
  left join pg_class pc on pc.oid = p.inhparent
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')`

const functionsQuery = `select p.proname::text as name from pg_proc p
  where p.pronamespace = current_schema()::regnamespace and p.proname !~ '_[0-9a-f]{12}$'
  order by p.proname`
