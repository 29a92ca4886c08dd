/** The encryption key is replaced as the guide has it, step by step, while events are delivered; the rotation is killed once. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { runHere } from '../../../cli/test/run-here.ts'
import { faultOf, startHooks } from '../../../testbed/arrivals.ts'
import { testDatabase } from '../../../testbed/database.ts'
import { standing } from '../../../testbed/delivery-audit.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { plant } from '../../../testbed/planted.ts'
import { createServices, type ServiceProcess, socketUrl } from '../../../testbed/services.ts'
import { newToken } from '../../src/auth/token.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { createOrganization } from '../../src/organization/create.ts'

const keyOf = (byte: number) => Buffer.alloc(32, byte)
const old = { DESKWIRE_ENCRYPTION_KEY: keyOf(7).toString('base64') }
const next = { DESKWIRE_ENCRYPTION_KEY: keyOf(8).toString('base64') }
const both = { ...next, DESKWIRE_ENCRYPTION_KEY_PREVIOUS: keyOf(7).toString('base64') }

test('both keys everywhere, rotate, the new key alone: every event arrives, signed with the secret of its endpoint', async () => {
  await using database = await testDatabase()
  await using hooks = await startHooks()
  await using services = createServices()
  const { pool } = database
  const token = newToken()
  const where = ['--database-url', socketUrl(database.connection)]
  const serve = (keys: Record<string, string>) =>
    services.serve(where, {
      ...hooks.settings,
      ...keys,
      DESKWIRE_BOOTSTRAP_KEY: token,
      DESKWIRE_SUMMARIZER: 'off',
    })
  const rotate = () => services.start(['encryption-key', 'rotate', ...where], both)

  let service: ServiceProcess = await serve(old)
  const register = (name: string) => hooks.register({ url: service.url, token }, name, ['customer.created'])
  const registered = [await register('before')]
  // So many that it is killed in the middle of them.
  const { organizationId } = await createOrganization(pool, systemClock, 'Another')
  const urls = Array.from({ length: 5_000 }, (_, n) => `https://127.0.0.1:1/${n}`)
  await plant(pool, { organizationId, encryptionKey: keyOf(7), urls, backlog: 0, now: systemClock.now() })

  let changing = true
  let made = 0
  /** Sent again to whoever serves now, as a client does whose connection ends: it is made once. */
  const make = async (idempotencyKey = randomUUID()): Promise<number> => {
    try {
      const answer = await fetch(`${service.url}/v1/customers`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': idempotencyKey,
        },
        body: JSON.stringify({ name: `c${made}` }),
      })
      return answer.status
    } catch {
      return make(idempotencyKey)
    }
  }
  const changes = (async () => {
    while (changing) {
      expect(await make()).toBe(201)
      made++
      await eventually('it arrives', () => hooks.of('before').length >= made)
    }
  })()
  const replace = async (keys: Record<string, string>) => {
    const leaving = service
    service = await serve(keys)
    const sent = made
    await eventually('changes go to the new one', () => made > sent + 1)
    expect((await leaving.end('SIGTERM')).code).toBe(0)
  }

  await replace(both)
  registered.push(await register('between'))
  const killed = rotate()
  await eventually('it is at work', async () => {
    const { rows } = await pool.query('select 1 from installation where previous_key_check is not null')
    return rows.length === 1
  })
  await killed.end('SIGKILL')
  registered.push(await register('meanwhile'))
  const again = await runHere(['encryption-key', 'rotate', ...where], { settings: both })
  expect(again.code).toBe(0)
  expect(again.stdout).toMatch(
    /^\d+ signing secrets and \d+ stored responses were encrypted anew\. Nothing is left under/,
  )
  await replace(next)
  registered.push(await register('after'))
  changing = false
  await changes

  await eventually('nothing is pending', async () => (await standing(pool)).pending === 0)
  const faults = await Promise.all(
    hooks.arrivals.map((arrival) =>
      faultOf(arrival, registered.find(({ name }) => name === arrival.endpoint)!),
    ),
  )
  expect(faults.filter((fault) => fault !== null)).toEqual([])
  expect(new Set(hooks.of('before').map(({ eventId }) => eventId)).size).toBe(made)
  const refused = await runHere(['serve', '--port', '0', ...where], {
    settings: { ...old, DESKWIRE_LOG_LEVEL: 'error' },
  })
  expect(refused.code).toBe(2)
  expect(refused.stderr).toMatch(/^deskwire: DESKWIRE_ENCRYPTION_KEY: what is set is not the key [^\n]+\n$/)
})
