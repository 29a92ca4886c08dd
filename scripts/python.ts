/** Programs of Python that scripts run, installed at pinned versions where npm keeps what can be made again. */
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Where the programs of `requirements` (a path below the repository) are, installed once. Ends the process when it cannot. */
export function installPython(name: string, requirements: string): string {
  const home = join(root, 'node_modules', '.cache', name)
  const done = join(home, 'installed')
  const bin = join(home, 'bin')
  if (existsSync(done)) return bin
  console.log(`installing ${requirements}`)
  must('python3', ['-m', 'venv', home])
  must(join(bin, 'pip'), ['install', '--quiet', '-r', join(root, requirements)])
  writeFileSync(done, '')
  return bin
}

function must(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' })
  if (status === 0) return
  console.error(`${command} failed${error === undefined ? '' : `: ${error.message}`}; it needs Python 3.11`)
  process.exit(1)
}
