/** The runner of checks; manifest, files, documents and the workflow agree. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { filesEndingIn, textOf } from '../packages/testbed/repository.ts'
import { runAll } from './check.ts'
import { commitFaults } from './faults/commit.ts'
import { deliveryFaults } from './faults/deliveries.ts'
import { kindFaults } from './faults/kind.ts'
import { type Check, checks, root } from './manifest.ts'

const run = (...words: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'checks/check.ts'), ...words], {
    encoding: 'utf8',
    env: { ...process.env, PROMTOOL: '/nowhere/promtool' },
  })
  return { status, stdout, stderr }
}

test('lists every check without a name', () => {
  const { status, stdout } = run()
  expect(status).toBe(0)
  for (const [name, { shows }] of Object.entries(checks))
    expect(stdout).toMatch(new RegExp(`^${name} .*: ${shows.replaceAll(/[()]/g, '\\$&')}$`, 'm'))
})

test('refuses a name that is no check', () => {
  const stderr = 'there is no check nothing; npm run check lists them\n'
  expect(run('nothing')).toEqual({ status: 2, stdout: '', stderr })
})

test('says what is missing where a need is not met, and runs nothing', () => {
  const stderr =
    'rules cannot run here: install prometheus, which has promtool, or set PROMTOOL to its path\n'
  expect(run('rules')).toEqual({ status: 2, stdout: '', stderr })
})

test("passes options on, and exits with the check's code", () => {
  const { status, stderr } = run('history', '/nowhere.ndjson')
  expect(status).toBe(2)
  expect(stderr).toContain('history: /nowhere.ndjson: ')
})

test('all runs what can be run, says what it left out, and fails when one fails', async () => {
  const exiting = (code: number, needs: Check['needs'] = []): Check => ({
    shows: `exit code ${code}`,
    program: ['-e', `process.exit(${code})`],
    needs,
    minutes: 1,
    when: 'night',
  })
  const wings = { isMet: () => false, remedy: 'grow wings' }
  const said: string[] = []
  const say = (line: string) => void said.push(line)
  expect(await runAll({ good: exiting(0), winged: exiting(1, [wings]) }, say)).toBe(0)
  expect(await runAll({ bad: exiting(3), good: exiting(0) }, say)).toBe(1)
  expect(said.filter((line) => line.includes('passed'))).toEqual([
    '\npassed    good\nleft out  winged: grow wings',
    '\nFAILED    bad: exit code 3\npassed    good',
  ])
})

test('every file of the manifest is there, and says how it is run', () => {
  for (const [name, { program }] of Object.entries(checks)) {
    const path = join(root, program[0])
    expect([name, existsSync(path)]).toEqual([name, true])
    if (program[0].startsWith('checks/'))
      expect([name, readFileSync(path, 'utf8').includes(`\`npm run check -- ${name}`)]).toEqual([name, true])
  }
})

test('the scripts of npm and the checks that documents name are there', () => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: object }
  const named = filesEndingIn(['.md']).flatMap((file) =>
    [...textOf(file).matchAll(/\bnpm run ([\w:]*\w)(?: -- ([a-z][\w-]*))?/g)].map(
      ([text, script = '', check = 'all']) => ({ file, text, script, check }),
    ),
  )
  expect(named.length).toBeGreaterThan(50)
  const known = ({ script, check }: { script: string; check: string }) =>
    Object.hasOwn(scripts, script) && (script !== 'check' || check === 'all' || Object.hasOwn(checks, check))
  expect(named.filter((one) => !known(one))).toEqual([])
})

interface Workflow {
  readonly on: object
  readonly permissions: object
  readonly concurrency: object
  readonly jobs: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

test('the workflow runs .ci/run and the checks of its event, may only read, ends, and is pinned', () => {
  const text = textOf('.github/workflows/ci.yml')
  const { on, permissions, concurrency, jobs } = parse(text) as Workflow
  expect(Object.keys(on)).toEqual(['push', 'pull_request', 'schedule'])
  expect(permissions).toEqual({ contents: 'read' })
  expect(concurrency).toMatchObject({ 'cancel-in-progress': true })
  for (const [name, job] of Object.entries(jobs)) {
    expect([name, job['timeout-minutes']]).toEqual([name, expect.any(Number)])
    expect([name, job.permissions]).toEqual([name, undefined])
  }
  const used = [...text.matchAll(/uses: (.*)$/gm)].map(([, action]) => action)
  expect(used.length).toBeGreaterThan(0)
  for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  expect(text).toContain('run: .ci/run')
  const longest = Math.max(...Object.values(checks).map(({ minutes }) => minutes))
  expect(jobs.check?.['timeout-minutes']).toBeGreaterThan(longest)
})

test('--json has the checks of a moment, with the packages that they need', () => {
  const { stdout } = run('--json', 'push')
  expect(JSON.parse(stdout)).toEqual([
    { name: 'rules', packages: 'prometheus' },
    { name: 'sql', packages: 'postgresql postgresql-.*-plpgsql-check' },
    { name: 'agents', packages: '' },
    { name: 'lint-api', packages: '' },
    { name: 'linters', packages: 'python3-venv golang-go' },
  ])
})

test('each fault can be planted: its file has the text that it changes once', () => {
  const planted = [...commitFaults, ...kindFaults, ...deliveryFaults].flatMap(({ name, file, change }) =>
    Object.keys(change).map((text) => ({
      name,
      found: textOf(`packages/service/src/${file}`).split(text).length - 1,
    })),
  )
  expect(planted.filter(({ found }) => found !== 1)).toEqual([])
  expect(planted.length).toBeGreaterThan(130)
})
