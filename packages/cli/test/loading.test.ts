/** What a command loads: itself, and of the service no more than it needs. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
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

test('each command is there when it is asked for', async () => {
  for (const { load } of commands) {
    const { help, run } = await load()
    expect([typeof help, typeof run]).toEqual(['function', 'function'])
  }
})
