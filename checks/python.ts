/**
 * `npm run check -- python`: the Python SDK as it is installed from its wheel: its types, its style, each version of Python, and its tests against
 * a service that is started for them.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { newToken } from '../packages/service/src/auth/token.ts'
import { installPython } from '../tools/python.ts'
import { report } from './report.ts'
import { logged, startApi } from './service-process.ts'

const sdk = fileURLToPath(new URL('../packages/sdk-python', import.meta.url))
const bin = installPython('deskwire-python', 'checks/python/requirements.txt')
const scratch = mkdtempSync(join(tmpdir(), 'deskwire-python-'))
const key = newToken()

try {
  run('builds a wheel', 'python', '-m', 'build', '--no-isolation', '--outdir', scratch, '.')
  const wheel = readdirSync(scratch).find((name) => name.endsWith('.whl')) ?? ''
  run('is installed', 'pip', 'install', '--quiet', '--force-reinstall', '--no-deps', join(scratch, wheel))
  for (const version of ['3.10', '3.14'])
    run(`mypy --strict finds nothing for ${version}`, 'mypy', '--python-version', version, 'src')
  run('ruff finds nothing', 'ruff', 'check', 'src')
  run('is formatted', 'ruff', 'format', '--check', 'src')
  testVersions()
  await using service = await startApi(join(scratch, 'data'), key)
  const environment = { DESKWIRE_URL: service.url, DESKWIRE_API_KEY: key }
  run('passes its tests', 'python', ...'-m pytest -q -p no:cacheprovider test'.split(' '), environment)
  const errors = logged(service)
  for (const line of errors) console.error(line)
  if (errors.length > 0) process.exitCode = 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

/** Python in WebAssembly, by the version of Python. */
function testVersions(): void {
  const releases = { '3.10': '0.22.1', '3.12': '0.27.7', '3.13': '0.29.5', '3.14': '314.0.7' }
  const wanted = Object.entries(releases).map(
    ([version, release]) => `python-${version}@npm:pyodide@${release}`,
  )
  const npm = [
    'install',
    '--silent',
    '--no-audit',
    '--no-fund',
    '--no-save',
    '--ignore-scripts',
    '--prefix',
    scratch,
  ]
  spawnSync('npm', [...npm, ...wanted], { cwd: scratch, stdio: 'inherit' })
  const site = join(scratch, 'site')
  run('installs what it needs', 'pip', 'install', '--quiet', '--target', site, 'httpx==0.28.1')
  for (const version of Object.keys(releases)) {
    const args = [join(scratch, 'node_modules', `python-${version}`), site]
    const program = fileURLToPath(new URL('python/versions.ts', import.meta.url))
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })
    if (status !== 0) console.error(stderr)
    report(`the Python SDK runs in Python ${stdout.trim() || version}`, status === 0)
  }
}

function run(what: string, program: string, ...words: (string | NodeJS.ProcessEnv)[]): void {
  const args = words.filter((word) => typeof word === 'string')
  const env = words.find((word) => typeof word === 'object')
  const { status } = spawnSync(join(bin, program), args, {
    cwd: sdk,
    stdio: 'inherit',
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...env },
  })
  report(`the Python SDK ${what}`, status === 0)
}
