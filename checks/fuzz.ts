/**
 * `npm run check -- fuzz`: schemathesis against a service that is started for it, from its own openapi.json. Fails on a 5xx, on
 * an answer that the document does not have, and on an error in the service's log. Options are
 * those of schemathesis: `npm run check -- fuzz --max-examples 500 --seed 7`.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newToken } from '../packages/service/src/auth/token.ts'
import { installPython } from '../tools/python.ts'
import { fuzzArguments, fuzzConfig } from './fuzz/config.ts'
import { makeDesk } from './fuzz/desk.ts'
import { logged, startApi } from './service-process.ts'

const schemathesis = join(installPython('deskwire-fuzz', 'checks/fuzz/requirements.txt'), 'schemathesis')
const scratch = mkdtempSync(join(tmpdir(), 'deskwire-fuzz-'))
const key = newToken()
const service = await startApi(join(scratch, 'data'), key)
try {
  const config = join(scratch, 'schemathesis.toml')
  writeFileSync(config, fuzzConfig(key, await makeDesk(service.url, key)))
  const asked = process.argv.slice(2)
  const args = ['--config-file', config, 'run', `${service.url}/openapi.json`, ...fuzzArguments, ...asked]
  const { status } = spawnSync(schemathesis, args, { stdio: 'inherit', cwd: scratch })
  const errors = logged(service)
  for (const line of errors) console.error(line)
  console.log(`${errors.length} errors in the service's log`)
  process.exitCode = errors.length > 0 ? 1 : (status ?? 1)
} finally {
  await service.end('SIGTERM')
  rmSync(scratch, { recursive: true, force: true })
}
