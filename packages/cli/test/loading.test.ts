/** What a command loads: itself, and of the service no more than it needs. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../../testbed/repository.ts'
import { commands } from '../src/commands.ts'

const src = join(root, 'packages/cli/src')

/** What a module loads before it runs; types are nothing then. */
function loadedBy(path: string): string[] {
  const text = readFileSync(join(src, path), 'utf8')
  return [...text.matchAll(/^import (?!type )[^']*?'([^']+)'/gm)].map(([, from = '']) => from)
}

test('what a checkout begins with is no TypeScript, so that Node keeps what it compiles of the rest', () => {
  const manifest = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8'))
  const [begin = ''] = Object.values<string>(manifest.bin)
  expect(begin).toMatch(/\.js$/)
  const text = readFileSync(join(root, 'packages/cli', begin), 'utf8')
  expect([...text.matchAll(/^import .* from '([^']+)'/gm)].map(([, from]) => from)).toEqual([
    'node:module',
    'node:url',
  ])
})

test('the start loads no command, and neither library', () => {
  const loaded = [
    'main.ts',
    'run.ts',
    'commands.ts',
    'resources/operation.ts',
    'resources/operations.ts',
    'failure.ts',
    'start-lean.ts',
    'terminal.ts',
    'usage-error.ts',
  ].flatMap(loadedBy)
  expect(loaded.filter((from) => !from.startsWith('node:')).sort()).toEqual([
    './commands.ts',
    './failure.ts',
    './failure.ts',
    './operations.ts',
    './resources/operation.ts',
    './run.ts',
    './start-lean.ts',
    './terminal.ts',
    './usage-error.ts',
  ])
})

test('the whole service is loaded by no command, and its start by serve alone', () => {
  const sources = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  )
  const loading = (from: string) => sources.filter((path) => loadedBy(path).includes(from))
  expect(loading('@deskwire/service')).toEqual([])
  expect(loading('@deskwire/service/serve')).toEqual(['commands/serve.ts'])
})

test('commands of a client run without the service: of that they load what their package contains', () => {
  const text = readFileSync(join(src, 'commands.ts'), 'utf8')
  const named = [...text.matchAll(/name: '([^']+)',\n[^}]*?import\('\.\/([^']+)'\)/g)]
  const needing = named.flatMap(([, name = '', path = '']) => {
    const ofService = everLoadedBy(path).filter((from) =>
      /^@deskwire\/service(?!\/(kinds|closest|version)$)/.test(from),
    )
    return ofService.length > 0 ? [name] : []
  })
  const ofServer = commands.filter(
    ({ name, group }) => ['run', 'administer'].includes(group) && name !== 'demo',
  )
  expect(needing).toEqual(ofServer.map(({ name }) => name))
})

/** What a module loads sooner or later. */
function everLoadedBy(path: string): string[] {
  const paths = new Set([path])
  const packages = new Set<string>()
  for (const one of paths) {
    const lazily = [...readFileSync(join(src, one), 'utf8').matchAll(/\bimport\('([^']+)'\)/g)]
    for (const from of [...loadedBy(one), ...lazily.map(([, from = '']) => from)]) {
      if (!from.startsWith('.')) packages.add(from)
      else if (!from.endsWith('/commands.ts')) paths.add(join(dirname(one), from))
    }
  }
  return [...packages]
}

test('each command is there when it is asked for', async () => {
  for (const { load } of commands) {
    const { help, run } = await load()
    expect([typeof help, typeof run]).toEqual(['function', 'function'])
  }
})
