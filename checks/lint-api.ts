/**
 * `npm run check -- lint-api`: lints openapi.json with pinned versions of Redocly CLI and Spectral, configured in
 * `lint-api/`; any error or warning fails it.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const tools = ['@redocly/cli@2.77.0', '@stoplight/spectral-cli@6.16.3']
const linters = [
  ['redocly', 'lint', 'openapi.json'],
  ['spectral', 'lint', '--fail-severity', 'hint', 'openapi.json'],
] as const

const scratch = mkdtempSync(join(tmpdir(), 'deskwire-lint-api-'))
try {
  cpSync(fileURLToPath(new URL('lint-api/', import.meta.url)), scratch, { recursive: true })
  cpSync(fileURLToPath(new URL('../openapi.json', import.meta.url)), join(scratch, 'openapi.json'))
  const install = ['install', '--silent', '--no-audit', '--no-fund', '--no-save', '--ignore-scripts']
  execFileSync('npm', [...install, '--prefix', scratch, ...tools], { cwd: scratch, stdio: 'inherit' })
  for (const [name, ...args] of linters) {
    const program = join(scratch, 'node_modules', '.bin', name)
    const { status } = spawnSync(program, args, { cwd: scratch, stdio: 'inherit' })
    if (status !== 0) process.exitCode = 1
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
