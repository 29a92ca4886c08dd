/**
 * `npm test`: lint, types, generated files, then every test. The last line counts tests from the runner's report.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const steps: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ['lint', 'biome', 'check', '--error-on-warnings', '.'],
  ['types', 'tsc', '-p', 'tsconfig.json'],
  ['generated files', 'node', 'scripts/generate.ts', '--check'],
]

for (const [name, command, ...args] of steps) {
  console.log(`\n${name}: ${[command, ...args].join(' ')}`)
  if (run(command, args) !== 0) {
    console.error(`${name} failed`)
    console.log('\n0 passed, 1 failed')
    process.exit(1)
  }
}

const scratch = mkdtempSync(join(tmpdir(), 'deskwire-report-'))
const report = join(scratch, 'report.json')
const status = run('vitest', [
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...process.argv.slice(2),
])
const { passed, failed } = countTests(report)
rmSync(scratch, { recursive: true })
console.log(`\n${passed} passed, ${failed} failed`)
// A failing teardown, a leak for one, fails the run though every test passed.
process.exit(failed > 0 ? 1 : status)

function run(command: string, args: readonly string[]): number {
  return spawnSync(command, args, { stdio: 'inherit' }).status ?? 1
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
