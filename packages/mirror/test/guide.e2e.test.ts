/** What the guide and the README show, run as they show it. */
import { existsSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createClient, createReceiver } from '@deskwire/sdk'
import { testDelivery } from '@deskwire/sdk/testing'
import { expect, test } from 'vitest'
import { testDatabase } from '../../testbed/database.ts'
import { blocksOf, run, startSource } from '../../testbed/document-programs.ts'
import { eventually } from '../../testbed/eventually.ts'
import { freePort } from '../../testbed/loopback.ts'
import { sharedService } from '../../testbed/shared-service.ts'

const shared = sharedService()

const guide = (language: string) => blocksOf('docs/guides/mirror.md', language)

test('the guide keeps a copy that can be queried and verified, and the README does', async () => {
  await using database = await testDatabase({ template: null })
  const api = await shared().newOrganization()
  const client = createClient({ baseUrl: `${shared().url}/v1`, apiKey: api.token })
  const customAttributes = { plan: 'team' }
  const { id: customerId } = await client.customers.create({ name: 'Ada', tags: ['vip'], customAttributes })
  await client.tickets.create({ customerId, subject: 'The engine halts' })
  const [startAt, endAt] = ['2026-03-02T10:00:00Z', '2026-03-02T10:30:00Z']
  await client.bookings.create({ customerId, title: 'A visit', startAt, endAt, timezone: 'Europe/Zurich' })
  const { host, port, user, database: name } = database.connection
  const environment = {
    DESKWIRE_URL: `${shared().url}/v1`,
    DESKWIRE_API_KEY: api.token,
    DATABASE_URL: `postgres://${user}@/${name}?host=${encodeURIComponent(host)}&port=${port}`,
  }

  const [keep = '', verify = ''] = guide('ts')
  await using following = startSource(keep, environment, 'module-typescript')
  await eventually('the copy is there', () => following.output.all.includes('The copy is up to date.'))
  expect(following.output.all).toBe('1 of 3 rows\n2 of 3 rows\n3 of 3 rows\nThe copy is up to date.\n')
  await client.tickets.create({ customerId, subject: 'And again' })
  const [open = '', plans = '', weeks = ''] = guide('sql')
  const query = async (sql: string) => (await database.pool.query(sql)).rows
  await eventually('the ticket is there', async () => (await query(open))[0]?.open_tickets === '2')
  expect(await query(open)).toEqual([{ name: 'Ada', open_tickets: '2', oldest: expect.any(Date) }])
  expect(await query(plans)).toEqual([{ name: 'Ada', plan: 'team' }])
  expect(await query(weeks)).toMatchObject([{ missed: '0', booked: '1' }])
  expect(await following.end('SIGTERM')).toMatchObject({ code: 0 })

  await query("update deskwire.customers set name = 'Mallory'")
  const once = keep.slice(0, keep.indexOf('await mirror.follow'))
  const verified = await run(`${once}${verify}await mirror.close()`, environment, 'module-typescript')
  expect(verified).toMatch(/kind: 'customer'[\s\S]*columns: \[ 'name' \][\s\S]*ticket: 2/)
  expect(await query('select name from deskwire.customers')).toEqual([{ name: 'Ada' }])

  const [readme = ''] = blocksOf('packages/mirror/README.md', 'ts')
  expect(await run(readme, environment, 'module-typescript')).toBe('The copy is exact.\n')
})

test('the program of the first page keeps a copy, and looks when a delivery comes', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'deskwire-first-page-'))
  const file = join(directory.path, 'desk.db')
  const api = await shared().newOrganization()
  const client = createClient({ baseUrl: `${shared().url}/v1`, apiKey: api.token })
  const port = await freePort()
  const [block = ''] = blocksOf('README.md', 'ts')
  const program = block.replace("'desk.db'", `'${file}'`).replace('8081', String(port))
  const secret = 'whsec_of_the_test'
  await using running = startSource(
    program,
    { DESKWIRE_URL: `${shared().url}/v1`, DESKWIRE_API_KEY: api.token, DESKWIRE_WEBHOOK_SECRET: secret },
    'module-typescript',
  )
  const names = () => {
    if (!existsSync(file)) return []
    const copy = new DatabaseSync(file, { readOnly: true })
    try {
      const rows = copy.prepare('select name from customers order by name').all()
      return rows.map(({ name }) => name)
    } catch {
      return [] // The tables are not there yet.
    } finally {
      copy.close()
    }
  }
  await client.customers.create({ name: 'Ada' })
  await eventually('the first copy', () => names().length === 1)
  await client.customers.create({ name: 'Grace' })
  const delivery = await testDelivery({ type: 'customer.created' }, secret)
  const { status } = await fetch(`http://127.0.0.1:${port}/`, delivery)
  expect(status, running.output.all).toBe(204)
  await eventually('the second customer', () => names().join() === 'Ada,Grace')
})

test('the receiver of the guide hints', async () => {
  const [block = ''] = guide('js')
  const secrets = ['whsec_a secret']
  const calls: unknown[] = []
  const mirror = {
    hint: () => calls.push('hint'),
    follow: async (options: object) => calls.push(options),
  }
  const AsyncFunction = (async () => {}).constructor as new (...code: string[]) => typeof program
  const program = new AsyncFunction('createReceiver', 'secrets', 'mirror', `${block}; return receiver`) as (
    ...values: unknown[]
  ) => Promise<ReturnType<typeof createReceiver>>
  const receiver = await program(createReceiver, secrets, mirror)
  const { body, headers } = await testDelivery({ type: 'ticket.created' }, secrets)
  expect(await receiver.receive(body, headers)).toMatchObject({ status: 204 })
  expect(calls).toEqual([{ by: 'hints', everyMs: 60_000 }, 'hint'])
})
