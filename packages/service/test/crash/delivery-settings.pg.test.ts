/** What is wrong with the settings of deliveries is said in one line, and ends the start. */
import { expect, test } from 'vitest'
import { runHere } from '../../../cli/test/run-here.ts'

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
