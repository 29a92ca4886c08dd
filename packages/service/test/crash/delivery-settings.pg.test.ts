/** Settings that secrets, receivers and summaries depend on: what is wrong with them is said in one line, and ends the start. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runHere } from '../../../cli/test/run-here.ts'
import { startHooks } from '../../../testbed/arrivals.ts'
import { testDatabase } from '../../../testbed/database.ts'
import { socketUrl } from '../../../testbed/services.ts'

/** Runs `serve` to its end. */
async function serveInVain(args: readonly string[], settings: Record<string, string> = {}) {
  const { code, stderr } = await runHere(['serve', '--port', '0', ...args], {
    settings: { DESKWIRE_LOG_LEVEL: 'error', ...settings },
  })
  // The log is apart; what a person reads is all that is left.
  return { code, said: stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{')) }
}

test('no key, or none that is one, beside a database of one’s own', async () => {
  const where = ['--database-url', 'postgres://nobody@127.0.0.1:1/nothing']
  for (const role of ['all', 'worker']) {
    const { code, said } = await serveInVain(['--role', role, ...where])
    expect(code).toBe(2)
    expect(said).toEqual([
      expect.stringMatching(/^deskwire: DESKWIRE_ENCRYPTION_KEY: nothing is set.*32 bytes in base64/),
    ])
  }
  const { code, said } = await serveInVain(where, { DESKWIRE_ENCRYPTION_KEY: 'c2hvcnQ=' })
  expect(code).toBe(2)
  expect(said).toEqual([expect.stringMatching(/^deskwire: DESKWIRE_ENCRYPTION_KEY: .*32 bytes in base64/)])
  expect(said[0]).not.toContain('c2hvcnQ=')
})

test('authorities that cannot be read', async () => {
  await using database = await testDatabase()
  await using hooks = await startHooks()
  const directory = join(hooks.settings.DESKWIRE_TARGET_CA!, '..')
  await writeFile(
    join(directory, 'broken.pem'),
    '-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n',
  )
  for (const name of ['missing.pem', 'broken.pem']) {
    const { code, said } = await serveInVain(['--database-url', socketUrl(database.connection)], {
      DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      DESKWIRE_TARGET_CA: join(directory, name),
    })
    expect(code).toBe(2)
    expect(said).toEqual([expect.stringMatching(/^deskwire: DESKWIRE_TARGET_CA: ".*" .*must be a PEM file/)])
  }
})

test('an endpoint for summaries without a model, and a key without an endpoint', async () => {
  for (const [settings, line] of [
    [{ DESKWIRE_SUMMARIZER: 'http://localhost:11434/v1' }, /DESKWIRE_SUMMARIZER: .*the name of a model and/],
    [{ DESKWIRE_SUMMARIZER_KEY: 'sk-secret' }, /^deskwire: DESKWIRE_SUMMARIZER_KEY: .*without an endpoint/],
  ] as const) {
    const { code, said } = await serveInVain([], settings)
    expect([code, said]).toEqual([2, [expect.stringMatching(line)]])
    expect(said.join()).not.toContain('sk-secret')
  }
})
