/** What a backup holds is what comes back: every row of every table, in a database that goes on from there. */
import { mkdtempDisposable } from 'node:fs/promises'
import { createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { audit } from '../../../testbed/audit.ts'
import { type TestDatabase, testDatabase } from '../../../testbed/database.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { beginning, drain } from '../../../testbed/drain.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { minute } from '../../../testbed/hooks.ts'
import { listening } from '../../../testbed/loopback.ts'
import { testService } from '../../../testbed/service.ts'
import { backUp } from '../../src/backup/backup.ts'
import { examineBackup, type RestoreOptions, restore, restoreRows } from '../../src/backup/restore.ts'
import { tablesOf } from '../../src/backup/tables.ts'
import { createPool, transaction } from '../../src/db/pool.ts'
import { kinds } from '../../src/desk/index.ts'
import { logWeeks } from '../../src/retention/log-weeks.ts'
import { fullDesk } from './full-desk.fixture.ts'

const { encryptionKey } = deliverySettings

/** All rows of all tables, as text. */
async function contents(pool: Pool): Promise<Record<string, readonly string[]>> {
  const tables: Record<string, readonly string[]> = {}
  for (const { name } of await tablesOf(pool)) {
    const { rows } = await pool.query<{ row: string }>(`select t::text as row from ${name} t order by 1`)
    tables[name] = rows.map(({ row }) => row)
  }
  return tables
}

/** Rows, events, counters and numbers tell one story. All of it came in one commit, and the clock has moved past it. */
async function problemsOf(pool: Pool, organizationId: string): Promise<string[]> {
  const problems = await audit(pool, organizationId)
  return problems.filter((one) => !/^the clock is not|^commit \d+ with several stamps/.test(one))
}

const directory = () => mkdtempDisposable(join(tmpdir(), 'deskwire-backup-'))
const emptyDatabase = () => testDatabase({ template: null })

/** A way to the database on which what follows the last row of a COPY comes in a packet of its own; `late` counts them. */
async function lateCounts(to: TestDatabase['connection']) {
  const copyDone = Buffer.from([0x63, 0, 0, 0, 4])
  const counts = { late: 0 }
  const server = createServer((near) => {
    const far = createConnection({ path: `${to.host}/.s.PGSQL.${to.port}` })
    const apart = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        const at = chunk.indexOf(copyDone)
        if (at === -1 || at + copyDone.length === chunk.length) return done(null, chunk)
        counts.late++
        // As a network may: there is nothing to wait for, as the other side says nothing meanwhile.
        this.push(chunk.subarray(0, at + copyDone.length))
        setTimeout(() => done(null, chunk.subarray(at + copyDone.length)), 10)
      },
    })
    near.setNoDelay(true)
    near.pipe(far)
    far.pipe(apart).pipe(near)
    near.on('error', () => far.destroy())
    near.on('close', () => far.destroy())
  })
  const way = await listening(server)
  const pool = createPool({ ...to, host: '127.0.0.1', port: way.port }, { max: 1, onIdleError: () => {} })
  return {
    pool,
    get late() {
      return counts.late
    },
    async [Symbol.asyncDispose]() {
      await pool.end()
      await way[Symbol.asyncDispose]()
    },
  }
}

test('every row of every table comes back, in the partitions that it was in, however late the database says how many there were', async () => {
  await using desk = await fullDesk()
  await using files = await directory()
  await using empty = await emptyDatabase()
  const { pool, connection } = desk.service.database
  await using way = await lateCounts(connection)
  const file = join(files.path, 'one.backup')
  await desk.service.app.server.close()
  const before = await contents(pool)
  const summary = await backUp(way.pool, desk.clock, file)
  // The end of a packet may fall into what ends a table's rows.
  expect(way.late).toBeGreaterThan((await tablesOf(pool)).length / 2)
  expect(summary).toMatchObject({ organizations: 2, unproved: [] })

  // A table that the desk leaves empty would prove nothing: give it a row in full-desk.fixture.ts.
  expect(Object.keys(before).filter((name) => before[name]?.length === 0)).toEqual([])
  const backup = await examineBackup(file)
  const restored = await transaction(empty.pool, (tx) => restoreRows(tx, backup))
  expect(restored).toEqual({ rows: summary.rows, migrated: [] })
  expect(await contents(empty.pool)).toEqual(before)
  const weeks = await logWeeks(empty.pool)
  expect(weeks.length).toBeGreaterThan(9)
  expect(weeks).toEqual(await logWeeks(pool))
  for (const parent of ['events', 'deliveries', 'attempts', 'delivery_stats']) {
    const perPartition = `select t.tableoid::regclass::text as partition, count(*) from ${parent} t group by 1 order by 1`
    const { rows } = await pool.query(perPartition)
    expect(rows.length).toBeGreaterThan(1)
    expect((await empty.pool.query(perPartition)).rows).toEqual(rows)
  }
  for (const { organizationId } of desk.apis) expect(await problemsOf(empty.pool, organizationId)).toEqual([])

  // That the checkpoints cover every kind shows when no row of them is what it was.
  for (const { table } of kinds) {
    const moved = `updated_at = updated_at + interval '1 second'`
    await pool.query(`update ${table.name} set ${moved} where removed_at is null`)
  }
  const { unproved } = await backUp(pool, desk.clock, join(files.path, 'two.backup'))
  const wanted = desk.apis.flatMap(({ organizationId }) =>
    kinds.map(({ table }) => `${table.name} of ${organizationId}`),
  )
  expect(unproved.toSorted()).toEqual(wanted.toSorted())
})

test('a restored desk serves what it had, refuses what was lost, and goes on; restored twice, it begins two different lives', async () => {
  await using desk = await fullDesk()
  await using files = await directory()
  await using empty = await emptyDatabase()
  const { clock } = desk
  const [api] = desk.apis as [(typeof desk.apis)[0]]
  const file = join(files.path, 'one.backup')
  await backUp(desk.service.database.pool, clock, file)
  const kept = await drain(api, '/v1/customers', beginning)
  const keptAt = (await makeLast(api)).updatedAt
  const lost = await drain(api, '/v1/customers', beginning)
  clock.advance(minute)

  const backup = await examineBackup(file)
  const options: RestoreOptions = { clock, encryptionKey, withoutKey: false }
  const summary = await restore(empty.pool, backup, options)
  expect(summary).toMatchObject({ file, organizations: 2, migrated: [] })
  await using service = await testService({ clock, database: empty })
  const same = service.withToken(api.token)
  const again = await drain(same, '/v1/customers', beginning)
  expect(again.records).toEqual(kept.records)
  expect(again.last.pagination.checkpoint).toEqual(kept.last.pagination.checkpoint)
  for (const query of [
    `cursor=${kept.last.pagination.nextCursor}`,
    `cursor=${lost.last.pagination.nextCursor}`,
    `updatedAfter=${keptAt}`,
  ]) {
    const answer = await same.get(`/v1/customers?${query}`)
    expect([answer.status, answer.json.code]).toEqual([410, 'cursor_too_old'])
  }
  const { nextCursor } = again.last.pagination
  const made = await makeCustomer(same)
  expect((await drain(same, '/v1/customers', `cursor=${nextCursor}`)).records).toEqual([made])
  expect(made.updatedAt > keptAt).toBe(true)

  await using other = await emptyDatabase()
  const { epoch } = await restore(other.pool, backup, options)
  const { rows } = await desk.service.database.pool.query('select i.epoch from installation i')
  expect(new Set([rows[0].epoch, summary.epoch, epoch]).size).toBe(3)
})

const makeLast = (api: Parameters<typeof makeCustomer>[0]) => makeCustomer(api, { name: 'Lost' })

test('taken while others write, a backup is of one moment', async () => {
  await using service = await testService()
  await using files = await directory()
  const { api } = service
  const options: RestoreOptions = { clock: { now: () => Date.now() }, encryptionKey: null, withoutKey: false }
  let writing = true
  let written = 0
  const writers = Array.from({ length: 6 }, async () => {
    while (writing) {
      const customer = await makeCustomer(api)
      await api.post('/v1/tickets', { customerId: customer.id, subject: 'Help' })
      if (written++ % 3 === 0) await api.delete(`/v1/customers/${customer.id}`)
    }
  })
  const taken: string[] = []
  const sizes = new Set<number>()
  try {
    for (let n = 0; n < 2; n++) {
      const from = written
      await eventually('more was written', () => written >= from + 30)
      const file = join(files.path, `${n}.backup`)
      const { rows, unproved } = await backUp(service.database.pool, options.clock, file)
      expect(unproved).toEqual([])
      sizes.add(rows)
      taken.push(file)
    }
  } finally {
    writing = false
    await Promise.all(writers)
  }
  expect(sizes.size).toBe(2)
  for (const file of taken) {
    await using empty = await emptyDatabase()
    await restore(empty.pool, await examineBackup(file), options)
    expect(await problemsOf(empty.pool, api.organizationId)).toEqual([])
  }
})

test('rows that were changed by hand are told of, and still backed up and restored', async () => {
  await using service = await testService()
  await using files = await directory()
  const { api } = service
  const file = join(files.path, 'one.backup')
  await makeCustomer(api)
  await service.database.pool.query(`update customers set updated_at = updated_at + interval '1 second'`)
  const clock = { now: () => Date.now() }
  const { unproved } = await backUp(service.database.pool, clock, file)
  expect(unproved).toEqual([`customers of ${api.organizationId}`])
  await using empty = await emptyDatabase()
  const options = { clock, encryptionKey: null, withoutKey: false }
  expect(await restore(empty.pool, await examineBackup(file), options)).toMatchObject({ organizations: 1 })
})
