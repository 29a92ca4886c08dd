/**
 * `npm run check -- NAME [options of the check]` runs a check of the manifest and exits with its code, or with 2 where a need is not
 * met. `all` runs each whose needs are met, says which it left out, and exits with 1 when one fails. Without a name it lists them.
 * `--json WHEN` prints the names and packages of those that continuous integration runs then.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Check, checks, root } from './manifest.ts'

if (import.meta.main) {
  const [name, ...options] = process.argv.slice(2)
  if (name === undefined) console.log(listOf(checks))
  else if (name === '--json') console.log(JSON.stringify(matrixOf(checks, options[0])))
  else if (name === 'all') process.exitCode = await runAll(checks, console.log)
  else process.exitCode = await runOne(name, options)
}

function listOf(all: Readonly<Record<string, Check>>): string {
  const when = { push: 'each push', night: 'each night', release: 'before a release', file: 'on a file' }
  const lines = Object.entries(all).flatMap(([name, check]) => [
    `${name.padEnd(15)}${check.minutes} min, ${when[check.when]}: ${check.shows}`,
    ...missingOf(check).map((remedy) => `${' '.repeat(15)}cannot run here: ${remedy}`),
  ])
  return `npm run check -- NAME|all [options]\n\n${lines.join('\n')}`
}

/** For the jobs of a workflow. */
function matrixOf(all: Readonly<Record<string, Check>>, when: string | undefined) {
  return Object.entries(all).flatMap(([name, check]) =>
    check.when === when
      ? [{ name, packages: check.needs.flatMap((need) => need.packages ?? []).join(' ') }]
      : [],
  )
}

function missingOf({ needs }: Check): readonly string[] {
  return needs.filter((need) => !need.isMet()).map(({ remedy }) => remedy)
}

async function runOne(name: string, options: readonly string[]): Promise<number> {
  const check = checks[name]
  if (check === undefined) {
    console.error(`there is no check ${name}; npm run check lists them`)
    return 2
  }
  const missing = missingOf(check)
  for (const remedy of missing) console.error(`${name} cannot run here: ${remedy}`)
  return missing.length > 0 ? 2 : run(check, options)
}

/** Runs each that needs no file, one after another. Resolves with 1 when one has failed. */
export async function runAll(
  all: Readonly<Record<string, Check>>,
  say: (line: string) => void,
): Promise<number> {
  const outcomes: string[] = []
  let failed = 0
  for (const [name, check] of Object.entries(all)) {
    // Not earlier, as a check may provide what the next one needs.
    const missing = check.when === 'file' ? ['name a file'] : missingOf(check)
    if (missing.length > 0) {
      outcomes.push(`left out  ${name}: ${missing.join('; ')}`)
      continue
    }
    say(`\n${name}: ${check.shows}`)
    const code = await run(check, [])
    if (code !== 0) failed++
    outcomes.push(code === 0 ? `passed    ${name}` : `FAILED    ${name}: exit code ${code}`)
  }
  say(`\n${outcomes.join('\n')}`)
  return failed > 0 ? 1 : 0
}

async function run({ program }: Check, options: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [...program, ...options], { cwd: root, stdio: 'inherit' })
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 1
}
