// The directory of the server's socket: private, and with a path short enough (107 bytes, on macOS 103). An ordinary
// user's is in the data directory when that fits; otherwise, and for root, whose data directory the server's account
// cannot enter, it is a fresh directory that nobody could have created before.
import { chmod, chown, lstat, mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type Accounts, closedTo } from './account.ts'
import type { Layout } from './datadir.ts'
import { EmbeddedDatabaseError, hasCode } from './error.ts'
import { PORT } from './settings.ts'

const LONGEST = 103

/**
 * Creates the directory, without what a killed server left in it: call it when none runs. @throws
 * EmbeddedDatabaseError when there is no place for it.
 */
export async function makeSocketDir(layout: Layout, accounts: Accounts): Promise<string> {
  const inside = join(layout.dataDir, 'run')
  if (!accounts.switches && fits(inside)) {
    await mkdir(inside, { recursive: true, mode: 0o700 })
    await chmod(inside, 0o700)
    await clear(inside)
    return inside
  }
  const fresh = await makeFresh(accounts)
  if (accounts.switches) await chown(fresh, accounts.server.uid, accounts.server.gid)
  return fresh
}

/** Removes a socket directory of this or an earlier start; one inside the data directory stays. */
export async function removeSocketDir(path: string, accounts: Accounts): Promise<void> {
  if (!/^deskwire-[A-Za-z0-9]{6}$/.test(basename(path))) return
  try {
    const found = await lstat(path)
    // After a reboot the name may be somebody else's.
    if (!found.isDirectory() || found.uid !== accounts.server.uid) return
    await clear(path)
    await rmdir(path)
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EPERM', 'EACCES')) throw error
  }
}

async function clear(path: string): Promise<void> {
  for (const name of [socketName(), `${socketName()}.lock`]) await rm(join(path, name), { force: true })
}

async function makeFresh({ switches, server }: Accounts): Promise<string> {
  // Root's TMPDIR may be closed to others; /run is not, and is not swept by age as /tmp is.
  const bases = [switches ? '/run' : tmpdir(), '/tmp'].filter((base) => fits(join(base, 'deskwire-123456')))
  const refusals: string[] = []
  for (const base of bases) {
    try {
      const closed = switches ? await closedTo(base, server) : null
      if (closed === null) return await mkdtemp(join(base, 'deskwire-'))
      refusals.push(closed)
    } catch (error) {
      if (!hasCode(error, 'EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR')) throw error
      refusals.push((error as Error).message)
    }
  }
  throw new EmbeddedDatabaseError(`no place for the socket of PostgreSQL (${refusals.join('; ')})`)
}

function fits(directory: string): boolean {
  // PostgreSQL reads the directory as a list of such.
  if (/[",]/.test(directory)) return false
  return Buffer.byteLength(join(directory, socketName())) <= LONGEST
}

function socketName(): string {
  return `.s.PGSQL.${PORT}`
}
