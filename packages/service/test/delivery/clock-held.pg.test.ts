/**
 * A long commit holds an organization's clock row while the worker has to disable its endpoints, carry out the expiry of its keys and
 * bring back what they missed: other organizations go on over the two connections that there are, and afterwards all is done, once.
 */

import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { deliveryJobsOn } from '../../../testbed/delivery-jobs.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { answered, testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { deliveriesOf, makeWebhook, minute } from '../../../testbed/hooks.ts'
import { lockRow } from '../../../testbed/locks.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { unshared } from '../../src/db/fair-pool.ts'
import { createPool, endPool } from '../../src/db/pool.ts'
import { nobodyObserves } from '../../src/delivery/model.ts'
import type { Send } from '../../src/delivery/queue/attempt.ts'
import { createEndpointQueues } from '../../src/delivery/queue/endpoint-queues.ts'
import { createRegistrants } from '../../src/delivery/queue/registrants.ts'
import { kinds } from '../../src/desk/index.ts'

const many = 8

async function desk() {
  const clock = testClock()
  const service = await testService({ clock })
  const { database, api: held } = service
  const workerPool = createPool(database.connection, { max: 2, onIdleError: () => {} })
  const disabled: string[] = []
  return {
    clock,
    service,
    workerPool,
    /** The organization whose clock row is held, and another. */
    held,
    other: await service.newOrganization('Other'),
    endpointsOf: (api: Api, count: number) =>
      Promise.all(Array.from({ length: count }, async () => (await makeWebhook(api)).id as string)),
    hold: () => lockRow(database, 'organization_clocks', held),
    disabled,
    observer: { ...nobodyObserves, disabled: (reason: string) => void disabled.push(reason) },
    async [Symbol.asyncDispose]() {
      await endPool(workerPool)
      await service[Symbol.asyncDispose]()
    },
  }
}

/** How many connections wait for a lock at most, looked at again and again. */
async function maxWaiting(pool: Pool): Promise<number> {
  let most = 0
  for (let look = 0; look < 60; look++) {
    const { rows } = await pool.query<{ waiting: number }>(
      `select count(*)::int as waiting from pg_stat_activity a
         where a.datname = current_database() and a.wait_event_type = 'Lock'`,
    )
    most = Math.max(most, rows[0]!.waiting)
  }
  return most
}

test.each(['address_not_public', 'registrant_revoked'])(
  'endpoints that are to be disabled (%s): deliveries of others are sent and completed meanwhile',
  async (reason) => {
    await using it = await desk()
    const ids = await it.endpointsOf(it.held, many)
    const [own] = await it.endpointsOf(it.other, 1)
    await makeCustomer(it.held)
    if (reason === 'registrant_revoked')
      await it.service.database.pool.query(
        'update api_keys set expires_at = $2, expiry_settled_at = $2 where organization_id = $1',
        [it.held.organizationId, new Date(it.clock.now() - 1).toISOString()],
      )
    const send: Send = async ({ body }) =>
      body.includes(it.held.organizationId)
        ? { kind: 'failed', code: 'address_not_public', message: 'not public', durationMs: 1 }
        : answered(200)
    const tables = kinds.map(({ table }) => table)
    const { engine } = testEngine(it.service, it.clock, {
      send,
      observer: it.observer,
      through: () => createEndpointQueues(unshared(it.workerPool), tables),
    })
    const lock = await it.hold()
    engine.start()
    try {
      for (let n = 0; n < 5; n++) {
        await makeCustomer(it.other, { name: `number ${n}` })
        await eventually('it is sent and completed', async () => {
          const log = await deliveriesOf(it.other, own!)
          return log.length === n + 1 && log.every(({ status }) => status === 'succeeded')
        })
      }
      expect(await maxWaiting(it.service.database.pool)).toBeLessThanOrEqual(1)
      expect(it.disabled).toEqual([])
      await lock.release()
      await eventually('all are disabled', () => it.disabled.length >= many)
    } finally {
      await lock.release()
      await engine.stop()
    }
    expect(it.disabled).toEqual(Array(many).fill(reason))
    const { rows } = await it.service.database.pool.query(
      'select w.disabled_reason as reason from webhooks w where w.organization_id = $1',
      [it.held.organizationId],
    )
    expect(rows).toEqual(ids.map(() => ({ reason })))
  },
)

test('keys that have expired: those of others are carried out meanwhile', async () => {
  await using it = await desk()
  const { pool } = it.service.database
  const ids = await it.endpointsOf(it.held, 1)
  const own = await it.endpointsOf(it.other, 1)
  // More than are looked for at once, and all before the other's.
  await pool.query(
    `insert into api_keys (organization_id, id, name, scopes, expires_at, created_at, updated_at)
       select $1, gen_random_uuid(), 'old', '{}', $2, $2, $2 from generate_series(1, 250)`,
    [it.held.organizationId, new Date(it.clock.now() - 2 * minute).toISOString()],
  )
  await pool.query('update api_keys set expires_at = $1 where expires_at is null', [
    new Date(it.clock.now() - minute).toISOString(),
  ])
  const registrants = createRegistrants({
    pool: it.workerPool,
    clock: it.clock,
    log: it.service.app.server.log,
    observer: it.observer,
    onDeliveries: () => {},
  })
  const ofOther = async () => {
    const { rows } = await pool.query('select w.status from webhooks w where w.id = $1', own)
    return rows[0].status as string
  }
  const lock = await it.hold()
  registrants.start()
  try {
    await eventually('the other is disabled', async () => (await ofOther()) === 'disabled')
    expect(await maxWaiting(pool)).toBeLessThanOrEqual(1)
    expect(it.disabled).toEqual(['registrant_revoked'])
    await lock.release()
    await eventually('all are carried out', () => it.disabled.length >= 2)
  } finally {
    await lock.release()
    await registrants.stop()
  }
  expect(it.disabled).toEqual(['registrant_revoked', 'registrant_revoked'])
  const { rows } = await pool.query('select w.status from webhooks w where w.id = any($1)', [ids])
  expect(rows).toEqual([{ status: 'disabled' }])
})

test('recoveries: those of others are done meanwhile', async () => {
  await using it = await desk()
  const { pool } = it.service.database
  const since = new Date(it.clock.now() - minute).toISOString()
  async function missed(api: Api, count: number): Promise<readonly { path: string; id: string }[]> {
    const ids = await it.endpointsOf(api, count)
    const paths = ids.map((id) => `/v1/webhooks/${id}`)
    for (const path of paths) await api.patch(path, { status: 'disabled' })
    await makeCustomer(api, { name: 'missed' })
    for (const path of paths) await api.patch(path, { status: 'active' })
    return Promise.all(
      paths.map(async (path) => ({
        path,
        id: (await api.post(`${path}/recover`, { since })).json.id as string,
      })),
    )
  }
  const read = async (api: Api, { path, id }: { path: string; id: string }) =>
    (await api.get(`${path}/recoveries/${id}`)).json
  const recoveries = await missed(it.held, many)
  const [own] = await missed(it.other, 1)
  const deliveryJobs = deliveryJobsOn(it.service, it.clock, it.workerPool)
  const lock = await it.hold()
  deliveryJobs.start()
  try {
    await eventually("the other's is done", async () => (await read(it.other, own!)).status === 'done')
    expect(await maxWaiting(pool)).toBeLessThanOrEqual(1)
    for (const one of recoveries) expect(await read(it.held, one)).toMatchObject({ status: 'running' })
    await lock.release()
    await eventually('all are done', async () => {
      const all = await Promise.all(recoveries.map((one) => read(it.held, one)))
      return all.every(({ status }) => status === 'done')
    })
  } finally {
    await lock.release()
    await deliveryJobs.stop()
  }
  for (const one of recoveries) expect(await read(it.held, one)).toMatchObject({ created: 1 })
})
