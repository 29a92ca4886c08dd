/** The process that serve replaces itself with, where the system lets it. */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const module = fileURLToPath(new URL('../src/start-lean.ts', import.meta.url))
const script = `
  const { startLean } = await import(${JSON.stringify(module)})
  startLean()
  const { pid, execArgv, argv, env } = process
  const flags = execArgv.filter((flag) => flag.startsWith('--'))
  console.log(JSON.stringify({ pid, flags, word: argv.at(-1), threshold: env.MALLOC_MMAP_THRESHOLD_ ?? null, system: env.NODE_USE_SYSTEM_CA, kept: env.KEPT }))`

async function started(environment: Record<string, string>, flags: readonly string[] = []) {
  const { MALLOC_MMAP_THRESHOLD_: _, NODE_USE_SYSTEM_CA: __, ...inherited } = process.env
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const child = execFile(
    process.execPath,
    ['--no-warnings', ...flags, '--eval', script, 'word'],
    { env: { ...inherited, KEPT: 'yes', ...environment } },
    (error, stdout) => (error === null ? resolve(stdout) : reject(error)),
  )
  return { pid: child.pid, told: JSON.parse(await promise) as object }
}

test('it is the same process, with the same words and environment, and settings of its own on Linux', async () => {
  const { pid, told } = await started({})
  const helpers = `--v8-pool-size=${Math.min(4, Math.max(1, availableParallelism() - 1))}`
  const [flags, threshold, system] =
    process.platform === 'linux'
      ? [['--max-semi-space-size=4', helpers, '--no-warnings', '--eval'], '1048576', '1']
      : [['--no-warnings', '--eval'], null, undefined]
  expect(told).toEqual({ pid, flags, word: 'word', threshold, system, kept: 'yes' })
})

test('whoever has chosen how memory is held is left alone', async () => {
  const { pid, told } = await started({ MALLOC_MMAP_THRESHOLD_: '65536' })
  expect(told).toEqual({
    pid,
    flags: ['--no-warnings', '--eval'],
    word: 'word',
    threshold: '65536',
    kept: 'yes',
  })
})

test.each([
  ['--cpu-prof', '--cpu-prof-dir=DIR'],
  ['--prof', '--logfile=DIR/v8.log'],
])('one that %s samples is left alone, as its next signal would end what replaced it', async (flag, into) => {
  const profiles = await mkdtemp(join(tmpdir(), 'deskwire-profiles-'))
  try {
    expect(await started({}, [flag, into.replace('DIR', profiles)])).toMatchObject({
      told: { threshold: null },
    })
    expect(await readdir(profiles)).toHaveLength(1)
  } finally {
    await rm(profiles, { recursive: true })
  }
})
