/** Programs of Python that scripts run, installed at pinned versions where npm keeps what can be made again. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Where the programs of these packages are, Python's own among them: in an environment that is kept, and made anew when something
 * else is wanted. Ends the process when it cannot be made.
 * @param wanted the packages, or the path of a list of them below the repository.
 */
export function installPython(name: string, wanted: string | readonly string[]): string {
  const home = join(root, 'node_modules', '.cache', name)
  const done = join(home, 'installed')
  const bin = join(home, 'bin')
  const [packages, list] =
    typeof wanted === 'string'
      ? [['-r', join(root, wanted)], readFileSync(join(root, wanted), 'utf8')]
      : [wanted, wanted.join('\n')]
  if (existsSync(done) && readFileSync(done, 'utf8') === list) return bin
  console.log(`installing ${wanted}`)
  rmSync(home, { recursive: true, force: true })
  must('python3', ['-m', 'venv', home])
  must(join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages])
  writeFileSync(done, list)
  return bin
}

function must(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' })
  if (status === 0) return
  console.error(`${command} failed${error === undefined ? '' : `: ${error.message}`}; it needs Python 3.11`)
  process.exit(1)
}
