/**
 * Triggers on each table of the source, for the rows of one organization while it moves.
 *
 * **They note each row that is written**, in the writer's transaction, so that it is copied again. **They are the fence**: each writer
 * holds a shared lock until its transaction ends; the mover takes it exclusively, and has then seen all that will ever be written there. A
 * writer waits meanwhile, on any table and from any program; once the organization has left, it is refused.
 *
 * Rows of other organizations cost a comparison. Without a move there are no triggers.
 */
import { escapeIdentifier, escapeLiteral, type Pool } from 'pg'
import { inTransaction } from '../../db/migrate.ts'
import { type SchemaFunction, schemaFunction } from '../../db/migration.ts'
import { refuseNotServed } from '../../journal/not-served.ts'
import type { MovingTable } from './tables.ts'

/** Lets the transaction of the mover of organization `$1` write through the fence. */
export const asMover = `select set_config('deskwire.mover', $1::text, true)`

/** The shared lock of the organization's writers, as SQL of its id, a text. */
export function fenceOf(organizationId: string): string {
  return `hashtextextended(${organizationId}, 66)`
}

/** The trigger function of a table; its argument is the organization's id. Rows left behind may be deleted when they expire. */
function noteFunction({ name, key, atCutover }: MovingTable): SchemaFunction {
  const keyOf = (row: string) =>
    `jsonb_build_object(${key.map((column) => `'${column.name}', ${row}.${column.name}`).join(', ')})`
  const note = (row: string) =>
    `insert into move_changes (organization_id, table_name, key) values (tg_argv[0]::uuid, '${name}', ${keyOf(row)});`
  const notes = atCutover
    ? ''
    : `
  if v_state = 'copying' and tg_op <> 'INSERT' then
    ${note('old')}
  end if;
  if v_state = 'copying' and (tg_op = 'INSERT' or tg_op = 'UPDATE' and ${keyOf('new')} <> ${keyOf('old')}) then
    ${note('new')}
  end if;`
  // While deliveries drain before the cutover, none begins: those under way are completed here, so that none is sent twice.
  const claims =
    name === 'endpoint_queues'
      ? `
  if tg_op = 'UPDATE' and new.lease_id is distinct from old.lease_id and new.lease_id is not null
      and exists (select 1 from organization_moves m where m.organization_id = tg_argv[0]::uuid
        and m.draining_until > clock_timestamp()) then
    return null;
  end if;`
      : ''
  return schemaFunction(
    `move_${name}`,
    { arguments: '', returns: 'trigger' },
    `declare
  v_state text;
begin
  if current_setting('deskwire.mover', true) is distinct from tg_argv[0] then
    perform pg_advisory_xact_lock_shared(${fenceOf('tg_argv[0]')});
    select m.state into v_state from organization_moves m where m.organization_id = tg_argv[0]::uuid;
    if v_state <> 'copying'${atCutover ? '' : " and tg_op <> 'DELETE'"} then
      ${refuseNotServed('(select o.away from organizations o where o.organization_id = tg_argv[0]::uuid)')}
    end if;
  end if;${claims}${notes}
  if tg_op = 'DELETE' then
    return old;
  end if;
  return new;
end;`,
  )
}

const captureLock = 6_737_201_166

/** Creates missing triggers, a table at a time, each in a moment without a writer of that table. Returns whether all existed. */
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
