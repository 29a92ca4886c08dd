/** Names that this machine knows without asking anybody: its hosts file, and localhost. */
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'

/** Where this platform keeps its hosts file. */
export const systemHostsFile =
  process.platform === 'win32'
    ? join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts'

/** The addresses of a name (lower case, no trailing dot) that need no query; empty when it has to be asked for. */
export type LocalNames = (name: string) => readonly string[]

/**
 * What stands in a hosts file now: it is read again when it has changed, and one that cannot be read is empty. In this
 * thread, which takes microseconds: the threads that asynchronous reading goes through may all be busy, and a look-up waits
 * for none of them.
 */
export function createLocalNames(hostsFile: string): LocalNames {
  let version = ''
  let listed: ReadonlyMap<string, readonly string[]> = new Map()
  return (name) => {
    const { mtimeMs, size, ino } = statSync(hostsFile, { throwIfNoEntry: false }) ?? {}
    const found = `${mtimeMs} ${size} ${ino}`
    if (found !== version) {
      listed = parse(mtimeMs === undefined ? '' : readIfAllowed(hostsFile))
      version = found
    }
    const addresses = listed.get(name)
    if (addresses !== undefined) return addresses
    // Loopback whatever the name servers say (RFC 6761, section 6.3).
    return name === 'localhost' || name.endsWith('.localhost') ? ['127.0.0.1', '::1'] : []
  }
}

function readIfAllowed(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function parse(text: string): Map<string, readonly string[]> {
  const listed = new Map<string, readonly string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/)
    // An address with a zone reaches this machine's own links at most.
    if (isIP(address) === 0 || address.includes('%')) continue
    for (const name of names) listed.set(name, [...new Set([...(listed.get(name) ?? []), address])])
  }
  return listed
}
