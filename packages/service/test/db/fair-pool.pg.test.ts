/** The fair queue in front of the pool: what waits for too long, and what nobody waits for any more. */
import { expect, test } from 'vitest'
import { testDatabase } from '../../../testbed/database.ts'
import { LimitExceeded } from '../../src/admission/fair-queue.ts'
import { FairPool } from '../../src/db/fair-pool.ts'

/** Statements that hang until `release`. */
async function hanging(limits: {
  readonly capacity: number
  readonly long: number
  readonly waitAtMost: number
}) {
  const database = await testDatabase()
  const pool = new FairPool(database.pool, { waited: () => {} }, limits)
  const holder = await database.pool.connect()
  await holder.query('select pg_advisory_lock(1)')
  const text = 'select pg_advisory_xact_lock(1)'
  return {
    pool,
    hold: (organization: string, isLong = false) =>
      (isLong ? pool.ofLong(organization) : pool.of(organization)).query({ text }),
    release: () => holder.query('select pg_advisory_unlock(1)'),
    async [Symbol.asyncDispose]() {
      holder.release(true)
      await database[Symbol.asyncDispose]()
    },
  }
}

test('a statement that has waited for too long is refused for its organization’s share, or as nothing is left', async () => {
  await using it = await hanging({ capacity: 2, long: 1, waitAtMost: 100 })
  const { pool, hold } = it
  const held = [hold('a', true)]
  await expect(pool.ofLong('a').query('select 1')).rejects.toEqual(
    new LimitExceeded('own_share', 'statements'),
  )
  // Others' searches are in the way, and nothing of its own.
  await expect(pool.ofLong('b').query('select 1')).rejects.toEqual(
    new LimitExceeded('all_taken', 'statements'),
  )
  held.push(hold('b'))
  await expect(pool.of('c').query('select 1')).rejects.toEqual(new LimitExceeded('all_taken', 'statements'))
  await it.release()
  await Promise.all(held)
  await pool.of('c').query('select 1')
})

test('a statement whose client has disconnected is never sent', async () => {
  await using it = await hanging({ capacity: 1, long: 1, waitAtMost: 60_000 })
  const held = it.hold('a')
  const gone = new AbortController()
  const reason = new Error('disconnected')
  const waiting = expect(it.pool.of('b', gone.signal).query('select 1')).rejects.toBe(reason)
  expect(it.pool.usage).toEqual({ waiting: 1, underWay: 1 })
  gone.abort(reason)
  await waiting
  expect(it.pool.usage).toEqual({ waiting: 0, underWay: 1 })
  await it.release()
  await held
})
