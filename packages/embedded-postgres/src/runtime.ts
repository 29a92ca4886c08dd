// A copy of the binaries, for when the server's account cannot reach the package (a project below /root), or its
// links are missing and cannot be created (node_modules belongs to somebody else). A copy appears whole under a name
// made of its listing, in a directory that only this user may change; a damaged copy is replaced.
import { createHash, randomBytes } from 'node:crypto'
import { constants, lstatSync, readdirSync } from 'node:fs'
import { chmod, copyFile, lstat, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Account, type Accounts, closedTo } from './account.ts'
import { EmbeddedDatabaseError, hasCode } from './error.ts'
import type { NamedHost } from './host.ts'
import { makeLinks } from './links.ts'
import { makePath } from './make-path.ts'

interface Entry {
  readonly path: string
  readonly size: number
  readonly mode: number
}

/** Whether the server's account, and any other, can read and run the package where it is. */
export async function isOpen(packageDir: string, server: Account): Promise<boolean> {
  if ((await closedTo(packageDir, server)) !== null) return false
  const { files, directories } = list(packageDir)
  return (
    directories.every(({ mode }) => (mode & 0o005) === 0o005) &&
    files.every(({ mode }) => (mode & 0o004) !== 0 && ((mode & 0o100) === 0 || (mode & 0o001) !== 0))
  )
}

/**
 * Copies the package below the first usable one of `bases`, unless a good copy exists. Returns the copy, laid out
 * like the package. @throws EmbeddedDatabaseError when no base can be used.
 */
export async function copyRuntime(
  packageDir: string,
  version: string,
  bases: readonly string[],
  accounts: Accounts,
  { words }: NamedHost,
): Promise<string> {
  const { files, directories } = list(packageDir)
  const listing = files.map(({ path, size }) => `${path}:${size}`).sort()
  const id = createHash('sha256').update(listing.join('\n')).digest('hex').slice(0, 12)
  const refusals: string[] = []
  for (const base of bases) {
    try {
      await makeBase(base, accounts)
      const copy = join(base, `${version}-${id}`)
      if (await isGood(copy, listing)) return copy
      await removeAbandoned(base)
      await build(packageDir, copy, directories, files)
      return copy
    } catch (error) {
      if (!(error instanceof EmbeddedDatabaseError) && !hasCode(error, 'EACCES', 'EPERM', 'EROFS', 'ENOENT'))
        throw error
      refusals.push((error as Error).message)
    }
  }
  const reader = accounts.switches ? 'the account that runs it' : 'this user'
  throw new EmbeddedDatabaseError(
    `PostgreSQL's programs cannot be run from ${packageDir}, and there is no place for a copy that ${reader} can reach (${refusals.join('; ')}): make one of these usable, or ${words.ownServer}`,
  )
}

/** Whether PostgreSQL's programs find each other there: they put the path between double quotes for a shell. */
export function isPlain(path: string): boolean {
  return !/["$`\\\n]/.test(path)
}

async function makeBase(base: string, { switches, server }: Accounts): Promise<void> {
  if (!isPlain(base))
    throw new EmbeddedDatabaseError(
      `${base} has a character that PostgreSQL cannot have in its path: ", $, \` or \\`,
    )
  const outermost = await makePath(base, 0o755)
  // The umask may have closed to the server's account what was made on the way.
  if (outermost !== undefined)
    for (let at = base; at.length >= outermost.length; at = dirname(at)) await chmod(at, 0o755)
  // Anyone who can change these files can run programs as this server. The parent of a base is a system directory or
  // the private data directory.
  const self = process.geteuid!()
  const parent = dirname(base)
  const [inner, outer] = [await lstat(base), await stat(parent)]
  if (!inner.isDirectory() || inner.uid !== self || (inner.mode & 0o022) !== 0)
    throw new EmbeddedDatabaseError(`${base} can be changed by other users`)
  // A volume may belong to root and be open to this user's group.
  if (![0, self].includes(outer.uid) || (outer.mode & 0o002) !== 0)
    throw new EmbeddedDatabaseError(`${parent} can be changed by other users`)
  await chmod(base, 0o755)
  if (!switches) return
  // An earlier release made the parent for the copies alone, as private as its umask.
  if ((outer.mode & 0o001) === 0 && outer.uid === self && (await readdir(parent)).length === 1)
    await chmod(parent, 0o755)
  const closed = await closedTo(base, server)
  if (closed !== null) throw new EmbeddedDatabaseError(closed)
}

async function isGood(copy: string, listing: readonly string[]): Promise<boolean> {
  try {
    const { uid, mode } = await lstat(copy)
    if (uid !== process.geteuid!() || (mode & 0o022) !== 0) return false
    const { files } = list(copy)
    const found = files.map(({ path, size }) => `${path}:${size}`).sort()
    return found.join('\n') === listing.join('\n') && (await makeLinks(copy))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

async function build(
  packageDir: string,
  copy: string,
  directories: readonly Entry[],
  files: readonly Entry[],
): Promise<void> {
  const temporary = `${copy}.new-${randomBytes(6).toString('hex')}`
  try {
    for (const { path } of [{ path: '.' }, ...directories]) {
      await mkdir(join(temporary, path), { recursive: true })
      await chmod(join(temporary, path), 0o755)
    }
    for (const { path, mode } of files) {
      await copyFile(join(packageDir, path), join(temporary, path), constants.COPYFILE_FICLONE)
      await chmod(join(temporary, path), mode & 0o100 ? 0o755 : 0o644)
    }
    await makeLinks(temporary)
    await replace(temporary, copy)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

async function replace(temporary: string, copy: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await rename(temporary, copy)
    } catch (error) {
      if (attempt === 5 || !hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error
    }
    // Another process was faster, and its copy is as good; or a damaged copy is in the way.
    const wanted = list(temporary)
      .files.map(({ path, size }) => `${path}:${size}`)
      .sort()
    if (await isGood(copy, wanted)) return
    const aside = `${copy}.new-${randomBytes(6).toString('hex')}`
    await rename(copy, aside).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT')) throw error
    })
    await rm(aside, { recursive: true, force: true })
  }
}

/** Removes what an interrupted copy left, an hour later. */
async function removeAbandoned(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    if (!/\.new-[0-9a-f]{12}$/.test(name)) continue
    const path = join(base, name)
    const found = await lstat(path).catch(() => null)
    if (found && Date.now() - found.mtimeMs > 3_600_000) await rm(path, { recursive: true, force: true })
  }
}

/**
 * What the server needs of the package: programs, libraries, data; neither static libraries nor build files. In one
 * go, before anything is served: awaiting each of a thousand files took a tenth of a second of every start.
 */
function list(packageDir: string): { directories: Entry[]; files: Entry[] } {
  const directories: Entry[] = []
  const files: Entry[] = []
  const pending = ['native']
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const { mode, size } = lstatSync(join(packageDir, path))
    directories.push({ path, mode, size })
    for (const child of readdirSync(join(packageDir, path), { withFileTypes: true })) {
      const inner = join(path, child.name)
      if (child.isDirectory()) {
        if (child.name !== 'pgxs' && child.name !== 'pkgconfig') pending.push(inner)
      } else if (child.isFile() && !child.name.endsWith('.a')) {
        const found = lstatSync(join(packageDir, inner))
        files.push({ path: inner, mode: found.mode, size: found.size })
      }
    }
  }
  return { directories, files }
}
