/** `deskwire doctor` as it is run: without a database, beside a service, and while it is stopped. */
import { existsSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { eventually } from '../../testbed/eventually.ts'
import { temporaryDataDir } from '../../testbed/installation.ts'
import { deskwire, startDeskwire } from '../../testbed/services.ts'
import { doctorCommand } from '../src/commands/doctor.ts'
import { runHere } from './run-here.ts'

test('the doctor prints a line for each check and its exit code says whether one failed', async () => {
  await using empty = await temporaryDataDir()
  await using dataDir = await temporaryDataDir({ installed: true })
  const settings = {
    DESKWIRE_DATA_DIR: dataDir.path,
    DESKWIRE_DNS_SERVERS: '127.0.0.1:1',
    DESKWIRE_ANSWER_TIMEOUT: '1s',
  }
  const doctor = (words: readonly string[] = [], more: Record<string, string> = {}) =>
    runHere(['doctor', ...words], { settings: { ...settings, ...more } })

  const nothing = await deskwire(['doctor'], { settings: { ...settings, DESKWIRE_DATA_DIR: empty.path } })
  expect(nothing.code).toBe(3)
  expect(nothing.stdout).toMatch(
    /^warning {2}database {2}there is none in .*; name its home with --data-dir/m,
  )
  expect(nothing.stdout).toMatch(/^failed {3}dns {7}.*; set DESKWIRE_DNS_SERVERS/m)
  expect(nothing.stderr).toBe('deskwire: something failed: what is above says what to do\n')
  expect(existsSync(empty.path)).toBe(false)

  await using service = startDeskwire(['serve', '--port', '0', '--log-level', 'silent'], { settings })
  await eventually('it listens', () => service.output.stdout.includes('listening on'))
  const check = async (found: { stdout: string }) => {
    const { verdict, findings } = JSON.parse(found.stdout) as {
      verdict: string
      findings: { check: string; verdict: string }[]
    }
    const failed = findings.filter((finding) => finding.verdict === 'failed').map((finding) => finding.check)
    return { verdict, failed, checks: findings.map((finding) => finding.check) }
  }
  const checks = [
    ...['settings', 'database', 'connections', 'role', 'migrations', 'clock', 'encryption key'],
    ...['log', 'maintenance', 'dns', 'endpoint', 'disk'],
  ]
  expect(await check(await doctor(['--json']))).toEqual({ verdict: 'failed', failed: ['dns'], checks })
  await service.end('SIGTERM')
  const otherKey = { DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') }
  expect(await check(await doctor(['--json'], otherKey))).toEqual({
    verdict: 'failed',
    failed: ['encryption key', 'dns'],
    checks,
  })
  expect(await dataDir.running()).toEqual([])
})

test('settings that are not accepted are what it found', async () => {
  const written: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0)
  try {
    await expect(doctorCommand.run(['--port', 'none'])).rejects.toThrow(/^something failed/)
  } finally {
    write.mockRestore()
  }
  expect(written.join('')).toMatch(/^failed {3}settings {2}--port: "none" is not/)
})
