// The data directory: its layout, that it is private, and how small files are written: whole or not at all, and a
// link planted at their path is replaced, never followed, as root writes into directories that an unprivileged user
// owns.
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import {
  access,
  chmod,
  chown,
  constants,
  link,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { Account } from './account.ts'
import { EmbeddedDatabaseError, hasCode } from './error.ts'
import type { NamedHost } from './host.ts'
import { makePath } from './make-path.ts'

export interface Layout {
  readonly host: NamedHost
  readonly dataDir: string
  /** PostgreSQL's own directory. */
  readonly cluster: string
  /** The file whose lock is the hold. */
  readonly holdLock: string
  /** Who has the hold, for messages. */
  readonly holdInfo: string
  /** What the next start must know of this one. */
  readonly state: string
  /** What the server says before it opens its own log. */
  readonly startLog: string
}

export function layoutOf(host: NamedHost, dataDir: string): Layout {
  return { host, ...pathsOf(dataDir) }
}

export function clusterIn(dataDir: string): string {
  return join(dataDir, 'postgres')
}

function pathsOf(dataDir: string): Omit<Layout, 'host'> {
  return {
    dataDir,
    cluster: clusterIn(dataDir),
    holdLock: join(dataDir, 'hold.lock'),
    holdInfo: join(dataDir, 'hold.json'),
    state: join(dataDir, 'embedded.json'),
    startLog: join(dataDir, 'postgres-start.log'),
  }
}

/**
 * Creates the data directory, readable by its owner only. Returns its layout, under its real path, so that one
 * directory has one name.
 * @throws EmbeddedDatabaseError when it cannot be used.
 */
export async function prepareDataDir(
  host: NamedHost,
  path: string,
  warn: (message: string, fields: Record<string, unknown>) => void,
): Promise<Layout> {
  const wanted = resolve(path)
  try {
    await makePath(wanted, 0o700)
    const dataDir = await realpath(wanted)
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
    const layout = layoutOf(host, dataDir)
    const names = await readdir(dataDir)
    requireOwn(layout, names)
    await makePrivate(layout, names, warn)
    return layout
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOENT'))
      throw new EmbeddedDatabaseError(
        `the data directory ${wanted} cannot be used (${(error as Error).message}): give ${host.words.dataDir} a directory this user may write`,
      )
    throw error
  }
}

/** The lock is created first and stays: without it, files of these names are not this package's. */
function requireOwn(
  { host: { words }, holdLock, cluster, holdInfo, state, startLog }: Layout,
  names: readonly string[],
): void {
  const foreign = [cluster, holdInfo, state, startLog].find((path) => names.includes(basename(path)))
  if (foreign === undefined || names.includes(basename(holdLock))) return
  throw new EmbeddedDatabaseError(
    `${foreign} was not made by ${words.program}, as there is no ${holdLock}: give ${words.dataDir} a directory of its own`,
  )
}

async function makePrivate(
  { host, dataDir }: Layout,
  found: readonly string[],
  warn: (message: string, fields: Record<string, unknown>) => void,
): Promise<void> {
  const { mode, uid } = await stat(dataDir)
  if ((mode & 0o077) === 0) return
  const names = found.filter((name) => name !== 'lost+found' && !host.ownNames.includes(name))
  // Closing a directory that others use (a home, /tmp) would be worse than refusing it.
  if (names.length > 0 && !names.includes('hold.lock'))
    throw new EmbeddedDatabaseError(
      `the data directory ${dataDir} is open to other users and holds other files (${names[0]}): give ${host.words.dataDir} a directory of its own`,
    )
  const self = process.geteuid!()
  if (self === 0 || self === uid) await chmod(dataDir, 0o700)
  else warn('the data directory is open to its group or to others, and belongs to another user', { dataDir })
}

/** Writes a small file so that readers see the old content or the new, and only `owner` reads it. */
export async function writePrivate(path: string, text: string, owner: Account): Promise<void> {
  await placePrivate(text, owner, path, rename)
}

/**
 * The same for a file that must never be replaced: of several writers at once, one wins. Returns whether this one
 * did.
 */
export async function createPrivate(path: string, text: string, owner: Account): Promise<boolean> {
  try {
    await placePrivate(text, owner, path, link)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

async function placePrivate(
  text: string,
  owner: Account,
  path: string,
  place: (temporary: string, path: string) => Promise<void>,
): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(text)
      if (process.geteuid!() === 0) await file.chown(owner.uid, owner.gid)
      await file.sync()
    } finally {
      await file.close()
    }
    await place(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Creates an empty directory for `owner` only. */
export async function makeDirectory(path: string, owner: Account): Promise<void> {
  await mkdir(path, { mode: 0o700 })
  if (process.geteuid!() === 0) await chown(path, owner.uid, owner.gid)
}

/** Makes a rename inside a directory survive a power failure. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Where in the data directory a restore creates its database. */
export const stagingName = 'restore'

/** Whether a directory with these names in it is a restore's: a user may have others under that name. */
export function isStaging(names: readonly string[]): boolean {
  const { dataDir: _, ...paths } = pathsOf('')
  const own = [...Object.values(paths), 'run', 'runtime'].map((path) => basename(path))
  const isOwn = (name: string) => own.some((one) => name === one || name.startsWith(`${one}.`))
  return names.length === 0 || (names.includes(basename(paths.holdLock)) && names.every(isOwn))
}

/**
 * @throws EmbeddedDatabaseError when a restore has left no database: an empty one would look like a desk that has
 * lost everything.
 */
export function refuseHalfRestored({ host, dataDir, cluster }: Layout): void {
  const staging = join(dataDir, stagingName)
  if (existsSync(cluster) || !existsSync(staging) || !isStaging(readdirSync(staging))) return
  throw new EmbeddedDatabaseError(
    `a restore into ${dataDir} was interrupted: ${host.words.replaceAgain}, or delete ${staging} to begin with an empty database`,
  )
}
