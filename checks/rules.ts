/**
 * `npm run check -- rules`: promtool checks alerts and recorded rules, and runs their unit tests. PROMTOOL may name the
 * program.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const cwd = fileURLToPath(new URL('../deploy/prometheus', import.meta.url))

promtool('check', 'rules', 'deskwire.rules.yaml')
promtool('test', 'rules', 'deskwire.rules.test.yaml')

function promtool(...args: readonly string[]): void {
  const { status } = spawnSync(process.env.PROMTOOL ?? 'promtool', args, { cwd, stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
