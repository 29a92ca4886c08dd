import type { Pool } from 'pg'

/**
 * Does work that one process of an installation does at a time, unless another process is at it. `lockNumber`: any constant that
 * no other work locks by. A lock of the session ends with its process, whatever becomes of that. It holds one connection
 * of the pool.
 */
export async function unlessElsewhere(
  pool: Pool,
  lockNumber: number,
  work: () => Promise<void>,
): Promise<void> {
  const client = await pool.connect()
  let unlocked = false
  try {
    const { rows } = await client.query<{ mine: boolean }>(
      `select pg_try_advisory_lock(${lockNumber}) as mine`,
    )
    if (rows[0]?.mine) {
      await work()
      await client.query(`select pg_advisory_unlock(${lockNumber})`)
    }
    unlocked = true
  } finally {
    // A session that may have the lock is ended, which frees it.
    client.release(!unlocked)
  }
}
