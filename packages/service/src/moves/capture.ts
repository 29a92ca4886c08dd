/**
 * Triggers on each table of the source, for the rows of one organization while it moves.
 *
 * They note each row that is written, in the writer's transaction, and they are the fence (`move-table.sql`). A writer
 * waits while the mover holds the fence, on any table and from any program.
 *
 * Rows of other organizations cost a comparison. Without a move there are no triggers.
 */
import { escapeIdentifier, escapeLiteral, type Pool } from 'pg'
import { inTransaction } from '../db/migrate.ts'
import type { SchemaFunction } from '../db/migration.ts'
import { fillTemplate, readSql, schemaObject } from '../db/sql-file.ts'
import type { MovingTable } from './tables.ts'

/** Lets the transaction of the mover of organization `$1` write through the fence. */
export const asMover = `select set_config('deskwire.mover', $1::text, true)`

const fenceSeed = 66

/** The shared lock of the organization's writers, as SQL of its id, a text. */
export function fenceOf(organizationId: string): string {
  return `hashtextextended(${organizationId}, ${fenceSeed})`
}

function noteFunction({ name, key, atCutover }: MovingTable): SchemaFunction {
  const names = { table: name, at_cutover: String(atCutover), fence_seed: String(fenceSeed) }
  const keys = key.map((column) => ({ column: column.name }))
  return schemaObject(
    fillTemplate(readSql(import.meta.url, './move-table.sql'), names, {
      key: keys,
      leased: name === 'endpoint_queues' ? [{}] : [],
    }),
  )
}

const captureLock = 6_737_201_166

/**
 * Creates missing triggers, a table at a time, each in a moment without a writer of that table. Returns whether all
 * existed.
 */
export async function beginCapture(
  pool: Pool,
  organizationId: string,
  tables: readonly MovingTable[],
): Promise<boolean> {
  const existing = await captured(pool, organizationId)
  const missing = tables.filter(({ name }) => !existing.has(name))
  const client = await pool.connect()
  try {
    for (const table of missing) {
      const { name: functionName, definition } = noteFunction(table)
      await inTransaction(client, async () => {
        await client.query(`select pg_advisory_xact_lock(${captureLock})`)
        const { rows } = await client.query<{ there: boolean }>(
          'select to_regproc($1) is not null as there',
          [functionName],
        )
        if (rows[0]?.there !== true) await client.query(definition)
        const made = triggersOf(organizationId).map(
          ([name, when, row]) =>
            `create trigger ${name} before ${when} on ${escapeIdentifier(table.name)} for each row
               when (${row}.organization_id = ${escapeLiteral(organizationId)}) execute function ${functionName}(${escapeLiteral(organizationId)})`,
        )
        await client.query(made.join('; '))
      })
    }
  } finally {
    client.release()
  }
  return missing.length === 0
}

export async function endCapture(pool: Pool, organizationId: string): Promise<void> {
  const existing = await captured(pool, organizationId)
  const client = await pool.connect()
  try {
    for (const table of existing)
      await inTransaction(client, async () => {
        for (const [name] of triggersOf(organizationId))
          await client.query(`drop trigger if exists ${name} on ${escapeIdentifier(table)}`)
      })
  } finally {
    client.release()
  }
}

/** The tables that have both triggers. */
async function captured(db: Pick<Pool, 'query'>, organizationId: string): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ name: string }>(
    `select c.relname::text as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
       where c.relnamespace = current_schema()::regnamespace and not c.relispartition and t.tgname = any($1)
       group by c.relname having count(*) = 2`,
    [triggersOf(organizationId).map(([name]) => name)],
  )
  return new Set(rows.map(({ name }) => name))
}

/** Name, events, and the row that has the organization's id. */
function triggersOf(organizationId: string): readonly (readonly [string, string, 'new' | 'old'])[] {
  const name = `moving_${organizationId.replaceAll('-', '')}`
  return [
    [name, 'insert or update', 'new'],
    [`${name}_gone`, 'delete', 'old'],
  ]
}
