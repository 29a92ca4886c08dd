/**
 * `npm test`: lint, prose, types, generated files, at once; then every test. The last line counts tests from the runner's report.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

// Compilers of TypeScript and of Go are programs in Go: a third of their time was for collecting garbage, of which a run leaves little.
process.env.GOGC ??= '400'

const checks: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ['lint', 'biome', 'check', '--error-on-warnings', '.'],
  ['prose', 'node', 'tools/prose.ts'],
  // Several checkers check the libraries' types each for itself, and there are other checks for the other cores.
  ['types', 'tsc', '-p', 'tsconfig.json', '--checkers', '1'],
  ["the console's types", 'tsc', '-p', 'packages/console', '--checkers', '1'],
  ['generated files', 'node', 'tools/generate.ts', '--check'],
]

const failures = await Promise.all(
  checks.map(async ([name, command, ...args]) => {
    const { status, said } = await notify(command, args)
    console.log(`\n${name}: ${[command, ...args].join(' ')}\n${said}`)
    return status === 0 ? [] : [name]
  }),
)
if (failures.flat().length > 0) {
  console.error(`${failures.flat().join(', ')}: failed`)
  console.log(`\n0 passed, ${failures.flat().length} failed`)
  process.exit(1)
}

const scratch = mkdtempSync(join(tmpdir(), 'deskwire-report-'))
const report = join(scratch, 'report.json')
const tests = spawn(
  'vitest',
  ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...process.argv.slice(2)],
  { stdio: 'inherit' },
)
const status = await statusOf(tests)
const { passed, failed } = countTests(report)
rmSync(scratch, { recursive: true })
console.log(`\n${passed} passed, ${failed} failed`)
// A failing teardown, a leak for one, fails the run though every test passed.
process.exit(failed > 0 ? 1 : status)

/** Runs a program to its end, and keeps what it says. */
async function notify(command: string, args: readonly string[]): Promise<{ status: number; said: string }> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, status] = await Promise.all([text(child.stdout), text(child.stderr), statusOf(child)])
  return { status, said: out + err }
}

/** One that a signal ended did not succeed. */
async function statusOf(child: ReturnType<typeof spawn>): Promise<number> {
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 1
}

function countTests(path: string): { passed: number; failed: number } {
  try {
    const { numPassedTests, numFailedTests, numFailedTestSuites } = JSON.parse(readFileSync(path, 'utf8'))
    // A file that does not even load has no tests to fail.
    return { passed: numPassedTests, failed: numFailedTests || numFailedTestSuites }
  } catch {
    return { passed: 0, failed: 1 }
  }
}
