/** A machine whose clock is weeks behind: what a process does at its start, and what it says of itself, goes by the database's. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startHooks } from '../../../testbed/arrivals.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { testService } from '../../../testbed/service.ts'
import { createServices, socketUrl } from '../../../testbed/services.ts'
import { weekOf } from '../../src/db/weeks.ts'
import { logWeeks } from '../../src/retention/log-weeks.ts'

test('the weeks of the log stand that the database is about to need, and metrics tell of what is due by its time', async () => {
  await using hooks = await startHooks()
  await using service = await testService()
  await using services = createServices()
  const { api, url, database } = service
  const worker = await services.serve(
    ['--role', 'worker', '--database-url', socketUrl(database.connection)],
    {
      ...hooks.settings,
      NODE_OPTIONS: `--import ${join(import.meta.dirname, 'wrong-clock.fixture.ts')}`,
      DESKWIRE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    },
  )
  const { rows } = await database.pool.query<{ now: Date }>('select now() as now')
  const week = weekOf(rows[0]!.now.getTime())
  const standing = (await logWeeks(database.pool)).filter(({ begins }) => begins === week)
  expect(standing.map(({ table }) => table).toSorted()).toEqual([
    'attempts',
    'deliveries',
    'delivery_stats',
    'events',
  ])

  // It is due for as long as nobody has answered.
  hooks.script('silent', async () => null)
  await hooks.register({ url, token: api.token }, 'silent', ['customer.created'])
  await api.post('/v1/customers', { name: 'Ada' })
  await eventually('it has arrived', () => hooks.arrivals.length === 1)
  const [, address] = /^worker listening on (\S+)$/m.exec(worker.output.all) ?? []
  const metrics = await (await fetch(`${address}/metrics`)).text()
  expect(metrics).toMatch(/^deskwire_deliveries_due\S* 1$/m)
})
