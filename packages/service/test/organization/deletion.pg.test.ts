/** A deleted organization is in no table any more, wherever its deletion was broken off; its neighbour has all of its rows. */
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { makeWebhook } from '../../../testbed/hooks.ts'
import { lockRow, waitingBackends, waitingChanges } from '../../../testbed/locks.ts'
import { testService } from '../../../testbed/service.ts'
import { rowsWith } from '../../../testbed/stored.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { deleteOrganization } from '../../src/organization/deletion.ts'
import { listOrganizations } from '../../src/organization/organization.ts'
import { resumeOrganization, suspendOrganization } from '../../src/organization/suspension.ts'
import { fullDesk } from '../backup/full-desk.fixture.ts'

/** The pool of a process that is killed at its n-th statement; null when it has fewer. */
function killedAt(pool: Pool, n: number): { pool: Pool; wasKilled: () => boolean } {
  let left = n
  const dies = () => {
    if (left-- === 0) throw new Error('killed')
  }
  const query = (...call: unknown[]) => {
    dies()
    return Reflect.apply(pool.query, pool, call)
  }
  const connect = async () => {
    const client = await pool.connect()
    const own = {
      release: (error?: Error | boolean) => client.release(error),
      query(...call: unknown[]) {
        if (call[0] !== 'rollback') dies()
        return Reflect.apply(client.query, client, call)
      },
    }
    return own
  }
  return { pool: { query, connect } as unknown as Pool, wasKilled: () => left < 0 }
}

test('a whole desk, killed again and again, at one statement after another, ends with nothing of it and everything of its neighbour', async () => {
  await using desk = await fullDesk()
  const { service, clock } = desk
  const { pool } = service.database
  const [gone, stays] = desk.apis as [(typeof desk.apis)[0], (typeof desk.apis)[0]]
  const before = await rowsWith(pool, stays.organizationId)
  // The fixture has a row in every table that holds any of an organization.
  const held = await rowsWith(pool, gone.organizationId)
  expect(Object.keys(held).length).toBeGreaterThan(25)

  let killed = 0
  // The first commit statement by statement; what follows is alike.
  for (let n = 1; ; n += n < 12 ? 1 : 37) {
    const process = killedAt(pool, n)
    const ended = await deleteOrganization(process.pool, clock, gone.organizationId, {
      rowsAPiece: 100,
    }).catch((error: Error) => error.message)
    if (ended === 'killed') {
      killed++
      continue
    }
    expect(process.wasKilled()).toBe(false)
    break
  }
  expect(killed).toBeGreaterThan(14)
  expect(await rowsWith(pool, gone.organizationId)).toEqual({})
  expect(await rowsWith(pool, stays.organizationId)).toEqual(before)
  expect(await deleteOrganization(pool, clock, gone.organizationId)).toBeNull()
  expect((await gone.get('/v1/customers')).status).toBe(401)
  expect((await stays.get('/v1/customers')).status).toBe(200)
})

test('from its first commit on nobody comes in and nothing is sent; it can only be finished', async () => {
  await using service = await testService()
  const { api } = service
  const { pool } = service.database
  await makeWebhook(api)
  await makeCustomer(api)
  // The first statement after that commit.
  await expect(deleteOrganization(killedAt(pool, 10).pool, systemClock, api.organizationId)).rejects.toThrow()
  expect((await api.get('/v1/customers')).status).toBe(401)
  const { engine, sent } = testEngine(service, systemClock)
  await engine.runDue()
  expect(sent).toEqual([])
  expect(await listOrganizations(pool, api.organizationId)).toMatchObject([{ status: 'deleting', keys: 0 }])
  for (const ask of [suspendOrganization, resumeOrganization])
    expect(await ask(pool, systemClock, api.organizationId)).toBe('deleting')
  let last = 0
  const removed = await deleteOrganization(pool, systemClock, api.organizationId, {
    onPiece(rows) {
      expect(rows).toBeGreaterThanOrEqual(last)
      last = rows
    },
  })
  expect(removed).toBe(last)
  expect(await rowsWith(pool, api.organizationId)).toEqual({})
})

test('a change of the moment in which the organization goes is refused, or goes with it', async () => {
  await using service = await testService()
  const { api } = service
  const { pool } = service.database
  await makeCustomer(api)
  const lock = await lockRow(service.database, 'organization_clocks', api)
  const deleting = deleteOrganization(pool, systemClock, api.organizationId)
  await waitingBackends(service.database, 1)
  const late = api.post('/v1/customers', { name: 'Too late' }, { 'idempotency-key': 'late' })
  await waitingChanges(service, 1)
  await lock.release()
  await deleting
  await late
  expect(await rowsWith(pool, api.organizationId)).toEqual({})
})
