/** What the guide and the README show, run as they show it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createClient, createReceiver } from '@deskwire/sdk'
import { testDelivery } from '@deskwire/sdk/testing'
import { expect, test } from 'vitest'
import { testDatabase } from '../../service/test/harness/database.ts'
import { eventually } from '../../service/test/harness/locks.ts'
import { sharedService } from '../../service/test/harness/shared-service.ts'

const shared = sharedService()

function blocksOf(path: string, language: string): string[] {
  const text = readFileSync(new URL(path, import.meta.url), 'utf8')
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))
  return [...blocks].map(([, block = '']) => block)
}

const guide = (language: string) => blocksOf('../../../docs/guides/mirror.md', language)

/** Runs a program where the packages are found by their names; `output` grows as it writes. */
function run(program: string, environment: Record<string, string>) {
  const words = ['--disable-warning=ExperimentalWarning', '--input-type=module-typescript']
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const child = spawn(process.execPath, words, { env: { ...process.env, ...environment }, cwd })
  const said = { output: '' }
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said.output += text
    })
  }
  child.stdin.end(program)
  return { child, said, ended: once(child, 'close') }
}

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
  const following = run(keep, environment)
  await eventually('the copy is there', () => following.said.output.includes('The copy is exact.'))
  expect(following.said.output).toBe('1 of 3 rows\n2 of 3 rows\n3 of 3 rows\nThe copy is exact.\n')
  await client.tickets.create({ customerId, subject: 'And again' })
  const [open = '', plans = '', weeks = ''] = guide('sql')
  const query = async (sql: string) => (await database.pool.query(sql)).rows
  await eventually('the ticket is there', async () => (await query(open))[0]?.open_tickets === '2')
  expect(await query(open)).toEqual([{ name: 'Ada', open_tickets: '2', oldest: expect.any(Date) }])
  expect(await query(plans)).toEqual([{ name: 'Ada', plan: 'team' }])
  expect(await query(weeks)).toMatchObject([{ missed: '0', booked: '1' }])
  following.child.kill('SIGTERM')
  expect(await following.ended).toEqual([0, null])

  await query("update deskwire.customers set name = 'Mallory'")
  const once = keep.slice(0, keep.indexOf('await mirror.follow'))
  const verifying = run(`${once}${verify}await mirror.close()`, environment)
  await verifying.ended
  expect(verifying.said.output).toMatch(/kind: 'customer'[\s\S]*columns: \[ 'name' \][\s\S]*ticket: 2/)
  expect(await query('select name from deskwire.customers')).toEqual([{ name: 'Ada' }])

  const [readme = ''] = blocksOf('../README.md', 'ts')
  const shown = run(`${readme}console.log(exact, differences)`, environment)
  await shown.ended
  expect(shown.said.output).toBe('true []\n')
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
  const program = new AsyncFunction('createReceiver', 'secrets', 'mirror', `${block}; return receive`) as (
    ...values: unknown[]
  ) => Promise<ReturnType<typeof createReceiver>>
  const receive = await program(createReceiver, secrets, mirror)
  const { body, headers } = await testDelivery({ type: 'ticket.created' }, secrets)
  expect(await receive(body, headers['x-service-signature'])).toMatchObject({ status: 204 })
  expect(calls).toEqual([{ by: 'hints', everyMs: 60_000 }, 'hint'])
})
