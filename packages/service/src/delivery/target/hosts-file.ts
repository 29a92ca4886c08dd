/** Names that this machine knows without asking anybody: its hosts file, and localhost. */
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'

/** Where this platform keeps its hosts file. */
export const systemHostsFile =
  process.platform === 'win32'
    ? join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts'

/** The addresses of a name (lower case, no trailing dot) that need no query; empty when it has to be asked for. */
export async function localAddresses(name: string, hostsFile: string): Promise<readonly string[]> {
  const listed = addressesOf(name, await readFile(hostsFile, 'utf8').catch(() => ''))
  if (listed.length > 0) return listed
  // Loopback whatever the name servers say (RFC 6761, section 6.3).
  return name === 'localhost' || name.endsWith('.localhost') ? ['127.0.0.1', '::1'] : []
}

function addressesOf(name: string, text: string): string[] {
  const found = new Set<string>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/)
    // An address with a zone reaches this machine's own links at most.
    if (names.includes(name) && isIP(address) !== 0 && !address.includes('%')) found.add(address)
  }
  return [...found]
}
