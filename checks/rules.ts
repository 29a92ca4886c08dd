/**
 * Has promtool check the rules and run their unit tests; --write-results writes what came of it. Needs promtool on the PATH, as
 * Debian's package `prometheus` brings it, or named by PROMTOOL.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const directory = fileURLToPath(new URL('../deploy/prometheus', import.meta.url))
const promtool = process.env.PROMTOOL ?? 'promtool'

const found = spawnSync(promtool, ['--version'], { encoding: 'utf8' })
if (found.error !== undefined) {
  console.error(`${promtool} cannot be run: install Debian's package prometheus, or set PROMTOOL to its path`)
  process.exit(1)
}
const release = /promtool, version (\S+)/.exec(`${found.stdout}${found.stderr}`)?.[1] ?? 'unknown'
const checked = run('check', 'rules', 'deskwire.rules.yaml')
const tested = run('test', 'rules', 'deskwire.rules.test.yaml')

if (process.argv.includes('--write-results')) {
  const commit = execFileSync('git', ['log', '-1', '--format=%cs'], {
    cwd: directory,
    encoding: 'utf8',
  }).trim()
  writeFileSync(
    `${directory}/RESULTS.md`,
    `# The rules, with promtool

\`npm run test:rules -- --write-results\`, promtool ${release}, at a commit of ${commit}.

\`\`\`
$ promtool check rules deskwire.rules.yaml
${checked}
$ promtool test rules deskwire.rules.test.yaml
${tested}
\`\`\`
`,
  )
}

/** What it says; ends the process where it fails. */
function run(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(promtool, args, { cwd: directory, encoding: 'utf8' })
  const said = `${stdout}${stderr}`.trim()
  console.log(said)
  if (status !== 0) process.exit(status ?? 1)
  return said
}
