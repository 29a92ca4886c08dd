import { existsSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { clusterIn, layoutOf } from './datadir.ts'
import { EmbeddedDatabaseError, hasCode } from './error.ts'
import type { NamedHost } from './host.ts'
import { readPidFile } from './postmaster.ts'
import { isProcessOf } from './processes.ts'
import { forgetServerVariables } from './program.ts'
import { connectionTo, type EmbeddedConnection } from './start.ts'

/** Milliseconds to wait for a server that is starting. */
const STARTING_MS = 30_000

/** Implements `Launcher.find`. */
export async function findEmbedded(host: NamedHost, dataDir: string): Promise<EmbeddedConnection | null> {
  forgetServerVariables()
  const deadline = performance.now() + STARTING_MS
  try {
    const { cluster } = layoutOf(host, await realpath(dataDir))
    await stat(cluster)
    for (;;) {
      const file = await readPidFile(cluster)
      if (file === null || !(await isProcessOf(cluster, file.pid))) return null
      if (file.ready) return connectionTo(host, file.socketDir)
      if (performance.now() > deadline)
        throw new EmbeddedDatabaseError(`the PostgreSQL on ${cluster} is still starting: try again later`)
      await delay(50)
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    if (hasCode(error, 'EACCES', 'EPERM'))
      throw new EmbeddedDatabaseError(
        `the data directory ${dataDir} belongs to another user: run this as the user who runs ${host.words.program}`,
      )
    throw error
  }
}

/** Implements `Launcher.has`. */
export function hasEmbeddedDatabase(dataDir: string): boolean {
  return existsSync(clusterIn(dataDir))
}
