/**
 * The packages as published, in a fresh project with the checkout's dependencies. `npm run check -- packages` installs
 * them from tarballs, with other releases of Node and of compilers.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
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
  cli: 'deskwire',
} as const
const directoryOf = (name: keyof typeof installed) => join(project, 'node_modules', installed[name])
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
  for (const name of packages) linkDependencies(name)
  link('@types/node', 'sdk')
  served = await startServed([process.execPath, join(directoryOf('cli'), 'lib/main.js')], { cwd: project })
})

afterAll(async () => {
  await served?.[Symbol.asyncDispose]()
  rmSync(project, { recursive: true })
})

/** Links the package's dependencies from the checkout, without those for other platforms. */
function linkDependencies(name: keyof typeof installed): void {
  const manifest = JSON.parse(readFileSync(join(directoryOf(name), 'package.json'), 'utf8'))
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifest
  const all = { ...dependencies, ...optionalDependencies, ...peerDependencies }
  for (const wanted of Object.keys(all)) link(wanted, name)
}

function link(name: string, dependent: string): void {
  const place = join(project, 'node_modules', name)
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
  const { stdout } = await run(process.execPath, [join(directoryOf('cli'), 'lib/main.js'), '--version'])
  const { stdout: head } = await run('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root })
  expect(stdout).toMatch(new RegExp(`^${version} \\(${head.trim()}\\+?\\)\n$`))
  expect(await (await fetch(`${served?.url}/metrics`)).text()).toContain(`commit="${head.trim()}`)
})
