/** Backups that are no good are refused before anything is touched, and so are places that are not empty. */
import { copyFile, mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testDatabase } from '../../../testbed/database.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { makeWebhook } from '../../../testbed/hooks.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { backUp } from '../../src/backup/backup.ts'
import { BackupError, encodeFrame, firstLine, writeBackupFile } from '../../src/backup/format.ts'
import { examineBackup, restore, restoreRows } from '../../src/backup/restore.ts'
import { tablesOf } from '../../src/backup/tables.ts'
import { migrate } from '../../src/db/migrate.ts'
import { transaction } from '../../src/db/pool.ts'
import { claimKey } from '../../src/delivery/endpoint/vault.ts'
import { schemaOf } from '../../src/schema.ts'

const shared = sharedService()
const clock = { now: () => Date.now() }
const { encryptionKey } = deliverySettings
let files: Awaited<ReturnType<typeof mkdtempDisposable>>
let good: string

beforeAll(async () => {
  files = await mkdtempDisposable(join(tmpdir(), 'deskwire-backup-'))
  good = join(files.path, 'good.backup')
  await makeWebhook(shared().api)
  for (let n = 0; n < 50; n++) await makeCustomer(shared().api, { name: `Ada ${n}` })
  await backUp(shared().database.pool, clock, good)
})
afterAll(() => files.remove())

/** A copy of the good backup with other bytes. */
async function spoiled(spoil: (bytes: Buffer) => Buffer): Promise<string> {
  const path = join(files.path, `${Math.random()}.backup`)
  await writeFile(path, spoil(await readFile(good)))
  return path
}

const flipped = (bytes: Buffer, at: number) => {
  bytes[at] = (bytes[at] as number) ^ 1
  return bytes
}

describe('a file', () => {
  test.each([0, 1, firstLine.length, firstLine.length + 32, 500, -1])('cut at %i', async (at) => {
    const path = await spoiled((bytes) => bytes.subarray(0, at === -1 ? bytes.length - 1 : at))
    await expect(examineBackup(path)).rejects.toThrow(/is not a backup of Deskwire|is cut short or damaged/)
    await expect(examineBackup(path)).rejects.toBeInstanceOf(BackupError)
  })

  test('with any byte changed, or one more', async () => {
    const { length } = await readFile(good)
    for (const at of [firstLine.length, length >> 1, length - 33, length - 1]) {
      const path = await spoiled((bytes) => flipped(bytes, at))
      await expect(examineBackup(path)).rejects.toThrow('is cut short or damaged')
    }
    const path = await spoiled((bytes) => Buffer.concat([bytes, Buffer.of(0)]))
    await expect(examineBackup(path)).rejects.toThrow('is cut short or damaged')
  })

  test('that is something else, that is not there, or of another format', async () => {
    const other = await spoiled(() => Buffer.from('{"object":"export_end"}'))
    await expect(examineBackup(other)).rejects.toThrow('is not a backup of Deskwire')
    await expect(examineBackup(join(files.path, 'nothing'))).rejects.toThrow('cannot be read')
    const later = await spoiled((bytes) =>
      Buffer.concat([Buffer.from('deskwire backup create 2\n'), bytes.subarray(18)]),
    )
    await expect(examineBackup(later)).rejects.toThrow('of format 2, and this release reads format 1')
  })

  const schemaFrom = (id: string) => ({ migrations: [{ id, statements: [] }] })

  test('of a newer release names what it holds', async () => {
    await expect(examineBackup(good, schemaFrom('20260101-01-first'))).rejects.toThrow(
      /newer version of Deskwire \(\d.*\): it holds the migration 20261128-03-baseline, .*; restore it with the version that made it/,
    )
  })

  test('from before the first release says so', async () => {
    await expect(examineBackup(good, schemaFrom('20991231-01-first'))).rejects.toThrow(
      `${good} was made before the first release of Deskwire, and this version does not read it: restore it with`,
    )
  })

  test('that is whole is what it was', async () => {
    expect((await examineBackup(good)).header.migrations).toHaveLength(schemaOf().migrations.length)
  })
})

test('a backup of an older release gets its migrations, and then those since', async () => {
  const { migrations, functions } = schemaOf()
  const later = {
    id: '20991231-01-later',
    statements: ['create table later (organization_id uuid primary key)'],
  }
  const schema = { migrations: [later, ...migrations], functions }
  await using empty = await testDatabase({ template: null })
  const backup = await examineBackup(good, schema)
  const restored = await transaction(empty.pool, (tx) => restoreRows(tx, backup, schema))
  expect(restored.migrated).toEqual([later.id])
  expect(await migrate(empty.pool, schema)).toEqual([])
  expect((await tablesOf(empty.pool)).map(({ name }) => name)).toContain('later')
})

describe('a restore', () => {
  const options = { clock, encryptionKey, withoutKey: false }

  test('into a database that holds anything is refused, and changes nothing', async () => {
    await using database = await testDatabase({ template: null })
    await database.pool.query('create table mine (n int)')
    await expect(restore(database.pool, await examineBackup(good), options)).rejects.toThrow(
      'the database is not empty: it holds mine',
    )
    expect(await tablesOf(database.pool)).toEqual([{ name: 'mine', columns: ['n'] }])
    await expect(restore(shared().database.pool, await examineBackup(good), options)).rejects.toThrow(
      'the database is not empty',
    )
  })

  test.each([null, Buffer.alloc(32, 8)])(
    'without the key of the secrets is refused, unless told',
    async (key) => {
      await using empty = await testDatabase({ template: null })
      const backup = await examineBackup(good)
      await expect(restore(empty.pool, backup, { ...options, encryptionKey: key })).rejects.toThrow(
        /encrypted with the key of its installation.*encryption\.key.*--without-key/,
      )
      expect(await tablesOf(empty.pool)).toEqual([])
      await restore(empty.pool, backup, { ...options, encryptionKey: key, withoutKey: true })
      expect((await tablesOf(empty.pool)).length).toBeGreaterThan(20)
      // Told so, it goes on with the key that was given, or with the next one that comes.
      const claims = (current: Buffer) => claimKey(empty.pool, { current, previous: null })
      expect(await claims(key ?? Buffer.alloc(32, 9))).toBe('held')
      expect(await claims(encryptionKey)).toBe('another')
    },
  )

  test('of rows that are not those of the backup is refused, and leaves nothing', async () => {
    // As a fault in the writer would make it: whole by its checksum, and yet a row short, or a row too new.
    const { header } = await examineBackup(good)
    const { rows } = await shared().database.pool.query(
      `select o.organization_id, o.name from organizations o`,
    )
    const row = `${rows[0].organization_id}\tTest\t2026-01-01\t2026-01-01\n`
    const ends = [
      { rows: { organizations: 2 }, checkpoints: [] },
      { rows: {}, checkpoints: [] },
    ]
    for (const [n, end] of ends.entries()) {
      const path = join(files.path, `faulty-${n}.backup`)
      await writeBackupFile(path, async function* () {
        yield encodeFrame('header', header)
        const columns = ['organization_id', 'name', 'created_at', 'updated_at']
        yield encodeFrame('table', { name: 'organizations', columns })
        yield encodeFrame('rows', Buffer.from(row))
        yield encodeFrame('end', end)
      })
      await using empty = await testDatabase({ template: null })
      await expect(restore(empty.pool, await examineBackup(path), options)).rejects.toThrow(
        'the restored rows are not those of the backup',
      )
      expect(await tablesOf(empty.pool)).toEqual([])
    }
  })
})

describe('a backup', () => {
  test('is not written over another file, and leaves nothing when it cannot be written', async () => {
    const path = join(files.path, 'taken')
    await copyFile(good, path)
    await expect(backUp(shared().database.pool, clock, path)).rejects.toThrow('is there already')
    expect(await readFile(path)).toEqual(await readFile(good))
    const nowhere = join(files.path, 'nowhere', 'one.backup')
    await expect(backUp(shared().database.pool, clock, nowhere)).rejects.toThrow('cannot be written')
    expect((await readdir(files.path)).filter((name) => name.endsWith('.part'))).toEqual([])
  })

  test('of nothing is refused, and so is that of a newer database', async () => {
    await using empty = await testDatabase({ template: null })
    const path = join(files.path, 'never.backup')
    await expect(backUp(empty.pool, clock, path)).rejects.toThrow('holds no Deskwire')
    await using newer = await testDatabase()
    await newer.pool.query(`insert into schema_migrations (id) values ('20991231-01-later')`)
    await expect(backUp(newer.pool, clock, path)).rejects.toThrow(
      'the database is newer than this version of Deskwire: it holds the migration 20991231-01-later',
    )
    expect(await readdir(files.path)).not.toContain('never.backup')
  })
})
