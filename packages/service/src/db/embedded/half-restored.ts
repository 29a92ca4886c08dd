// The sign of a restore that was interrupted, which every start looks for.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Layout } from './datadir.ts'
import { EmbeddedDatabaseError } from './error.ts'

/** Where in the data directory a restore makes its database. */
export const stagingName = 'restore'

/**
 * Fails when a restore has left the data directory without a database. An empty one made in its stead would look like a
 * desk that has lost everything.
 * @throws EmbeddedDatabaseError
 */
export function refuseHalfRestored({ dataDir, cluster }: Layout): void {
  const staging = join(dataDir, stagingName)
  if (existsSync(cluster) || !existsSync(staging)) return
  throw new EmbeddedDatabaseError(
    `a restore into ${dataDir} was interrupted: run deskwire restore again, or delete ${staging} to begin with an empty database`,
  )
}
