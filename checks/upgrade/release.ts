/** A release from the history, ready to run, in a folder that is kept for the next time. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { schemaOf } from '../../packages/service/src/schema.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The oldest revision whose databases this release upgrades: the one that brought its baseline of the schema. */
export function firstRelease(): string {
  const [baseline] = schemaOf().migrations
  const bringing = ['log', '--reverse', '--format=%h', `-S${baseline?.id}`, '--', 'packages/service/src']
  const [first = ''] = execFileSync('git', bringing, { cwd: root, encoding: 'utf8' }).split('\n')
  return first
}

/** The command line of a revision, installed by its lock file. */
export function releaseOf(revision: string): string {
  return join(madeOf(revision, revision, ['--omit=dev']), 'packages/cli/src/main.ts')
}

/** The folder with a revision's tarballs. */
export function tarballsOf(revision: string): string {
  const pack = (fresh: string) => npm(fresh, 'run', 'pack')
  return join(madeOf(revision, `${revision}-packed`, [], pack), 'release')
}

function madeOf(
  revision: string,
  name: string,
  installation: readonly string[],
  complete: (fresh: string) => void = () => {},
): string {
  const home = join(tmpdir(), 'deskwire-releases')
  const release = join(home, name)
  if (!existsSync(release)) {
    mkdirSync(home, { recursive: true })
    const fresh = mkdtempSync(join(home, 'new-'))
    const archive = execFileSync('git', ['archive', revision], { cwd: root, maxBuffer: 2 ** 30 })
    execFileSync('tar', ['-x', '-C', fresh], { input: archive })
    npm(fresh, 'ci', ...installation)
    complete(fresh)
    renameSync(fresh, release)
  }
  return release
}

function npm(directory: string, ...words: readonly string[]): void {
  execFileSync('npm', words, {
    cwd: directory,
    env: { ...process.env, PATH: systemPath() },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** Without npm's additions: npm runs on the system's Node, and not on the checkout's. */
function systemPath(): string {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((directory) => !directory.includes('node_modules'))
    .join(delimiter)
}
