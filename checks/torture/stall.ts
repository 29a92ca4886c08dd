/** Holds commits up in their middle: stops the server process that runs one, and lets it go on a little later. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { processesOf } from '../../packages/embedded-postgres/src/processes.ts'

/** How many looks for a commit under way one stall takes at most. */
const looks = 200

/**
 * Stops the server process of a commit that has its organization's clock, for so long. Only processes of the cluster are
 * touched. False when no commit was found, or the database went away.
 */
export async function stallCommit(pool: Pool, cluster: string, milliseconds: number): Promise<boolean> {
  const ours = new Set(await processesOf(cluster))
  for (let look = 0; look < looks; look++) {
    const pid = await committing(pool).catch(() => null)
    if (pid === null || !ours.has(pid)) continue
    if (!signal(pid, 'SIGSTOP')) return false
    try {
      await delay(milliseconds)
    } finally {
      signal(pid, 'SIGCONT')
    }
    return true
  }
  return false
}

/** The server process of a commit that is not waiting for a clock. */
async function committing(pool: Pool): Promise<number | null> {
  const { rows } = await pool.query<{ pid: number }>(
    `select a.pid from pg_stat_activity a
       where a.datname = current_database() and a.state = 'active' and a.query like 'select commit\\_%'
         and a.wait_event_type is distinct from 'Lock' and a.pid <> pg_backend_pid()
       limit 1`,
  )
  return rows[0]?.pid ?? null
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): boolean {
  try {
    process.kill(pid, name)
    return true
  } catch {
    // It has ended meanwhile.
    return false
  }
}
