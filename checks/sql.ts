/**
 * `npm run check -- sql`: plpgsql_check reads every function of a migrated database, also those that a move adds to
 * tables. It judges what a parser cannot: names, types, variables and results.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../packages/service/src/db/migrate.ts'
import { createPool, endPool } from '../packages/service/src/db/pool.ts'
import { beginCapture } from '../packages/service/src/moves/capture.ts'
import { movingTables } from '../packages/service/src/moves/tables.ts'
import { schemaOf } from '../packages/service/src/schema.ts'
import { createServerIn } from './deploy/postgres-server.ts'
import { report } from './report.ts'

/** Functions in plpgsql, those of triggers once for each table that has one. */
const functions = `select p.oid, p.proname::text as name, coalesce(t.tgrelid, 0) as relid, t.tgoldtable as old_table, t.tgnewtable as new_table
  from pg_proc p join pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
  left join pg_trigger t on t.tgfoid = p.oid and t.tgparentid = 0
  where p.pronamespace = 'public'::regnamespace`

interface Finding {
  readonly function: string
  readonly line: number | null
  readonly statement: string | null
  readonly level: string
  readonly message: string
  readonly detail: string | null
}

const scratch = mkdtempSync(join(tmpdir(), 'deskwire-sql-'))
chmodSync(scratch, 0o711)
const postgres = await createServerIn(join(scratch, 'postgres'))
try {
  await postgres.run('postgres', 'create schema checking', 'create extension plpgsql_check schema checking')
  const pool = createPool({ url: postgres.url('postgres') }, { max: 2, onIdleError: () => {} })
  await migrate(pool, schemaOf())
  await beginCapture(pool, '01980000-0000-7000-8000-000000000001', await movingTables(pool))
  const { rows: checked } = await pool.query<{ count: number }>(
    `select count(*)::int as count from (${functions}) f`,
  )
  const { rows: findings } = await pool.query<Finding>(
    `select f.name as function, c.lineno as line, c.statement, c.level, c.message, c.detail from (${functions}) f
       cross join lateral checking.plpgsql_check_function_tb(f.oid, f.relid, oldtable => f.old_table,
         newtable => f.new_table, extra_warnings => true, security_warnings => true) c
       -- The first values of variables are literals, which have the type text there.
       where c.statement is distinct from 'statement block' or c.message <> 'target type is different type than source type'
       order by f.name, c.lineno`,
  )
  for (const { function: name, line, statement, level, message, detail } of findings)
    report(
      `${name}:${line ?? 0}: ${level}: ${message}${detail === null ? '' : ` (${detail})`} in ${statement ?? 'its declaration'}`,
      false,
    )
  report(`${findings.length} findings in ${checked[0]?.count} functions`, findings.length === 0)
  await endPool(pool)
} finally {
  await postgres.stop()
  rmSync(scratch, { recursive: true, force: true })
}
