/**
 * `npm run test:generators`: five generators make clients from the openapi.json of a service that is started for it. Each
 * client compiles, and a program of `callers/` lists, creates, writes a batch and syncs to the end with it. Needs Python
 * 3.11, Go 1.24 and the registries of npm, PyPI and Go. `--write-results` writes `generators/RESULTS.md`; names of generators
 * after that run those alone.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { arch, platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { newToken } from '../packages/service/src/auth/token.ts'
import { installPython } from '../tools/python.ts'
import { type Command, type Generator, generators } from './generators/generators.ts'
import { resultsPage } from './generators/results.ts'
import { startService } from './service-process.ts'

const here = fileURLToPath(new URL('generators/', import.meta.url))
const writes = process.argv.includes('--write-results')
const named = process.argv.slice(2).filter((name) => !name.startsWith('--'))
const chosen = generators.filter(({ name }) => named.length === 0 || named.includes(name))

/** Where each generator's programs of Python are. */
const programs = new Map(
  chosen.map(({ name, python }) => [name, python ? installPython(`deskwire-${name}`, python) : null]),
)
const scratch = mkdtempSync(join(tmpdir(), 'deskwire-generators-'))
const key = newToken()
const service = await startService(join(scratch, 'data'), key)
try {
  const document = join(scratch, 'openapi.json')
  const served = await fetch(`${service.url}/openapi.json`)
  writeFileSync(document, await served.text())
  const said = chosen.map((generator) => ({ generator, said: outcome(generator, document) }))
  if (writes) {
    const on = `Node ${process.versions.node}, ${versionOf('python3', ['--version'])}, ${versionOf('go', ['version'])}, ${platform()} ${arch()}`
    writeFileSync(join(here, 'RESULTS.md'), resultsPage(said, on, new Date()))
  }
  for (const line of service.errors) console.error(line)
  console.log(`${service.errors.length} errors in the service's log`)
  if (said.some((one) => one.said === null) || service.errors.length > 0) process.exitCode = 1
} finally {
  await service.stop()
  rmSync(scratch, { recursive: true, force: true })
}

/** The last line of the program that calls the service; null when a step failed, which is then shown. */
function outcome(generator: Generator, document: string): string | null {
  const directory = join(scratch, generator.name.replaceAll(/\W/g, '-'))
  mkdirSync(directory)
  copyFileSync(document, join(directory, 'openapi.json'))
  copyFileSync(join(here, 'callers', generator.caller.from), join(directory, generator.caller.to))
  for (const [path, content] of Object.entries(generator.files ?? {}))
    writeFileSync(join(directory, path), content)
  try {
    let said = ''
    for (const step of generator.steps) said = run(step, directory, programs.get(generator.name) ?? null)
    console.log(`${generator.name}: ${said}`)
    return said
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string }
    console.error(`${generator.name} failed: ${message}\n${stdout}\n${stderr}`)
    return null
  }
}

/** What a command says last; `programs` has those that are not on the PATH. */
function run([command, ...args]: Command, cwd: string, programs: string | null): string {
  const own = {
    ...(programs && { PATH: `${programs}:${process.env.PATH}` }),
    DESKWIRE_URL: service.url,
    DESKWIRE_API_KEY: key,
    GOBIN: join(cwd, 'bin'),
    GOFLAGS: '-mod=mod',
  }
  const env = { ...process.env, ...own }
  const said = execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  return said.trim().split('\n').at(-1) ?? ''
}

function versionOf(command: string, args: readonly string[]): string {
  const said = execFileSync(command, args, { encoding: 'utf8' })
  return `${command === 'go' ? 'Go' : 'Python'} ${/\d+\.\d+\.\d+/.exec(said)?.[0]}`
}
