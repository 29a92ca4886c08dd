// A new database for a data directory, created beside the existing one, which it replaces at the end; the old one is
// moved aside and never deleted. The data directory has the old database or the new one, whole, or none, and then no
// start creates an empty one. The next attempt clears what a killed one left. All of it happens inside the data
// directory, which may be a mounted volume.
import { existsSync } from 'node:fs'
import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { chooseAccounts } from './account.ts'
import { requireBinaries } from './binaries.ts'
import { removeUnfinished } from './cluster.ts'
import {
  isStaging,
  type Layout,
  layoutOf,
  makeDirectory,
  prepareDataDir,
  stagingName,
  syncDirectory,
} from './datadir.ts'
import { EmbeddedDatabaseError } from './error.ts'
import { takeHold } from './hold.ts'
import type { NamedHost } from './host.ts'
import { settleOrphan } from './orphan.ts'
import { type EmbeddedConnection, type EmbeddedLog, startEmbedded } from './start.ts'

/** The data directory is held until this is disposed. */
export interface Replacement extends AsyncDisposable {
  readonly connection: EmbeddedConnection
  readonly dataDir: string
  /**
   * Stops the new server and puts its database in place. Returns where the old one is now; null when there was none.
   */
  putInPlace(asideName: string): Promise<string | null>
}

/** Implements `Launcher.startReplacement`. */
export async function startReplacement(
  host: NamedHost,
  options: { readonly dataDir: string; readonly replace: boolean; readonly log: EmbeddedLog },
): Promise<Replacement> {
  const { replace, log } = options
  const warn = (message: string, fields?: Record<string, unknown>) => log('warn', message, fields)
  requireBinaries(host)
  const layout = await prepareDataDir(host, options.dataDir, warn)
  const accounts = await chooseAccounts(layout)
  const hold = await takeHold(layout, accounts)
  const staging = layoutOf(host, join(layout.dataDir, stagingName))
  const clear = async () => {
    if (!existsSync(staging.dataDir)) return
    if (!isStaging(await readdir(staging.dataDir)))
      throw new EmbeddedDatabaseError(
        `${staging.dataDir} holds other files, and a restore makes its database there: move it away`,
      )
    await removeUnfinished(staging)
    await settle(staging)
    await rm(staging.dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  }
  // A server that a killed process has left running. No fingerprint matches, so none is adopted.
  const settle = async (of: Layout) => {
    if (existsSync(of.cluster)) await settleOrphan(of, accounts, 'none', warn)
  }
  try {
    if (existsSync(layout.cluster) && !replace)
      throw new EmbeddedDatabaseError(
        `${layout.dataDir} holds a database already: give ${host.words.replace} to move that aside, or another ${host.words.dataDir}`,
      )
    await clear()
    await makeDirectory(staging.dataDir, accounts.owner)
    const started = await startEmbedded(host, { dataDir: staging.dataDir, log })
    return {
      connection: started.connection,
      dataDir: layout.dataDir,
      async putInPlace(asideName) {
        await started.stop()
        await settle(layout)
        const aside = existsSync(layout.cluster) ? join(layout.dataDir, asideName) : null
        if (aside !== null) await rename(layout.cluster, aside)
        await rename(staging.cluster, layout.cluster)
        await syncDirectory(layout.dataDir)
        return aside
      },
      async [Symbol.asyncDispose]() {
        await started.stop()
        await clear()
        await hold.release()
      },
    }
  } catch (error) {
    // Report the first error; the next attempt clears the rest.
    await clear().catch(() => {})
    await hold.release()
    throw error
  }
}
