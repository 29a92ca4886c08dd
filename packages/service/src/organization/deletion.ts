/**
 * Deletes an organization with all its rows (decision 43). One commit removes its keys and endpoints, so that nothing
 * is accepted or sent. Then come its rows, table by table in pieces, and last, under its clock row, what was written
 * meanwhile, the clock and the organization. An interrupted deletion continues when it is repeated.
 */
import { DatabaseError, escapeIdentifier, escapeLiteral, type Pool, type PoolClient } from 'pg'
import { directoryTables } from '../databases/directory.ts'
import { type Tx, transaction } from '../db/pool.ts'
import { deleteEndpointsOf, lockEndpointsOf } from '../delivery/endpoints-table.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'

/** Some tens of milliseconds a commit. */
const pieceOfRows = 2_000
const undefinedTable = '42P01'
/** How long to wait for the organization's clock row; commits hold it for less. */
const clockWithin = '30s'

/** The message says why it cannot be deleted now, and what to do. */
export class DeletionError extends Error {}

interface DeletionOptions {
  readonly onPiece?: (rows: number) => void
  readonly rowsAPiece?: number
}

/** Returns the number of rows; null: no such organization. `onPiece` gets the rows so far; `rowsAPiece`: for tests. */
export async function deleteOrganization(
  pool: Pool,
  clock: Clock,
  organizationId: string,
  { onPiece = () => {}, rowsAPiece = pieceOfRows }: DeletionOptions = {},
): Promise<number | null> {
  const closed = await transaction(pool, (tx) => close(tx, clock, organizationId))
  if (closed === null) return null
  let gone = closed
  const onRows = (rows: number) => {
    gone += rows
    onPiece(gone)
  }
  await removeRows(pool, organizationId, { rowsAPiece, onRows })
  return gone
}

/** Deletes all rows of an organization that this database does not serve, or the remains of one. */
export async function removeRows(
  pool: Pool,
  organizationId: string,
  {
    rowsAPiece = pieceOfRows,
    onRows = () => {},
  }: { rowsAPiece?: number; onRows?: (rows: number) => void } = {},
): Promise<void> {
  const tables = await tablesWithRows(pool)
  const client = await pool.connect()
  let failed = true
  try {
    for (const table of tables)
      if (!deletedLast.includes(table))
        await removeFrom(client, table, organizationId, { rowsAPiece, onRows })
    failed = false
  } finally {
    // A cursor that is left ends with its connection.
    client.release(failed)
  }
  onRows(await transaction(pool, (tx) => removeRest(tx, organizationId)))
}

/** Other writers lock or refer to these while the organization exists. */
const deletedLast = ['organization_clocks', 'organizations']

/** Marks it as being deleted, and removes keys and endpoints with their dependents; null: no such organization. */
async function close(tx: Tx, clock: Clock, organizationId: string): Promise<number | null> {
  await lockClock(tx, organizationId)
  const moving = await tx.query(
    `select 1 from organization_moves m where m.organization_id = $1 and m.state = 'copying'`,
    [organizationId],
  )
  if (moving.rowCount !== 0)
    throw new DeletionError(
      `organization ${organizationId} is being moved to another database: finish that, or take it back with deskwire organizations move ${organizationId} --abort`,
    )
  const { rowCount } = await tx.query(
    `update organizations set suspended_at = coalesce(suspended_at, $2), deletion_began_at = coalesce(deletion_began_at, $2)
       where organization_id = $1`,
    [organizationId, formatTimestamp(clock.now())],
  )
  if (rowCount === 0) return null
  // In the lock order of removing one endpoint.
  for (const locked of [
    lockEndpointsOf,
    'select 1 from endpoint_queues l where l.organization_id = $1 order by l.webhook_id for update',
  ])
    await tx.query(locked, [organizationId])
  const endpoints = await tx.query(deleteEndpointsOf, [organizationId])
  const keys = await tx.query('delete from api_keys where organization_id = $1', [organizationId])
  return (endpoints.rowCount ?? 0) + (keys.rowCount ?? 0)
}

/**
 * Deletes the organization's rows of a table, one commit per piece; skips partitions that maintenance drops meanwhile.
 * A cursor finds the rows once, as another search for each piece would scan all dead rows. A row's position may be
 * reused meanwhile, so each delete checks the organization again.
 */
async function removeFrom(
  client: PoolClient,
  table: string,
  organizationId: string,
  { rowsAPiece, onRows }: { readonly rowsAPiece: number; readonly onRows: (rows: number) => void },
): Promise<void> {
  const name = escapeIdentifier(table)
  try {
    await client.query(
      `declare doomed cursor with hold for
         select t.ctid::text as place from ${name} t where t.organization_id = ${escapeLiteral(organizationId)}`,
    )
    for (;;) {
      const { rows } = await client.query<{ place: string }>(`fetch ${rowsAPiece} from doomed`)
      if (rows.length === 0) break
      const { rowCount } = await client.query(
        `delete from ${name} where ctid = any($1::tid[]) and organization_id = $2`,
        [rows.map(({ place }) => place), organizationId],
      )
      onRows(rowCount ?? 0)
    }
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== undefinedTable) throw error
  }
  await client.query('close all')
}

async function removeRest(tx: Tx, organizationId: string): Promise<number> {
  await lockClock(tx, organizationId)
  let removed = 0
  for (const table of await tablesWithRows(tx)) {
    const { rowCount } = await tx.query(`delete from ${escapeIdentifier(table)} where organization_id = $1`, [
      organizationId,
    ])
    removed += rowCount ?? 0
  }
  return removed
}

async function lockClock(tx: Tx, organizationId: string): Promise<void> {
  await tx.query(`set local lock_timeout = '${clockWithin}'`)
  await tx.query('select 1 from organization_clocks c where c.organization_id = $1 for update', [
    organizationId,
  ])
}

/** From the catalogue, so that none is forgotten. Each comes before the tables that it refers to. */
async function tablesWithRows(db: Pick<Pool, 'query'>): Promise<readonly string[]> {
  const { rows } = await db.query<{ name: string; refers: string[] }>(
    `select c.relname::text as name,
         array(select distinct r.relname::text from pg_constraint f join pg_class r on r.oid = f.confrelid
           where f.conrelid = c.oid and f.contype = 'f' and r.oid <> c.oid) as refers
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id' and not a.attisdropped
       where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname <> all($1) order by c.relname`,
    [directoryTables],
  )
  const sorted: string[] = []
  for (let left = rows; left.length > 0; left = left.filter(({ name }) => !sorted.includes(name))) {
    const referred = new Set(left.flatMap(({ refers }) => refers))
    const free = left.filter(
      ({ name }) => !referred.has(name) && (name !== 'organizations' || left.length === 1),
    )
    if (free.length === 0)
      throw new Error(`tables refer to each other in a circle: ${[...referred].join(', ')}`)
    sorted.push(...free.map(({ name }) => name))
  }
  return sorted
}
