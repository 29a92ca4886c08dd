// Starting, stopping, and refusing to.
import { execFile } from 'node:child_process'
import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  emptyDataDir,
  identities,
  isRoot,
  newDataDir,
  newDirectory,
  ordinary,
  query,
  root,
  serverPid,
  startQuery,
  startService,
  useHarness,
} from './harness.ts'

useHarness()

describe.each(identities)('as $name', (who) => {
  test('the first start makes a private cluster without a password; the second keeps what is in it', async () => {
    const dataDir = await emptyDataDir(who)
    const first = startService(who, dataDir)
    const ready = await first.event('ready')
    expect(ready).toMatchObject({ adopted: false, dataDir })
    const { host } = ready.connection as { host: string }
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
    expect((await stat(host)).mode & 0o777).toBe(0o700)
    const names = await readdir(dataDir)
    expect(names).toContain('postgres')
    for (const name of names) expect((await stat(join(dataDir, name))).mode & 0o077, name).toBe(0)
    expect(
      await query(
        who,
        dataDir,
        'select count(*)::int from pg_authid where rolpassword is not null',
        'postgres',
      ),
    ).toEqual([{ count: 0 }])
    expect(await readFile(join(dataDir, 'postgres/pg_hba.conf'), 'utf8')).not.toMatch(
      /trust|password|md5|scram/,
    )
    const rows = await query(who, dataDir, [
      'create table kept (n int)',
      'insert into kept values (7)',
      `select current_user, rolsuper, pg_encoding_to_char(encoding) as encoding, datlocprovider, datlocale,
         current_setting('data_checksums') as checksums, current_setting('listen_addresses') as addresses,
         current_setting('fsync') as fsync, current_setting('timezone') as timezone, upper('ü') as upper
       from pg_database, pg_roles where datname = current_database() and rolname = current_user`,
    ])
    expect(rows).toEqual([
      {
        current_user: 'example',
        rolsuper: false,
        encoding: 'UTF8',
        datlocprovider: 'b',
        datlocale: 'C.UTF-8',
        checksums: 'on',
        addresses: '',
        fsync: 'on',
        timezone: 'UTC',
        upper: 'Ü',
      },
    ])
    await first.stop()
    // First when the cluster is made, again when the server was started; always before what it waits for is over.
    expect(first.events.map(({ event, message }) => message ?? event)).toEqual([
      'begun',
      'begun',
      'PostgreSQL is ready',
      'ready',
      'stopped',
    ])
    await expect(stat(join(dataDir, 'postgres/postmaster.pid'))).rejects.toThrow('ENOENT')

    const second = startService(who, dataDir)
    expect(await second.event('ready')).toMatchObject({ adopted: false })
    expect(await query(who, dataDir, 'select n from kept')).toEqual([{ n: 7 }])
    expect(second.events.filter(({ level }) => level === 'warn')).toEqual([])
    await second.stop()
    expect(second.events.map(({ event }) => event)).not.toContain('lost')
  })

  test('Ctrl-C in the terminal reaches the service and not the server', async () => {
    const dataDir = await newDataDir(who)
    const service = startService(who, dataDir, { group: true })
    await service.event('ready')
    const pid = await serverPid(dataDir)
    process.kill(-service.pid, 'SIGINT')
    await service.event('interrupted')
    expect(await query(who, dataDir, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(await serverPid(dataDir)).toBe(pid)
    await service.stop()
    expect(service.events.map(({ event }) => event)).not.toContain('lost')
  })

  test('neither the server nor an adopted one keeps the process running', async () => {
    const dataDir = await newDataDir(who)
    for (const adopted of [false, true]) {
      const idle = startService(who, dataDir, { flags: ['--idle'] })
      expect(await idle.ended).toBe(0)
      expect(await idle.event('ready')).toMatchObject({ adopted })
    }
    const last = startService(who, dataDir)
    expect(await last.event('ready')).toMatchObject({ adopted: true })
    await last.stop()
  })
})

// What does not depend on whose the files and the processes are.
describe('as an ordinary user', () => {
  const who = ordinary

  test('programs beside the service find the server only while it runs', async () => {
    const dataDir = await newDataDir(who)
    const early = startQuery(who, dataDir, ['select 1'])
    await early.ended
    expect(early.events).toEqual([{ event: 'none' }])
    const service = startService(who, dataDir)
    await service.event('ready')
    expect(await query(who, dataDir, 'select 1 as one')).toEqual([{ one: 1 }])
    await service.stop()
    const late = startQuery(who, dataDir, ['select 1'])
    await late.ended
    expect(late.events).toEqual([{ event: 'none' }])
  })

  test('a path far longer than a socket may have works', async () => {
    const dataDir = join(await emptyDataDir(who), 'deep'.repeat(30), 'deeper'.repeat(30))
    const service = startService(who, dataDir)
    const { connection } = await service.event('ready')
    const { host } = connection as { host: string }
    expect(host.length).toBeLessThan(90)
    expect((await stat(host)).mode & 0o777).toBe(0o700)
    expect(await query(who, dataDir, 'select 1 as one')).toEqual([{ one: 1 }])
    await service.stop()
    await expect(stat(host)).rejects.toThrow('ENOENT')
  })

  test('a second start is refused with one line that says who holds the directory', async () => {
    const dataDir = await newDataDir(who)
    const first = startService(who, dataDir, { flags: ['--twice'] })
    const within = await first.event('refused')
    const second = startService(who, dataDir)
    const refused = await second.event('refused')
    expect(await second.ended).toBe(1)
    for (const { name, message } of [within, refused]) {
      expect(name).toBe('EmbeddedDatabaseError')
      expect(message).toMatch(
        new RegExp(
          `^${dataDir} is in use by process ${first.pid} \\(service\\.fixture\\.ts, since 20[^)]*Z\\): stop it`,
        ),
      )
      expect(message).not.toContain('\n')
    }
    expect(await query(who, dataDir, 'select 1 as one')).toEqual([{ one: 1 }])
    await first.stop()
  })

  test('a cluster of another major version, or something else in its place, is left alone', async () => {
    const dataDir = await newDataDir(who)
    const service = startService(who, dataDir)
    await service.event('ready')
    await service.stop()
    const version = join(dataDir, 'postgres/PG_VERSION')
    await writeFile(version, '17\n')
    const other = startService(who, dataDir)
    expect((await other.event('refused')).message).toMatch(
      /was made by PostgreSQL 17 and .* brings PostgreSQL 18: dump it with the release that made it/,
    )
    expect(await readFile(version, 'utf8')).toBe('17\n')
    await rm(version)
    const broken = startService(who, dataDir)
    expect((await broken.event('refused')).message).toMatch(/is not a PostgreSQL cluster: restore it/)
  })

  test('a server that somebody else stops is reported, and the directory is held until the service lets go', async () => {
    const dataDir = await newDataDir(who)
    const first = startService(who, dataDir)
    await first.event('ready')
    process.kill(await serverPid(dataDir), 'SIGINT')
    expect((await first.event('lost')).reason).toMatch(
      /^PostgreSQL ended with status 0: .*database system is shut down/,
    )
    const second = startService(who, dataDir)
    expect((await second.event('refused')).message).toContain(`process ${first.pid} `)
    await first.stop()
    const third = startService(who, dataDir)
    expect(await third.event('ready')).toMatchObject({ adopted: false })
    await third.stop()
  })

  test('a server that cannot start says why and leaves nothing', async () => {
    const dataDir = await newDataDir(who)
    const service = startService(who, dataDir)
    await service.event('ready')
    await service.stop()
    await writeFile(join(dataDir, 'postgres/local.conf'), 'shared_buffers = plenty\n')
    await chmod(join(dataDir, 'postgres/local.conf'), 0o644)
    const broken = startService(who, dataDir)
    expect((await broken.event('refused')).message).toMatch(/PostgreSQL did not start on .*local\.conf/)
    expect(await readdir(dataDir)).not.toContain('hold.json')
  })

  test('where there is no PostgreSQL for the platform, the setting that helps is named', async () => {
    const service = startService(who, await emptyDataDir(who), { flags: ['--windows'] })
    expect((await service.event('refused')).message).toMatch(
      /there is no embedded PostgreSQL for win32-.*: set EXAMPLE_URL/,
    )
  })
})

const onlyRoot = () => {
  test("an ordinary user cannot use root's data directory, and is told so", async () => {
    const dataDir = await newDirectory(root)
    const service = startService(ordinary, dataDir)
    expect((await service.event('refused')).message).toMatch(/cannot be used .*: give EXAMPLE_DATA/)
    const client = startQuery(ordinary, dataDir, ['select 1'])
    expect((await client.event('failed')).message).toMatch(
      /belongs to another user: run this as the user who runs/,
    )
  })

  test('another user can neither enter the socket directory nor pass for the service', async () => {
    const dataDir = await newDataDir(root)
    const service = startService(root, dataDir)
    const { connection } = await service.event('ready')
    const { host } = connection as { host: string }
    // Even the server's own account, let in, is not the service.
    const { uid, gid } = await stat(join(dataDir, 'postgres'))
    await chmod(host, 0o711)
    await chmod(join(host, '.s.PGSQL.5432'), 0o777)
    const attempt = (ids: { uid: number; gid: number }) =>
      new Promise<string>((resolve) => {
        // It gives its account up itself, as another may not reach Node below a directory of root's.
        const script = `const { Client } = require('pg'); const c = new Client(${JSON.stringify({ ...(connection as object) })});
          process.setgroups([]); process.setgid(${ids.gid}); process.setuid(${ids.uid}); c.connect().then(() => console.log('in'), (e) => console.log(e.message)).finally(() => c.end())`
        const cwd = join(import.meta.dirname, '../../..')
        execFile(process.execPath, ['-e', script], { cwd }, (_, out, err) => resolve(out + err))
      })
    expect(await attempt({ uid, gid })).toMatch(/[Pp]eer authentication failed/)
    expect(await attempt(ordinary.ids!)).toMatch(/[Pp]eer authentication failed/)
    await chmod(host, 0o700)
    expect(await attempt(ordinary.ids!)).toMatch(/EACCES/)
    await service.stop()
  })
}
if (isRoot) describe('other accounts', onlyRoot)
