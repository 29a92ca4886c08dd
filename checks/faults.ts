/**
 * `npm run check -- faults [--only TEXT]` plants one fault after another in the SQL of a commit, in a copy of the
 * checkout, and runs the tests that should notice. A fault that no test notices survives, and fails the check.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { commitFaults } from './faults/commit.ts'
import { deliveryFaults } from './faults/deliveries.ts'
import type { Fault } from './faults/fault.ts'
import { kindFaults } from './faults/kind.ts'
import { root } from './manifest.ts'
import { report } from './report.ts'

interface TestResults {
  readonly numPassedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly message: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
const faults = [...commitFaults, ...kindFaults, ...deliveryFaults].filter(({ name }) =>
  name.includes(values.only),
)
const copy = mkdtempSync(join(tmpdir(), 'deskwire-faults-'))
try {
  copyCheckout()
  const files = [...new Set(faults.flatMap(({ killers }) => killers))]
  const { failed, passed, crashed } = runTests(files)
  report(
    `without a fault: ${passed} tests pass in ${files.length} files ${[...crashed, ...failed].join('; ')}`,
    passed > 0 && failed.length + crashed.length === 0,
  )
  if (process.exitCode !== 1) {
    // Pages are built of these sources too, and are the same with every fault.
    writeFileSync(join(copy, 'tools/build-pages.ts'), '')
    const survivors = faults.filter((fault) => !isKilled(fault))
    report(
      `${faults.length - survivors.length} of ${faults.length} faults are killed`,
      survivors.length === 0,
    )
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
}

/** With the packages' sources in place of what is installed of them. */
function copyCheckout(): void {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  for (const path of listed.split('\0').filter((one) => one !== '' && existsSync(join(root, one)))) {
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    cpSync(join(root, path), join(copy, path))
  }
  const installed = join(root, 'node_modules')
  mkdirSync(join(copy, 'node_modules'))
  for (const name of readdirSync(installed)) {
    const [from, to] = [join(installed, name), join(copy, 'node_modules', name)]
    if (name === '@deskwire') cpSync(from, to, { recursive: true, verbatimSymlinks: true })
    else symlinkSync(from, to)
  }
}

function isKilled({ name, file, change, killers, titled }: Fault): boolean {
  const path = join(copy, 'packages/service/src', file)
  const sound = readFileSync(path, 'utf8')
  let planted = sound
  for (const [text, replacement] of Object.entries(change)) {
    const parts = planted.split(text)
    if (parts.length !== 2) {
      report(`${name}: ${file} has its text ${parts.length - 1} times: ${text}`, false)
      return false
    }
    planted = parts.join(replacement)
  }
  writeFileSync(path, planted)
  const { failed, crashed } = runTests(
    killers,
    '--bail',
    '1',
    ...(titled === undefined ? [] : ['-t', titled]),
  )
  writeFileSync(path, sound)
  const [killer] = failed
  if (crashed.length > 0)
    report(`${name}: is no fault, as nothing runs with it: ${crashed.join('; ')}`, false)
  else if (killer === undefined) report(`${name}: SURVIVES ${killers.join(', ')}`, false)
  else report(`${name}: killed by '${killer}'`, true)
  return crashed.length === 0 && killer !== undefined
}

/** Of test files: the titles that failed, how many passed, and what ended before its tests. */
function runTests(files: readonly string[], ...options: readonly string[]) {
  const results = join(copy, 'results.json')
  rmSync(results, { force: true })
  const { stderr } = spawnSync(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=json',
      `--outputFile=${results}`,
      ...options,
      ...files.map((file) => `packages/service/test/${file}`),
    ],
    { cwd: copy, encoding: 'utf8', maxBuffer: 2 ** 30 },
  )
  if (!existsSync(results)) return { failed: [], passed: 0, crashed: [stderr.slice(-2_000)] }
  const { numPassedTests, testResults } = JSON.parse(readFileSync(results, 'utf8')) as TestResults
  const failed = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  )
  const crashed = testResults.filter(({ assertionResults }) => assertionResults.length === 0)
  return {
    failed,
    passed: numPassedTests,
    crashed: crashed.map(({ name, message }) => `${name}: ${message}`),
  }
}
