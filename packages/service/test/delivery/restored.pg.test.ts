/** What a restore means for the deliveries that the backup held. */
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { day, hour } from '../../../testbed/hooks.ts'
import { testService } from '../../../testbed/service.ts'
import { markRestored } from '../../src/backup/restore.ts'
import { scriptedEndpoint } from './endpoint.fixture.ts'

test('what a worker of the lost life had leased goes out at once, under the id that the event had', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api, engine, mine, log } = await scriptedEndpoint(service, clock)
  await makeCustomer(api)
  const { rows } = await service.database.pool.query(
    `update endpoint_queues set lease_id = gen_random_uuid(), lease_until = $1, worker_id = gen_random_uuid()
       where organization_id = $2 returning 1`,
    [new Date(clock.now() + hour).toISOString(), api.organizationId],
  )
  expect(rows).toHaveLength(1)
  await engine.runDue()
  expect(mine()).toEqual([])

  await markRestored(service.database.pool, clock)
  await engine.runDue()
  const [row] = await log()
  expect(row).toMatchObject({ status: 'succeeded', attemptCount: 1 })
  expect(mine().map(({ body }) => JSON.parse(body).id)).toEqual([row.eventId])
})

test('an endpoint that was failing in the backup is not disabled for the time that nobody tried it', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api, engine, answer, read } = await scriptedEndpoint(service, clock)
  answer(500)
  await makeCustomer(api)
  await engine.runDue()
  expect(await read()).toMatchObject({ status: 'active', failureCount: 1 })

  clock.advance(30 * day)
  await markRestored(service.database.pool, clock)
  const failingSince = new Date(clock.now()).toISOString()
  await engine.runDue()
  expect(await read()).toMatchObject({ status: 'active', failureCount: 2, failingSince })
})
