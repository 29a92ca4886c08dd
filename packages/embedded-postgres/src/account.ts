// The account that runs the server. PostgreSQL refuses to run as root, so a program started as root keeps the data
// directory and its own files to itself and gives only the cluster to an unprivileged account. The owner of an
// existing cluster's files decides, so the choice is stable.
import { readFile, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'
import type { Layout } from './datadir.ts'
import { EmbeddedDatabaseError, hasCode } from './error.ts'
import type { Words } from './host.ts'

export interface Account {
  readonly uid: number
  readonly gid: number
}

export interface Accounts {
  /** The name that `peer` authentication sees when this process connects. */
  readonly accountName: string
  /** Owner of the data directory and of the files this package keeps in it. */
  readonly owner: Account
  /** Owner of the cluster and of the server's processes. */
  readonly server: Account
  /** Whether the server runs under another account: only if this process is root. */
  readonly switches: boolean
}

/** @throws EmbeddedDatabaseError when PostgreSQL could not run under any available account. */
export async function chooseAccounts({ host, dataDir, cluster }: Layout): Promise<Accounts> {
  const { words } = host
  const self: Account = { uid: process.geteuid!(), gid: process.getegid!() }
  const accountName = ownName(self.uid, words)
  const owner = (await ownerOf(dataDir)) ?? self
  const clusterOwner = await ownerOf(cluster)
  if (self.uid !== 0) {
    if (clusterOwner && clusterOwner.uid !== self.uid)
      throw new EmbeddedDatabaseError(
        `${cluster} belongs to user id ${clusterOwner.uid}, not to ${accountName}: start ${words.program} as that user or give it another ${words.dataDir}`,
      )
    return { accountName, owner: self, server: self, switches: false }
  }
  if (process.platform !== 'linux')
    throw new EmbeddedDatabaseError(
      `the embedded PostgreSQL does not run for root here: start ${words.program} as an ordinary user, or ${words.ownServer}`,
    )
  const server = clusterOwner ?? (owner.uid === 0 ? await unprivileged(words) : owner)
  if (server.uid === 0)
    throw new EmbeddedDatabaseError(
      `${cluster} belongs to root, and PostgreSQL refuses to run as root: give it to an unprivileged user, for example chown -R nobody "${cluster}"`,
    )
  return { accountName, owner, server, switches: true }
}

function ownName(uid: number, words: Words): string {
  try {
    return userInfo().username
  } catch {
    throw new EmbeddedDatabaseError(
      `user id ${uid} has no name, which PostgreSQL needs: add it to /etc/passwd, or ${words.ownServer}`,
    )
  }
}

/**
 * One clause for the outermost directory on the way to an absolute path, itself included, that the account cannot
 * enter; null if there is none.
 */
export async function closedTo(path: string, { uid, gid }: Account): Promise<string | null> {
  if (path !== dirname(path)) {
    const outer = await closedTo(dirname(path), { uid, gid })
    if (outer !== null) return outer
  }
  const found = await stat(path)
  const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001
  if (!found.isDirectory() || (found.mode & bit) !== 0) return null
  const mode = (found.mode & 0o7777).toString(8).padStart(4, '0')
  return `user id ${uid}, which PostgreSQL runs as, cannot enter ${path} (mode ${mode}): chmod a+x "${path}"`
}

async function ownerOf(path: string): Promise<Account | null> {
  try {
    const { uid, gid } = await stat(path)
    return { uid, gid }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}

async function unprivileged(words: Words): Promise<Account> {
  const accounts = new Map<string, Account>()
  for (const line of (await readFile('/etc/passwd', 'utf8')).split('\n')) {
    const [name, , uid, gid] = line.split(':')
    if (name && uid && gid) accounts.set(name, { uid: Number(uid), gid: Number(gid) })
  }
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.get(name)
    if (account && account.uid !== 0) return account
  }
  throw new EmbeddedDatabaseError(
    `PostgreSQL refuses to run as root and there is neither a user postgres nor nobody: add one, start ${words.program} as an ordinary user, or ${words.ownServer}`,
  )
}
