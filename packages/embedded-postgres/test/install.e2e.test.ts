// The binary package as it may be found: without its links, in a directory that cannot be written, damaged,
// or not at all.
import { chmod, chown, lstat, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { eventually } from '../../testbed/eventually.ts'
import {
  commandLine,
  copyProject,
  emptyDataDir,
  identities,
  isRoot,
  newDataDir,
  newDirectory,
  ordinary,
  packageIn,
  query,
  root,
  serverPid,
  setWritable,
  startService,
  useHarness,
} from './harness.ts'

useHarness()

async function newProject(who: (typeof identities)[number], mode = 0o755): Promise<string> {
  const project = join(await newDirectory(who, mode), 'project')
  await copyProject(project)
  await setWritable(project, who)
  return project
}

async function linksIn(project: string): Promise<string[]> {
  const lib = join(packageIn(project), 'native/lib')
  const names = await readdir(lib)
  const found = await Promise.all(
    names.map(async (name) => ({ name, is: (await lstat(join(lib, name))).isSymbolicLink() })),
  )
  return found.filter(({ is }) => is).map(({ name }) => name)
}

describe.each(identities)('as $name', (who) => {
  test('without install scripts: several first starts at once make the missing links', async () => {
    const project = await newProject(who)
    expect(await linksIn(project)).toEqual([])
    // One makes its cluster with these programs; all run it with them.
    const dataDirs = [await emptyDataDir(who), await newDataDir(who), await newDataDir(who)]
    const services = dataDirs.map((dataDir) => startService(who, dataDir, { project }))
    for (const service of services) await service.event('ready')
    const links = await linksIn(project)
    const expected = process.platform === 'linux' ? ['libicuuc.so.60', 'libpq.so.5'] : []
    expect(links).toEqual(expect.arrayContaining(expected))
    // Nothing but whole links: no temporary names are left.
    for (const name of links) {
      expect(name).not.toMatch(/\.[0-9a-f]{12}$/)
      expect((await stat(join(packageIn(project), 'native/lib', name))).isFile()).toBe(true)
    }
    for (const [at, service] of services.entries()) {
      expect(await commandLine(await serverPid(dataDirs[at]!))).toContain(packageIn(project))
      await service.stop()
    }
  })

  test('without the package, the setting that helps is named', async () => {
    const project = await newProject(who)
    await rm(packageIn(project), { recursive: true })
    const service = startService(who, await emptyDataDir(who), { project })
    expect((await service.event('refused')).message).toMatch(
      /is not installed: run npm ci .* or set EXAMPLE_URL/,
    )
  })

  test('with a package that lacks a file, the remedy is named', async () => {
    const project = await newProject(who)
    await rm(join(packageIn(project), 'native/lib'), { recursive: true })
    const service = startService(who, await emptyDataDir(who), { project })
    expect((await service.event('refused')).message).toMatch(/is incomplete .*: run npm ci/)
  })
})

describe('as an ordinary user whose node_modules belongs to somebody else', () => {
  test('a copy of the programs is used; a damaged copy is replaced', async () => {
    const project = await newProject(ordinary)
    await setWritable(project, null)
    const dataDir = await newDataDir(ordinary)
    const first = startService(ordinary, dataDir, { project })
    await first.event('ready')
    const runtime = join(dataDir, 'runtime')
    const [copy, ...others] = await readdir(runtime)
    expect(others).toEqual([])
    expect(await commandLine(await serverPid(dataDir))).toContain(join(runtime, copy!))
    expect(await linksIn(project)).toEqual([])
    await first.stop()

    const library = join(runtime, copy!, 'native/lib/libicuuc.so.60.2')
    const { size } = await stat(library)
    await truncate(library, 1_000)
    const second = startService(ordinary, dataDir, { project })
    await second.event('ready')
    expect((await stat(library)).size).toBe(size)
    expect(await readdir(runtime)).toEqual([copy])
    await second.stop()
    await setWritable(project, ordinary)
  })
})

const onlyRoot = () => {
  test('project and data are root’s alone: the server runs unprivileged on the data where it is', async () => {
    const closed = await newDirectory(root, 0o700)
    const project = join(closed, 'project')
    await copyProject(project)
    const dataDir = join(closed, 'project/data')
    const options = { project }
    const first = startService(root, dataDir, options)
    await first.event('ready')
    const cluster = join(dataDir, 'postgres')
    const { uid } = await stat(cluster)
    expect(uid).not.toBe(0)
    expect((await stat(`/proc/${await serverPid(dataDir)}`)).uid).toBe(uid)
    expect((await stat(dataDir)).uid).toBe(0)
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
    expect(await commandLine(await serverPid(dataDir))).not.toContain(closed)

    // New backends, files, temporary files, a log switch, a reread configuration, autovacuum: all of it
    // happens below a directory that none of these processes can enter.
    await writeFile(join(cluster, 'local.conf'), "autovacuum_naptime = '1s'\nwork_mem = '64kB'\n")
    await chmod(join(cluster, 'local.conf'), 0o644)
    expect(
      await query(root, dataDir, ['select pg_reload_conf()', 'select pg_rotate_logfile()'], 'postgres'),
    ).toEqual([{ pg_rotate_logfile: true }])
    await query(root, dataDir, [
      'create table busy (n int, t text)',
      "insert into busy select n, repeat('x', 200) from generate_series(1, 20000) n",
      'delete from busy where n % 2 = 0',
    ])
    const sorted = await query(root, dataDir, [
      'show work_mem',
      'select count(*)::int from (select t, n from busy order by t, n desc offset 0) s',
    ])
    expect(sorted).toEqual([{ count: 10_000 }])
    await eventually('autovacuum runs', async () => {
      const [row] = await query(
        root,
        dataDir,
        `select autovacuum_count::int as n, (select temp_files::int from pg_stat_database where datname = 'example') as files,
           current_setting('work_mem') as work_mem
         from pg_stat_user_tables where relname = 'busy'`,
      )
      return row?.work_mem === '64kB' && Number(row.n) > 0 && Number(row.files) > 0
    })

    // Crash recovery, of both, then a clean stop and start.
    const pid = await serverPid(dataDir)
    await first.kill('SIGKILL')
    process.kill(pid, 'SIGKILL')
    const second = startService(root, dataDir, options)
    expect(await second.event('ready')).toMatchObject({ adopted: false })
    expect(await query(root, dataDir, 'select count(*)::int from busy')).toEqual([{ count: 10_000 }])
    // A child that dies makes the server start its other children again.
    const restarted = await query(root, dataDir, ['select pg_postmaster_start_time()::text as at'])
    const crashed = query(root, dataDir, 'select pg_backend_pid() as pid, pg_sleep(60)')
    const backend = await eventually('it sleeps', async () => {
      const [row] = await query(
        root,
        dataDir,
        "select pid from pg_stat_activity where query like '%pg_sleep(60)' and pid <> pg_backend_pid()",
      )
      return row ? Number(row.pid) : null
    })
    process.kill(backend, 'SIGKILL')
    await expect(crashed).rejects.toThrow('failed')
    await eventually('it takes connections again', () =>
      query(root, dataDir, 'select count(*)::int from busy').catch(() => null),
    )
    expect(await query(root, dataDir, ['select pg_postmaster_start_time()::text as at'])).toEqual(restarted)
    await second.stop()
    const third = startService(root, dataDir, options)
    await third.event('ready')
    expect(await query(root, dataDir, 'select count(*)::int from busy')).toEqual([{ count: 10_000 }])
    await third.stop()
  })

  test('a data directory that belongs to an ordinary user stays usable for both', async () => {
    const dataDir = await newDataDir(ordinary)
    for (const who of [ordinary, root, ordinary]) {
      const service = startService(who, dataDir)
      await service.event('ready')
      expect((await stat(`/proc/${await serverPid(dataDir)}`)).uid).toBe(ordinary.ids?.uid)
      expect(await query(who, dataDir, 'select 1 as one')).toEqual([{ one: 1 }])
      await service.stop()
    }
    for (const name of await readdir(dataDir))
      expect((await stat(join(dataDir, name))).uid, name).toBe(ordinary.ids?.uid)
  })

  test("a cluster that is root's is refused with the command that helps", async () => {
    const dataDir = await newDataDir(root)
    const first = startService(root, dataDir)
    await first.event('ready')
    await first.stop()
    const cluster = join(dataDir, 'postgres')
    const { uid, gid } = await stat(cluster)
    await chown(cluster, 0, 0)
    const second = startService(root, dataDir)
    expect((await second.event('refused')).message).toMatch(/belongs to root, .*chown -R/)
    await chown(cluster, uid, gid)
  })

  test("an ordinary user is told that the cluster is another's", async () => {
    const dataDir = await newDataDir(ordinary)
    const first = startService(ordinary, dataDir)
    await first.event('ready')
    await first.stop()
    await chown(join(dataDir, 'postgres'), 1, 1)
    const second = startService(ordinary, dataDir)
    expect((await second.event('refused')).message).toMatch(
      /belongs to user id 1, not to nobody: start Example as/,
    )
  })
}
if (isRoot) describe('as root', onlyRoot)
