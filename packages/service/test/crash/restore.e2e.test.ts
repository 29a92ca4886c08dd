/** A restore that is killed leaves what was there: nothing, or the database that it was to replace. */
import { existsSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { runHere } from '../../../cli/test/run-here.ts'
import { processesOf } from '../../../embedded-postgres/src/processes.ts'
import { ADMIN_ROLE } from '../../../embedded-postgres/src/settings.ts'
import { type TestDatabase, testDatabase } from '../../../testbed/database.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { kill } from '../../../testbed/program.ts'
import { testService } from '../../../testbed/service.ts'
import { createServices, socketUrl } from '../../../testbed/services.ts'
import { backUp } from '../../src/backup/backup.ts'
import { tablesOf } from '../../src/backup/tables.ts'
import { embedded } from '../../src/db/embedded.ts'

const clock = { now: () => Date.now() }

test('killed when its rows are there, it leaves an empty database, and can be run again', async () => {
  await using files = await mkdtempDisposable(join(tmpdir(), 'deskwire-backup-'))
  await using service = await testService()
  await using empty = await testDatabase({ template: null })
  await using services = createServices()
  await service.database.pool.query(
    `insert into erasures (organization_id, what, subject_id, removed_id, removed_at)
       select $1, 'object', n.id, n.id, now() from (select gen_random_uuid() as id from generate_series(1, 5000)) n`,
    [service.api.organizationId],
  )
  const file = join(files.path, 'one.backup')
  const { rows } = await backUp(service.database.pool, clock, file)
  const run = () => services.start(['backup', 'restore', file, '--database-url', socketUrl(empty.connection)])

  await using held = await holdOnceFilled(empty)
  const killed = run()
  await eventually('its rows are there', async () => {
    if (!killed.running()) throw new Error('it was not held')
    return held.waits()
  })
  await killed.end('SIGKILL')
  await held[Symbol.asyncDispose]()
  await eventually('its connection is gone', async () => {
    const { rows: found } = await empty.pool.query(
      `select 1 from pg_stat_activity a where a.datname = current_database() and a.pid <> pg_backend_pid()`,
    )
    return found.length === 0
  })
  expect(await tablesOf(empty.pool)).toEqual([])

  const again = await run().ended
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining(`${rows} rows of 1 organizations`) })
  const { rows: counted } = await empty.pool.query('select count(*)::int as count from erasures')
  expect(counted).toEqual([{ count: 5_000 }])
})

/** Holds a restore at the next function that it makes when it has filled the tables. */
async function holdOnceFilled({ connection }: TestDatabase) {
  const client = new Client({ ...connection, user: ADMIN_ROLE })
  await client.connect()
  await client.query('select pg_advisory_lock(1)')
  await client.query(`create function hold() returns event_trigger language plpgsql as $$ begin
    if to_regclass('erasures') is null then return; end if;
    if exists (select from erasures) then perform pg_advisory_xact_lock(1); end if; end $$`)
  await client.query('create event trigger hold on ddl_command_end execute function hold()')
  let ended = false
  return {
    async waits() {
      const { rows } = await client.query(
        `select 1 from pg_locks l where l.locktype = 'advisory' and not l.granted
           and l.database = (select d.oid from pg_database d where d.datname = current_database())`,
      )
      return rows.length > 0
    },
    async [Symbol.asyncDispose]() {
      if (ended) return
      ended = true
      await client.query('select pg_advisory_unlock(1)')
      await client.query('drop event trigger hold')
      await client.query('drop function hold()')
      await client.end()
    },
  }
}

test('killed beside a data directory, it leaves no empty desk and no half one, and the old one where it was', async () => {
  await using files = await mkdtempDisposable(join(tmpdir(), 'deskwire-backup-'))
  await using service = await testService()
  await using services = createServices()
  await makeCustomer(service.api)
  const file = join(files.path, 'one.backup')
  await backUp(service.database.pool, clock, file)
  const dataDir = join(files.path, 'data')
  const cluster = join(dataDir, 'postgres')
  const staging = join(dataDir, 'restore')
  const stagedCluster = join(staging, 'postgres')
  await using _ = {
    async [Symbol.asyncDispose]() {
      for (const path of [stagedCluster, cluster])
        if (existsSync(path)) for (const pid of await processesOf(path)) kill(pid)
    },
  }
  const run = (...flags: string[]) =>
    services.start(['backup', 'restore', file, '--data-dir', dataDir, ...flags])

  async function killMidway(...flags: string[]): Promise<void> {
    const killed = run(...flags)
    await eventually('its server runs', () => {
      if (!killed.running()) throw new Error('it was too quick')
      return existsSync(join(stagedCluster, 'postmaster.pid'))
    })
    await killed.end('SIGKILL')
  }

  await killMidway()
  expect(existsSync(cluster)).toBe(false)
  const refused = await runHere(['serve', '--port', '0', '--data-dir', dataDir])
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /a restore into \S+ was interrupted: run deskwire backup restore again, or delete/,
    ),
  })
  expect(await run().ended).toMatchObject({ code: 0 })
  expect(existsSync(staging)).toBe(false)
  const first = await contents(dataDir)
  expect(first).toMatchObject({ customers: 1 })

  await killMidway('--replace')
  expect(await contents(dataDir)).toEqual(first)
  // Its server was left running; the next attempt ends it, and says so.
  const replaced = await run('--replace', '--json').ended
  expect(replaced).toMatchObject({ code: 0, stderr: expect.stringContaining('left running') })
  const { movedTo, epoch } = JSON.parse(replaced.stdout)
  expect(existsSync(join(movedTo, 'PG_VERSION'))).toBe(true)
  expect(await contents(dataDir)).toEqual({ customers: 1, epoch })
  expect(epoch).not.toBe(first.epoch)
  expect(existsSync(staging)).toBe(false)
  expect(await embedded.find(dataDir)).toBeNull()
  expect(await processesOf(movedTo)).toEqual([])
})

async function contents(dataDir: string): Promise<{ customers: number; epoch: number }> {
  const database = await embedded.start({ dataDir })
  const client = new Client(database.connection)
  await client.connect()
  const { rows } = await client.query(
    'select i.epoch, (select count(*)::int from customers) as customers from installation i',
  )
  await client.end()
  await database.stop()
  return rows[0]
}
