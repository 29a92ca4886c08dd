/**
 * The packages as published, in a fresh project with the checkout's dependencies. `npm run check -- packages` installs
 * them from tarballs, with other releases of Node and of compilers.
 */
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { version } from '../../packages/service/src/kernel/version.ts'
import { buildPackages, packages, root } from './build.ts'
import { faultsOf } from './faults.ts'
import { packPackages } from './pack.ts'
import { compile, consumed, consumeWith, makeProject, type Served, startServed } from './project.ts'

const run = promisify(execFile)

const project = mkdtempSync(join(tmpdir(), 'deskwire-packages-'))
const installed = {
  sdk: '@deskwire/sdk',
  mirror: '@deskwire/mirror',
  mcp: '@deskwire/mcp',
  'embedded-postgres': '@deskwire/embedded-postgres',
  service: '@deskwire/service',
  cli: '@deskwire/cli',
  deskwire: 'deskwire',
} as const
const directoryOf = (name: keyof typeof installed) => join(project, 'node_modules', installed[name])
/** The command line as a client installs it. */
const client = ['sdk', 'mirror', 'cli'] as const
// Not within the project, whose packages would be found from there.
const thin = mkdtempSync(join(tmpdir(), 'deskwire-thin-'))
const commandLine = join(directoryOf('deskwire'), 'lib/main.js')
let served: Served | undefined

beforeAll(async () => {
  const release = { version, repository: null }
  // `npm test` has checked the types before.
  const built = buildPackages(release, (name) => join(project, 'built', name), ['--noCheck'])
  makeProject(project)
  for (const { name, path } of packPackages(built, join(project, 'packed'))) {
    const directory = join(project, 'node_modules', name)
    mkdirSync(directory, { recursive: true })
    await run('tar', ['-xzf', path, '-C', directory, '--strip-components=1'])
  }
  for (const name of packages) linkDependencies(project, name)
  link(project, '@types/node', 'sdk')
  for (const name of client) {
    const directory = join(thin, 'node_modules', installed[name])
    mkdirSync(dirname(directory), { recursive: true })
    cpSync(directoryOf(name), directory, { recursive: true })
    linkDependencies(thin, name, ['dependencies'])
  }
  served = await startServed([process.execPath, commandLine], { cwd: project })
})

afterAll(async () => {
  await served?.[Symbol.asyncDispose]()
  for (const directory of [project, thin]) rmSync(directory, { recursive: true })
})

/** Links the package's dependencies from the checkout, without those for other platforms. */
function linkDependencies(
  into: string,
  name: keyof typeof installed,
  which: readonly string[] = ['dependencies', 'optionalDependencies', 'peerDependencies'],
): void {
  const manifest = JSON.parse(readFileSync(join(directoryOf(name), 'package.json'), 'utf8'))
  for (const wanted of which.flatMap((member) => Object.keys(manifest[member] ?? {})))
    link(into, wanted, name)
}

function link(into: string, name: string, dependent: string): void {
  const place = join(into, 'node_modules', name)
  const found = [join(root, 'packages', dependent), root].map((from) => join(from, 'node_modules', name))
  const source = found.find((path) => existsSync(path))
  if (source === undefined || existsSync(place)) return
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(source, place)
}

describe.each(packages)('%s', (name) => {
  test('holds what is published, and all that it points at', () => {
    expect(faultsOf(directoryOf(name))).toEqual([])
  })

  test('is as publint has it', async () => {
    const { messages, pkg } = await publint({ pkgDir: directoryOf(name), pack: false, strict: true })
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
  })

  test('has no version in the repository', () => {
    const manifest = readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')
    expect(JSON.parse(manifest)).not.toHaveProperty('version')
  })
})

test('without one, sources cannot be packed', async () => {
  const packing = run('npm', ['pack', '--dry-run', '--offline'], { cwd: join(root, 'packages/sdk') })
  await expect(packing).rejects.toThrow(/must have name and version/)
})

const compiler = join(root, 'node_modules/typescript/bin/tsc')

test.each(['consumer.ts', 'embedding.ts'] as const)('the program %s compiles', async (program) => {
  await compile(project, compiler, { moduleResolution: 'nodenext', platform: 'node' }, program)
})

test('the program, compiled, works with the service of the packed command line', async () => {
  expect(await consumeWith(process.execPath, project, served as Served)).toBe(consumed)
})

test('the packed service serves its pages', async () => {
  const page = await (await fetch(`${served?.url}/docs`)).text()
  const assets = [...page.matchAll(/"(\/docs\/assets\/[^"]+)"/g)].map(([, address]) => address)
  expect(assets.length).toBeGreaterThan(3)
  for (const address of assets) expect((await fetch(`${served?.url}${address}`)).status).toBe(200)
})

test('the packed service serves the console as built files, and needs nothing that builds it', async () => {
  const page = await (await fetch(`${served?.url}/console`)).text()
  const [script = ''] = /\/console\/assets\/index-[\w-]+\.js/.exec(page) ?? []
  expect((await fetch(`${served?.url}${script}`)).status).toBe(200)
  const manifest = JSON.parse(readFileSync(join(directoryOf('service'), 'package.json'), 'utf8'))
  expect(Object.keys(manifest.dependencies)).not.toContain('react')
})

test('the packed command line says which release it is', async () => {
  const { stdout } = await run(process.execPath, [commandLine, '--version'])
  const { stdout: head } = await run('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root })
  expect(stdout).toMatch(new RegExp(`^${version} \\(${head.trim()}\\+?\\)\n$`))
  expect(await (await fetch(`${served?.url}/metrics`)).text()).toContain(`commit="${head.trim()}`)
})

test('the packed client runs without the service, and names the package that has a command of the server', async () => {
  const main = join(thin, 'node_modules/@deskwire/cli/lib/main.js')
  const env = { ...process.env, DESKWIRE_URL: served?.url, DESKWIRE_API_KEY: served?.key }
  const deskwire = async (...words: string[]) => {
    const ended = run(process.execPath, [main, ...words], { cwd: thin, env })
    const { code = 0, stdout, stderr } = await ended.catch((error) => error)
    return { code, said: `${stdout}${stderr}` }
  }
  writeFileSync(join(thin, 'people.csv'), 'name,email\nGrace Hopper,grace@example.com\n')
  const expected: readonly (readonly [words: readonly string[], says: RegExp, code: number])[] = [
    [['--help'], /\(package deskwire\)/, 0],
    [['--version'], new RegExp(`^${version.replaceAll('.', '\\.')} \\(`), 0],
    [['import', 'people.csv'], /1 created/, 0],
    [['customers', 'list'], /Grace Hopper/, 0],
    [['tail', 'customers', '--from-start', '--once'], /"Grace Hopper"/, 0],
    [['export', 'customers'], /"Grace Hopper"/, 0],
    [['mirror', 'run', '--to', 'copy.db', '--once'], /\d+ rows? loaded; .* is up to date/, 0],
    [['listen', '--ca'], /ca\.pem\n$/, 0],
    [['completion', 'bash'], /^(?![\s\S]*backup)[\s\S]*customers/, 0],
    [['custmers', 'list'], /did you mean "deskwire customers/, 2],
    [['serve'], ofServer('serve'), 1],
    [['demo'], /serve is a command of the server/, 1],
    [['organizations', 'list'], ofServer('organizations list'), 1],
    [['backup', 'create', '--help'], ofServer('backup create'), 1],
  ]
  for (const [words, says, code] of expected) {
    const ended = await deskwire(...words)
    expect({ words, ...ended }).toEqual({ words, code, said: expect.stringMatching(says) })
  }
})

const ofServer = (name: string) =>
  new RegExp(`^deskwire: ${name} is a command of the server, [^\\n]* install the package deskwire[^\\n]*\\n$`)
