import type { Pool } from 'pg'

/**
 * Runs work unless another process of the installation is running it. `lockNumber`: a constant that no other work locks by. The session
 * lock ends with its process. Uses one connection of the pool.
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
    // Closing a session that may hold the lock releases it.
    client.release(!unlocked)
  }
}
