/** Blocks a backend: another connection holds the row that it needs. */
import { Client } from 'pg'
import type { App } from '../service/src/app.ts'
import type { TestDatabase } from './database.ts'
import { eventually } from './eventually.ts'

interface RowLock extends AsyncDisposable {
  release(): Promise<void>
}

/** Locks one row of the organization: its clock, or an id of a stream table. */
export async function lockRow(
  database: TestDatabase,
  table: string,
  row: { readonly organizationId: string; readonly id?: string },
): Promise<RowLock> {
  const client = new Client(database.connection)
  await client.connect()
  await client.query('begin')
  const { rowCount } = await client.query(
    `select 1 from ${table} where organization_id = $1${row.id === undefined ? '' : ' and id = $2'} for update`,
    row.id === undefined ? [row.organizationId] : [row.organizationId, row.id],
  )
  let held = true
  const release = async () => {
    if (held) await client.end()
    held = false
  }
  if (rowCount !== 1) {
    await release()
    throw new Error(`no such row in ${table}`)
  }
  return { release, [Symbol.asyncDispose]: release }
}

/**
 * Waits until this many connections to the database wait for a lock, which most do for a quarter of a second at most.
 */
export async function waitingBackends(database: TestDatabase, count: number): Promise<void> {
  const client = new Client(database.connection)
  await client.connect()
  try {
    const isWaiting = async () => {
      const { rows } = await client.query<{ waiting: number }>(
        `select count(*)::int as waiting from pg_stat_activity a
           where a.datname = current_database() and a.wait_event_type = 'Lock'`,
      )
      return rows[0]!.waiting >= count
    }
    await eventually(`${count} waiting backends`, isWaiting, { isBrief: true })
  } finally {
    await client.end()
  }
}

/** Waits until this many changes of a service wait for clocks, in it or in the database. */
export function waitingChanges({ app }: { readonly app: App }, count: number): Promise<unknown> {
  return eventually(`${count} waiting changes`, () => app.pending() >= count, { isBrief: true })
}
