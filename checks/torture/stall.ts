/** Stalls commits: suspends the server process that runs one, and resumes it a little later. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { processesOf } from '../../packages/embedded-postgres/src/processes.ts'

/** Looks for a commit under way, at most. */
const looks = 200

/**
 * Suspends the process of a commit that holds its organization's clock. Only processes of the cluster are touched.
 * False when no commit was found, or the database has gone.
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
