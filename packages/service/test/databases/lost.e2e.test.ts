/** A service over three databases, of which one is killed, one vanishes without a word, and the directory's does, and one that is away at a start: each costs its own organizations alone. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { processesOf, signal } from '../../../embedded-postgres/src/processes.ts'
import { startHooks } from '../../../testbed/arrivals.ts'
import { testDatabase } from '../../../testbed/database.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { temporaryDataDir } from '../../../testbed/installation.ts'
import { type Api, createApi } from '../../../testbed/service.ts'
import { createServices, socketUrl } from '../../../testbed/services.ts'
import { vanishingDatabase } from '../../../testbed/vanishing-database.ts'
import { hashToken } from '../../src/auth/token.ts'
import { createDirectory } from '../../src/databases/directory.ts'
import { embedded } from '../../src/db/embedded.ts'
import { createPool, endPool } from '../../src/db/pool.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { createOrganization, type NewKey } from '../../src/organization/create.ts'

test('a database that is lost costs its own organizations 503, and nobody else anything', async () => {
  await using hooks = await startHooks()
  await using one = await testDatabase()
  await using three = await testDatabase()
  await using wayToOne = await vanishingDatabase(one.connection)
  await using wayToThree = await vanishingDatabase(three.connection)
  const scratch = await mkdtemp(join(tmpdir(), 'deskwire-databases-'))
  await using directory = await temporaryDataDir({ installed: true })
  const dataDir = directory.path
  const two = await embedded.start({ dataDir })
  await using services = createServices()
  try {
    const directory = createDirectory(one.pool, 'one')
    const pool = createPool(two.connection, { max: 2, onIdleError: () => {} })
    const made: NewKey[] = []
    for (const [name, at] of [
      ['one', one.pool],
      ['two', pool],
      ['three', three.pool],
    ] as const) {
      made.push(
        await createOrganization(at, systemClock, name, async ({ organizationId, token }) => {
          if (name === 'one') return
          await directory.place(organizationId, name)
          await directory.note(organizationId, [Buffer.from(hashToken(token), 'hex')])
        }),
      )
    }
    await endPool(pool)
    const file = join(scratch, 'databases')
    const within = { statement_timeout: '3000' }
    const lines = [
      '# The first has the directory.',
      `one ${wayToOne.url(within)}`,
      `two ${socketUrl(two.connection)}`,
      `three ${wayToThree.url(within)}`,
    ]
    await writeFile(file, lines.join('\n'))
    const environment = {
      ...hooks.settings,
      DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    }
    const service = await services.serve([], { ...environment, DESKWIRE_DATABASES: file })
    const apis = made.map(({ organizationId, token }) => createApi(service.url, organizationId, token))
    const [first, second, third] = apis as [Api, Api, Api]
    const readyz = async () => (await (await fetch(`${service.url}/readyz`)).json()) as object
    expect(await readyz()).toEqual({ status: 'ready' })
    for (const [n, { token }] of apis.entries())
      await hooks.register({ url: service.url, token }, `hook-${n}`, ['customer.created'])
    const delivers = async (api: Api, n: number) => {
      const before = hooks.of(`hook-${n}`).length
      expect((await api.post('/v1/customers', { name: 'Ada' })).status).toBe(201)
      await eventually(`what is made in ${n} is delivered`, () => hooks.of(`hook-${n}`).length > before)
    }
    await Promise.all(apis.map(delivers))

    // Killed: refused at once, by whoever is asked for it.
    for (const pid of await processesOf(join(dataDir, 'postgres'))) signal(pid, 'SIGKILL')
    const refused = await eventually('the killed one is missed', async () => {
      const answer = await second.get('/v1/customers')
      return answer.status === 503 && answer
    })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.json.code).toBe('unavailable')
    await Promise.all([delivers(first, 0), delivers(third, 2)])
    await eventually('/readyz says which', async () =>
      JSON.stringify(await readyz()).includes('The database two does not answer'),
    )

    // Vanished: its first calls wait until that is clear, and no other's do.
    wayToThree.vanish()
    const [gone, others] = await Promise.all([
      third.get('/v1/customers'),
      Promise.all(Array.from({ length: 20 }, () => first.get('/v1/customers'))),
    ])
    expect(gone.status).toBe(503)
    expect(new Set(others.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await third.post('/v1/customers', { name: 'lost' })).status).toBe(503)
    await delivers(first, 0)
    wayToThree.comeBack()
    await eventually('it is served again', async () => (await third.get('/v1/customers')).status === 200)
    await delivers(third, 2)

    // The directory's: who is known goes on; whoever is not has to wait.
    wayToOne.vanish()
    expect((await third.post('/v1/customers', { name: 'goes on' })).status).toBe(201)
    expect((await first.get('/v1/customers')).status).toBe(503)
    wayToOne.comeBack()
    await eventually(
      'the first is served again',
      async () => (await first.get('/v1/customers')).status === 200,
    )
    await delivers(third, 2)
    expect((await service.end('SIGTERM')).code).toBe(0)

    // Away as a process starts: it says so once, however often it tries, and serves it when it is there.
    wayToThree.turnAway()
    const late = await services.serve([], { ...environment, DESKWIRE_DATABASES: `${lines[1]};${lines[3]}` })
    const [firstLate, thirdLate] = [first, third].map(({ organizationId, token }) =>
      createApi(late.url, organizationId, token),
    ) as [Api, Api]
    const answer = await thirdLate.get('/v1/customers')
    expect([answer.status, answer.json.code, answer.headers.get('retry-after')]).toEqual([
      503,
      'unavailable',
      '1',
    ])
    await delivers(firstLate, 0)
    const said = () =>
      late.output.all.split('\n').filter((line) => line.includes('a database cannot be used'))
    expect(said().map((line) => (JSON.parse(line) as { database: string }).database)).toEqual(['three'])
    wayToThree.comeBack()
    await eventually(
      'it is served when it is there',
      async () => (await thirdLate.get('/v1/customers')).status === 200,
    )
    await delivers(thirdLate, 2)
    expect(said()).toHaveLength(1)
    expect(late.output.all.split('the database can be used now')).toHaveLength(2)
    expect((await late.end('SIGTERM')).code).toBe(0)
  } finally {
    await two.stop().catch(() => {})
    await rm(scratch, { recursive: true, force: true })
  }
})
