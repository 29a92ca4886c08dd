/**
 * `npm run check -- generators [NAME …]`: five generators make clients from the openapi.json of a service that is started for it. Each
 * client compiles, and a program of `callers/` lists, creates, writes a batch and syncs to the end with it. Names of
 * generators run those alone.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { newToken } from '../packages/service/src/auth/token.ts'
import { installPython } from '../tools/python.ts'
import { type Command, type Generator, generators } from './generators/generators.ts'
import { report } from './report.ts'
import { logged, startApi } from './service-process.ts'

const here = fileURLToPath(new URL('generators/', import.meta.url))
const named = process.argv.slice(2)
const chosen = generators.filter(({ name }) => named.length === 0 || named.includes(name))

/** Of Python, by generator. */
const programs = new Map(
  chosen.map(({ name, python }) => [name, python ? installPython(`deskwire-${name}`, python) : null]),
)
const scratch = mkdtempSync(join(tmpdir(), 'deskwire-generators-'))
const key = newToken()
const service = await startApi(join(scratch, 'data'), key)
try {
  const document = join(scratch, 'openapi.json')
  const served = await fetch(`${service.url}/openapi.json`)
  writeFileSync(document, await served.text())
  for (const generator of chosen) tryGenerator(generator, document)
  const errors = logged(service)
  for (const line of errors) console.error(line)
  report(`${errors.length} errors in the service's log`, errors.length === 0)
} finally {
  await service.end('SIGTERM')
  rmSync(scratch, { recursive: true, force: true })
}

/** Reports the last line of the program that calls the service, or the failed step. */
function tryGenerator(generator: Generator, document: string): void {
  const directory = join(scratch, generator.name.replaceAll(/\W/g, '-'))
  mkdirSync(directory)
  copyFileSync(document, join(directory, 'openapi.json'))
  copyFileSync(join(here, 'callers', generator.caller.from), join(directory, generator.caller.to))
  for (const [path, content] of Object.entries(generator.files ?? {}))
    writeFileSync(join(directory, path), content)
  try {
    let said = ''
    for (const step of generator.steps) said = run(step, directory, programs.get(generator.name) ?? null)
    report(`${generator.name} ${generator.version}: ${said}`, true)
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string }
    report(`${generator.name} ${generator.version}: ${message}\n${stdout}\n${stderr}`, false)
  }
}

/** A command's last line; `programs` has those that are not on the PATH. */
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
