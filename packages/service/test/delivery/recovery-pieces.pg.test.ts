/** Recovery of many events: piece by piece, whatever becomes of its worker and its endpoint meanwhile. */

import { describe, expect, test } from 'vitest'
import { at } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { day, hour, minute } from '../../../testbed/hooks.ts'
import { tables } from '../../../testbed/journal.ts'
import { lockRow, waitingBackends, waitingChanges } from '../../../testbed/locks.ts'
import type { Api } from '../../../testbed/service.ts'
import { deliveryJobPieceFunction } from '../../src/delivery/queue/delivery-jobs.ts'
import { type Desk, desk, namesFrom, recovered } from './recovery.fixture.ts'

describe('many events', () => {
  /** So many customers that were created while the endpoint was disabled, a millisecond apart. */
  async function missed(it: Desk, api: Api, count: number) {
    await it.service.database.pool.query(
      `with made as (select new_uuid_v7($2::timestamptz + n * interval '1 millisecond') as id,
          $2::timestamptz + n * interval '1 millisecond' as at from generate_series(1, $3) as n)
       insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
        select $1, m.id, 'customer.created', m.at, 'customer', m.id, '{}' from made m`,
      [api.organizationId, at(it.clock.now() - hour), count],
    )
  }

  /** A piece of the organization's jobs, in a transaction that is still open. */
  async function piece(it: Desk, events: number) {
    const client = await it.service.database.pool.connect()
    await client.query('begin')
    const { rows } = await client.query<{ outcome: string }>(
      `select ${deliveryJobPieceFunction(tables).name}($1, $2, $3, 500, 1000, 6) as outcome`,
      [it.api.organizationId, at(it.clock.now()), events],
    )
    const end = async (how: 'commit' | 'rollback') => void (await client.query(how))
    return {
      outcome: rows[0]?.outcome,
      commit: () => end('commit'),
      rollback: () => end('rollback'),
      async [Symbol.asyncDispose]() {
        await end('rollback')
        client.release()
      },
    }
  }

  test('come back in pieces, and no more at a time than the endpoint takes', async () => {
    await using it = await desk()
    await missed(it, it.api, 3_500)
    const { id } = (await it.recover({ since: at(it.clock.now() - day), includeBeforeCreation: true })).json
    const pending = async () => (await it.log('&status=pending')).length
    const created: number[] = []
    for (let rounds = 0; (await it.recovery(id)).status === 'running' && rounds < 20; rounds++) {
      await it.deliveryJobs.runDue()
      created.push((await it.recovery(id)).created)
      await it.engine.runDue()
      expect(await pending()).toBe(0)
      it.clock.advance(250)
    }
    expect(created).toEqual([1_000, 2_000, 3_000, 3_500])
    const { rows } = await it.service.database.pool.query(
      'select count(distinct d.event_id)::int as events, count(*)::int as deliveries from deliveries d',
    )
    expect(rows).toEqual([{ events: 3_500, deliveries: 3_500 }])
  })

  test('one whose worker dies in the middle goes on where it was, by another worker', async () => {
    await using it = await desk()
    await missed(it, it.api, 450)
    const { id } = (await it.recover({ since: at(it.clock.now() - day), includeBeforeCreation: true })).json
    await using held = await piece(it, 1_000)
    expect(held.outcome).toBe('more')
    // Another worker leaves the organization to this one, and what this one does is undone when it dies.
    expect(await it.deliveryJobs.runDue()).toBe(0)
    await held.rollback()
    expect(await it.recovery(id)).toMatchObject({ status: 'running', created: 0 })
    await using first = await piece(it, 1_000)
    await first.commit()
    expect(await it.recovery(id)).toMatchObject({ status: 'running', created: 200 })
    await it.deliveryJobs.runDue()
    expect(await it.recovery(id)).toMatchObject({ status: 'done', created: 450 })
  })

  test('wait while the endpoint is disabled, and go on when it is active again', async () => {
    await using it = await desk()
    await missed(it, it.api, 300)
    const { id } = (await it.recover({ since: at(it.clock.now() - day), includeBeforeCreation: true })).json
    await it.disable()
    await it.work()
    expect(await it.recovery(id)).toMatchObject({ status: 'running', created: 0 })
    await it.enable()
    it.clock.advance(minute)
    await it.work()
    expect(await it.recovery(id)).toMatchObject({ status: 'done', created: 300 })
  })

  test('are forgotten with their endpoint', async () => {
    await using it = await desk()
    await missed(it, it.api, 300)
    await it.recover({ since: at(it.clock.now() - day), includeBeforeCreation: true })
    await using first = await piece(it, 1_000)
    await first.commit()
    expect((await it.api.delete(it.path)).status).toBe(204)
    expect(await it.deliveryJobs.runDue()).toBe(0)
    await it.service.app.maintenance.run()
    const { pool } = it.service.database
    const { rows } = await pool.query('select 1 from delivery_jobs union all select 1 from deliveries')
    expect(rows).toEqual([])
  })

  test('a commit, a disabling and a piece wait for each other, and nothing comes twice or is lost', async () => {
    await using it = await desk(['customer.created'])
    await it.disable()
    await makeCustomer(it.api, { name: 'missed' })
    await it.enable()
    await it.recover({ since: at(it.clock.now() - minute) })
    const lock = await lockRow(it.service.database, 'organization_clocks', it.api)
    const piece = it.deliveryJobs.runDue()
    await waitingBackends(it.service.database, 1)
    const commit = makeCustomer(it.api, { name: 'meanwhile' })
    await waitingChanges(it.service, 1)
    const disabling = it.disable()
    await waitingChanges(it.service, 2)
    await lock.release()
    await Promise.all([piece, commit, disabling])
    await it.enable()
    await it.engine.runDue()
    const window = { since: at(it.clock.now() - minute) }
    await recovered(it, window)
    await recovered(it, window)
    expect(namesFrom(it, 0)).toEqual(['missed', 'meanwhile'])
    expect((await it.log()).map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
  })
})
