/** The process that serve replaces itself with, where the system lets it. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const module = fileURLToPath(new URL('../src/start-lean.ts', import.meta.url))
const script = `
  const { startLean } = await import(${JSON.stringify(module)})
  startLean()
  const { pid, execArgv, argv, env } = process
  const flags = execArgv.filter((flag) => flag.startsWith('--'))
  console.log(JSON.stringify({ pid, flags, word: argv.at(-1), arenas: env.MALLOC_ARENA_MAX ?? null, kept: env.KEPT }))`

async function started(environment: Record<string, string>) {
  const { MALLOC_ARENA_MAX: _, ...inherited } = process.env
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const child = execFile(
    process.execPath,
    ['--no-warnings', '--eval', script, 'word'],
    { env: { ...inherited, KEPT: 'yes', ...environment } },
    (error, stdout) => (error === null ? resolve(stdout) : reject(error)),
  )
  return { pid: child.pid, told: JSON.parse(await promise) as object }
}

test('it is the same process, with the same words and environment, and settings of its own on Linux', async () => {
  const { pid, told } = await started({})
  const [flags, arenas] =
    process.platform === 'linux'
      ? [['--max-semi-space-size=4', '--no-warnings', '--eval'], '2']
      : [['--no-warnings', '--eval'], null]
  expect(told).toEqual({ pid, flags, word: 'word', arenas, kept: 'yes' })
})

test('whoever has chosen how memory is held is left alone', async () => {
  const { pid, told } = await started({ MALLOC_ARENA_MAX: '8' })
  expect(told).toEqual({ pid, flags: ['--no-warnings', '--eval'], word: 'word', arenas: '8', kept: 'yes' })
})
