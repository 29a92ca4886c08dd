// The hold: at most one process runs a data directory. It is an operating system lock, so it ends with its holder,
// and two processes cannot both get that of a dead one. Node has no call for such locks, but its SQLite takes one for
// a transaction. The file beside it names the holder, for messages only.
import { open, readFile, rm, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { Accounts } from './account.ts'
import { type Layout, writePrivate } from './datadir.ts'
import { EmbeddedDatabaseError, hasCode } from './error.ts'
import { exists } from './processes.ts'

/** The right to run a data directory, until it is released or the process ends. */
interface Hold {
  release(): Promise<void>
}

interface Holder {
  readonly pid: number
  readonly since: string
  readonly command: string
}

/** @throws EmbeddedDatabaseError with the holder when another process, or this one, has it. */
export async function takeHold(layout: Layout, accounts: Accounts): Promise<Hold> {
  await makeLockFile(layout.holdLock, accounts)
  const lock = tryLock(layout.holdLock)
  if (lock === null) throw new EmbeddedDatabaseError(await describeHolder(layout))
  try {
    const holder: Holder = { pid: process.pid, since: new Date().toISOString(), command: ownCommand() }
    await writePrivate(layout.holdInfo, `${JSON.stringify(holder)}\n`, accounts.owner)
  } catch (error) {
    lock.close()
    throw error
  }
  return {
    release: async () => {
      await rm(layout.holdInfo, { force: true })
      if (lock.isOpen) lock.close()
    },
  }
}

async function makeLockFile(path: string, accounts: Accounts): Promise<void> {
  // Never opened when it exists: closing any descriptor of the file would drop this process's own lock on it.
  try {
    await stat(path)
    return
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
  try {
    const file = await open(path, 'wx', 0o600)
    if (process.geteuid!() === 0) await file.chown(accounts.owner.uid, accounts.owner.gid)
    await file.close()
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
}

function tryLock(path: string): DatabaseSync | null {
  const { DatabaseSync } = loadSqlite()
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    // The journal stays in memory: only the lock is needed, and the file stays empty.
    lock.exec('pragma journal_mode = memory; begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === 5) return null
    throw error
  }
}

// Some releases of Node warn that node:sqlite is experimental.
function loadSqlite(): typeof import('node:sqlite') {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}

async function describeHolder(layout: Layout): Promise<string> {
  const advice = `stop it first, or give this one another ${layout.host.words.dataDir}`
  // A holder that just took over has the lock a moment before its name is written.
  for (let attempt = 0; attempt < 20; attempt++) {
    const holder = await readHolder(layout.holdInfo)
    if (holder && exists(holder.pid))
      return `${layout.dataDir} is in use by process ${holder.pid} (${holder.command}, since ${holder.since}): ${advice}`
    await delay(25)
  }
  return `${layout.dataDir} is in use by another process: ${advice}`
}

async function readHolder(path: string): Promise<Holder | null> {
  try {
    const found: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (typeof found !== 'object' || found === null) return null
    const { pid, since, command } = found as Partial<Record<keyof Holder, unknown>>
    if (typeof pid !== 'number' || typeof since !== 'string' || typeof command !== 'string') return null
    return { pid, since, command }
  } catch {
    return null
  }
}

// The subcommand but no options: those may contain secrets.
function ownCommand(): string {
  const [, script = 'node', word] = process.argv
  return word && /^[a-z][a-z-]*$/.test(word) ? `${basename(script)} ${word}` : basename(script)
}
