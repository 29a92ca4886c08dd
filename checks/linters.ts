/**
 * `npm run check -- linters`: pinned linters of others read the workflow (zizmor), the whole history for secrets
 * (gitleaks), the schema (squawk), and what changed in the API since the last release (oasdiff). Any finding fails it.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installPython } from '../tools/python.ts'
import { root } from './manifest.ts'
import { report } from './report.ts'

const zizmor = '1.32.0'
const squawk = '2.70.0'
const goPrograms = {
  gitleaks: 'github.com/zricethezav/gitleaks/v8@v8.30.1',
  oasdiff: 'github.com/oasdiff/oasdiff@v1.37.0',
}

/** Rules for changes of tables that have rows, which the schema of an empty database is not; and for counts. */
const notOfASchema = [
  'prefer-robust-stmts',
  'require-concurrent-index-creation',
  'require-statement-timeout',
  'require-lock-timeout',
  // Of counts that the service limits, of priorities and of status codes.
  'prefer-bigint-over-int',
  'prefer-bigint-over-smallint',
]

const python = installPython('deskwire-linters', [`zizmor==${zizmor}`, `squawk-cli==${squawk}`])
const go = join(root, 'node_modules', '.cache', 'deskwire-linters-go')
mkdirSync(go, { recursive: true })
for (const program of Object.values(goPrograms))
  execFileSync('go', ['install', program], { env: { ...process.env, GOBIN: go }, stdio: 'inherit' })

lint('zizmor: the workflow', join(python, 'zizmor'), '--offline', '--no-progress', '.github')
lint(
  'gitleaks: the history',
  join(go, 'gitleaks'),
  ...['git', '.', '--no-banner', '--redact', '--verbose', '--config', 'checks/linters/gitleaks.toml'],
)
lint('squawk: the schema', join(python, 'squawk'), '--exclude', notOfASchema.join(), 'docs/schema.sql')
compareWithRelease()

function compareWithRelease(): void {
  const [release] = git('tag', '--list', 'v*', '--sort=-v:refname').split('\n')
  if (release === undefined || release === '') {
    report('oasdiff: there is no release yet to compare openapi.json with', true)
    return
  }
  const scratch = mkdtempSync(join(tmpdir(), 'deskwire-linters-'))
  try {
    const released = join(scratch, 'openapi.json')
    writeFileSync(released, git('show', `${release}:openapi.json`))
    const breaking = ['breaking', '--fail-on', 'WARN', released, 'openapi.json']
    lint(`oasdiff: openapi.json since ${release}`, join(go, 'oasdiff'), ...breaking)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
}

/** Shows what the program printed when it found something. */
function lint(title: string, program: string, ...args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: 'utf8' })
  const isClean = status === 0
  if (!isClean) console.log(stdout + stderr)
  report(`${title}: ${isClean ? 'nothing found' : `exit code ${status}`}`, isClean)
}
