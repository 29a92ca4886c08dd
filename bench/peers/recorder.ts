/** Writes attempts in groups, each of which waits until its statement has committed. */
import type { Pool } from 'pg'

interface AttemptRow {
  readonly event: string
  readonly endpoint: number
  readonly status: number
  readonly milliseconds: number
}

/** Statements under way at once. */
const writers = 2

export async function prepareAttempts(pool: Pool): Promise<void> {
  await pool.query(`create table if not exists attempts (
    event uuid not null,
    endpoint int not null,
    status int not null,
    milliseconds int not null,
    made_at timestamptz not null,
    primary key (event, endpoint, made_at)
  )`)
}

/** Resolves when the attempt's row has been committed, and rejects when its statement failed. */
export function createRecorder(pool: Pool): (row: AttemptRow) => Promise<void> {
  let waiting: { row: AttemptRow; resolve: () => void; reject: (error: unknown) => void }[] = []
  let writing = 0

  async function write(): Promise<void> {
    writing++
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      const rows = group.map(({ row }) => row)
      await insert(pool, rows).then(
        () => group.map(({ resolve }) => resolve()),
        (error: unknown) => group.map(({ reject }) => reject(error)),
      )
    }
    writing--
  }

  return (row) =>
    new Promise((resolve, reject) => {
      waiting.push({ row, resolve, reject })
      // Responses of the same turn of the event loop share a statement.
      if (waiting.length === 1 && writing < writers) setImmediate(write)
    })
}

function insert(pool: Pool, rows: readonly AttemptRow[]) {
  return pool.query({
    name: 'record',
    text: `insert into attempts (event, endpoint, status, milliseconds, made_at)
      select r.event, r.endpoint, r.status, r.milliseconds, $5
      from unnest($1::uuid[], $2::int[], $3::int[], $4::int[]) as r(event, endpoint, status, milliseconds)`,
    values: [
      rows.map(({ event }) => event),
      rows.map(({ endpoint }) => endpoint),
      rows.map(({ status }) => status),
      rows.map(({ milliseconds }) => milliseconds),
      new Date(),
    ],
  })
}
