/** Settings that secrets and receivers depend on: what is wrong with them is said in one line, and loses nothing. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startHooks } from '../harness/arrivals.ts'
import { testDatabase } from '../harness/database.ts'
import { eventually } from '../harness/locks.ts'
import { install } from '../harness/process.ts'
import { testService } from '../harness/service.ts'
import { createServices, type Environment, type Services, socketUrl } from '../harness/services.ts'

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64')

/** Runs `serve` to its end. */
async function serveInVain(
  services: Pick<Services, 'spawn'>,
  args: readonly string[],
  environment?: Environment,
) {
  const child = services.spawn(['serve', '--port', '0', ...args], environment)
  let said = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  child.stdout!.resume()
  let code: number | null | undefined
  child.once('close', (ended) => {
    code = ended
  })
  await eventually('it has ended', () => code !== undefined)
  // The log is apart; what a person reads is all that is left.
  return { code, said: said.split('\n').filter((line) => line !== '' && !line.startsWith('{')) }
}

test('no key, or none that is one, beside a database of one’s own', async () => {
  await using services = createServices()
  const where = ['--database-url', 'postgres://nobody@127.0.0.1:1/nothing']
  for (const role of ['all', 'api', 'worker']) {
    const { code, said } = await serveInVain(services, ['--role', role, ...where])
    expect(code).toBe(1)
    expect(said).toEqual([
      expect.stringMatching(/^deskwire: DESKWIRE_ENCRYPTION_KEY: nothing is set.*32 bytes in base64/),
    ])
  }
  const { code, said } = await serveInVain(services, where, { DESKWIRE_ENCRYPTION_KEY: 'c2hvcnQ=' })
  expect(code).toBe(2)
  expect(said).toEqual([expect.stringMatching(/^deskwire: DESKWIRE_ENCRYPTION_KEY: .*32 bytes in base64/)])
  expect(said[0]).not.toContain('c2hvcnQ=')
})

test('authorities that cannot be read', async () => {
  await using database = await testDatabase()
  await using hooks = await startHooks()
  await using services = createServices()
  const directory = join(hooks.settings.DESKWIRE_TARGET_CA!, '..')
  await writeFile(join(directory, 'empty.pem'), '')
  await writeFile(
    join(directory, 'broken.pem'),
    '-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n',
  )
  for (const name of ['missing.pem', 'empty.pem', 'broken.pem', '.']) {
    const { code, said } = await serveInVain(services, ['--database-url', socketUrl(database.connection)], {
      DESKWIRE_ENCRYPTION_KEY: keyOf(7),
      DESKWIRE_TARGET_CA: join(directory, name),
    })
    expect(code).toBe(1)
    expect(said).toEqual([expect.stringMatching(/^deskwire: DESKWIRE_TARGET_CA: ".*" .*must be a PEM file/)])
  }
})

test('an encryption.key that holds no key is not replaced', async () => {
  await using installation = await install({ DESKWIRE_ENCRYPTION_KEY: '' })
  expect(await (await installation.start('holder')).end('SIGTERM')).toBe(0)
  await writeFile(join(installation.dataDir, 'encryption.key'), 'nonsense\n')
  const { code, said } = await serveInVain(installation, ['--data-dir', installation.dataDir])
  expect(code).toBe(1)
  expect(said).toEqual([
    expect.stringMatching(/^deskwire: .*encryption\.key does not hold 32 bytes in base64.*backup/),
  ])
})

test('with another key nothing is sent and nothing is lost; the log says what to do', async () => {
  await using hooks = await startHooks()
  await using service = await testService()
  await using services = createServices()
  const { pool, connection } = service.database
  const start = (byte: number) =>
    services.serve(['--role', 'worker', '--database-url', socketUrl(connection)], {
      ...hooks.settings,
      DESKWIRE_ENCRYPTION_KEY: keyOf(byte),
      DESKWIRE_ANSWER_TIMEOUT: '1s',
    })
  const hook = await hooks.register({ url: service.url, token: service.api.token }, 'steady', [
    'customer.created',
  ])
  for (let n = 0; n < 3; n++) await service.api.post('/v1/customers', { name: `c${n}` })

  const wrong = await start(8)
  await eventually('the log says it', () =>
    /Set the old key again, or rotate the secret/.test(wrong.output()),
  )
  expect(wrong.output()).toContain(hook.id)
  expect(wrong.output()).not.toContain(hook.secret)
  expect(await wrong.end('SIGTERM')).toBe(0)
  const { rows } = await pool.query('select d.status, d.attempt_count from deliveries d')
  expect(rows).toEqual(Array(3).fill({ status: 'pending', attempt_count: 0 }))
  expect(hooks.arrivals).toEqual([])
  expect((await service.api.get(`/v1/webhooks/${hook.id}`)).json).toMatchObject({
    status: 'active',
    failureCount: 0,
  })

  const right = await start(7)
  await eventually('they arrive', async () => {
    const left = await pool.query(`select 1 from deliveries d where d.status <> 'succeeded'`)
    return left.rows.length === 0
  })
  expect(hooks.arrivals).toHaveLength(3)
  expect(await right.end('SIGTERM')).toBe(0)
})
