// Killed with -9: the service, the server, both, the creation of the cluster. What was acknowledged stays.
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { eventually } from '../../testbed/eventually.ts'
import { processesOf, signal } from '../src/processes.ts'
import {
  bystander,
  commandLine,
  emptyDataDir,
  type Fixture,
  type Identity,
  identities,
  lastAcknowledged,
  newDataDir,
  ordinary,
  query,
  serverPid,
  startInserting,
  startQuery,
  startService,
  useHarness,
} from './harness.ts'

useHarness()

async function insertAWhile(who: Identity, dataDir: string): Promise<Fixture> {
  const inserting = startInserting(who, dataDir)
  await eventually('50 inserts are acknowledged', async () => lastAcknowledged(inserting) >= 50)
  return inserting
}

async function expectKept(who: Identity, dataDir: string, acknowledged: number): Promise<void> {
  // One more than acknowledged may be there: committed, with the answer lost on its way.
  const [row] = await query(
    who,
    dataDir,
    `select count(*) filter (where n <= ${acknowledged})::int as kept, max(n) as last from kept`,
  )
  expect(row?.kept).toBe(acknowledged)
  expect(row?.last).toBeLessThanOrEqual(acknowledged + 1)
}

describe.each(identities)('as $name', (who) => {
  /** Whose the processes are makes no difference to the others of these cases. */
  const oneForRoot = <T>(first: T, ...others: readonly T[]) =>
    who === ordinary ? [first, ...others] : [first]

  test('the service is killed: its server is adopted, and its clients notice nothing', async () => {
    const dataDir = await newDataDir(who)
    const first = startService(who, dataDir)
    await first.event('ready')
    const inserting = await insertAWhile(who, dataDir)
    const pid = await serverPid(dataDir)
    await first.kill('SIGKILL')
    const second = startService(who, dataDir)
    expect(await second.event('ready')).toMatchObject({ adopted: true })
    expect(await serverPid(dataDir)).toBe(pid)
    const before = lastAcknowledged(inserting)
    await eventually('inserts go on', async () => lastAcknowledged(inserting) > before + 20)
    await inserting.kill('SIGKILL')
    await expectKept(who, dataDir, lastAcknowledged(inserting))
    await second.stop()
    expect(await processesOf(join(dataDir, 'postgres'))).toEqual([])
  })

  test.each(oneForRoot<'alive' | 'ended but not reaped'>('alive', 'ended but not reaped'))(
    'process ids that now belong to another process, %s, do not hold the directory, and nothing happens to it',
    async (kind) => {
      const dataDir = await newDataDir(who)
      const first = startService(who, dataDir)
      await first.event('ready')
      const pid = await serverPid(dataDir)
      await first.kill('SIGKILL')
      process.kill(pid, 'SIGKILL')
      const cluster = join(dataDir, 'postgres')
      await eventually('the children end', async () => (await processesOf(cluster)).length === 0)
      // Of the server's own user: PostgreSQL by itself would take it for a running server.
      const other = await bystander(await stat(cluster), kind)
      const pidFile = join(cluster, 'postmaster.pid')
      const lines = (await readFile(pidFile, 'utf8')).split('\n')
      await writeFile(pidFile, [String(other), ...lines.slice(1)].join('\n'))
      const info = join(dataDir, 'hold.json')
      const holder = JSON.parse(await readFile(info, 'utf8')) as object
      await writeFile(info, JSON.stringify({ ...holder, pid: other }))
      const second = startService(who, dataDir)
      expect(await second.event('ready')).toMatchObject({ adopted: false })
      expect(await commandLine(other)).toBe(kind === 'alive' ? 'sleep 120' : '')
      await second.stop()
    },
  )

  test.each(oneForRoot('initdb as well', 'the service alone'))(
    'creation is interrupted by killing %s: the next start begins again',
    async (what) => {
      const dataDir = await emptyDataDir(who)
      const first = startService(who, dataDir)
      const unfinished = await eventually('initdb is at work', async () => {
        const names = await readdir(dataDir).catch(() => [])
        const name = names.find((one) => one.startsWith('postgres.new-'))
        if (!name) return null
        const inside = await readdir(join(dataDir, name)).catch((): string[] => [])
        return inside.includes('global') ? join(dataDir, name) : null
      })
      await first.kill('SIGKILL')
      expect(await readdir(dataDir)).not.toContain('postgres')
      // It may have ended by itself meanwhile, for want of somebody to talk to.
      if (what !== 'the service alone')
        for (const pid of await processesOf(unfinished)) signal(pid, 'SIGKILL')
      const second = startService(who, dataDir)
      expect(await second.event('ready')).toMatchObject({ adopted: false })
      expect((await readdir(dataDir)).filter((name) => name.startsWith('postgres.new-'))).toEqual([])
      expect(await query(who, dataDir, 'select 1 as one')).toEqual([{ one: 1 }])
      await second.stop()
    },
  )
})

// What does not depend on whose the files and the processes are.
describe('as an ordinary user', () => {
  const who = ordinary

  test('an adopted server that is killed is reported', async () => {
    const dataDir = await newDataDir(who)
    const first = startService(who, dataDir, { flags: ['--idle'] })
    await first.ended
    const second = startService(who, dataDir)
    expect(await second.event('ready')).toMatchObject({ adopted: true })
    process.kill(await serverPid(dataDir), 'SIGKILL')
    expect((await second.event('lost')).reason).toMatch(/^PostgreSQL ended/)
    await second.stop()
  })

  test('the service is killed, and the next one would set the server otherwise: it is started anew', async () => {
    const dataDir = await newDataDir(who)
    const first = startService(who, dataDir)
    await first.event('ready')
    const inserting = await insertAWhile(who, dataDir)
    const pid = await serverPid(dataDir)
    await first.kill('SIGKILL')
    const path = join(dataDir, 'embedded.json')
    const state = JSON.parse(await readFile(path, 'utf8')) as object
    await writeFile(path, JSON.stringify({ ...state, fingerprint: 'of an earlier release' }))
    const second = startService(who, dataDir)
    expect(await second.event('ready')).toMatchObject({ adopted: false })
    expect(await serverPid(dataDir)).not.toBe(pid)
    await inserting.ended
    await expectKept(who, dataDir, lastAcknowledged(inserting))
    await second.stop()
  })

  test('the server is killed while a child is stuck: the service is told, and the next start waits for the child', async () => {
    const dataDir = await newDataDir(who)
    const first = startService(who, dataDir)
    await first.event('ready')
    const inserting = await insertAWhile(who, dataDir)
    const stuck = startQuery(who, dataDir, ['select pg_sleep(60)'])
    await stuck.event('started')
    const cluster = join(dataDir, 'postgres')
    // One that is stopped does not notice that its server is gone.
    await eventually('it is stuck', async () => {
      for (const pid of await processesOf(cluster))
        if ((await commandLine(pid)).endsWith(' SELECT')) {
          signal(pid, 'SIGSTOP')
          return true
        }
      return false
    })
    process.kill(await serverPid(dataDir), 'SIGKILL')
    expect((await first.event('lost')).reason).toMatch(/^PostgreSQL ended by SIGKILL/)
    expect((await processesOf(cluster)).length).toBeGreaterThan(0)
    await first.stop()
    const second = startService(who, dataDir)
    expect(await second.event('ready')).toMatchObject({ adopted: false })
    expect(second.events.map(({ message }) => message)).toContain(
      'ending what an earlier PostgreSQL left running',
    )
    await inserting.ended
    await expectKept(who, dataDir, lastAcknowledged(inserting))
    await stuck.ended
    await second.stop()
  })

  test('both are killed, twice over: nothing acknowledged is lost', async () => {
    const dataDir = await newDataDir(who)
    let acknowledged = 0
    for (let round = 0; round < 2; round++) {
      const service = startService(who, dataDir)
      expect(await service.event('ready')).toMatchObject({ adopted: false })
      if (round > 0) {
        await expectKept(who, dataDir, acknowledged)
        await query(who, dataDir, 'truncate kept')
      }
      const inserting = await insertAWhile(who, dataDir)
      const pid = await serverPid(dataDir)
      await service.kill('SIGKILL')
      process.kill(pid, 'SIGKILL')
      await inserting.ended
      acknowledged = lastAcknowledged(inserting)
    }
    const last = startService(who, dataDir)
    await last.event('ready')
    await expectKept(who, dataDir, acknowledged)
    await last.stop()
  })

  test('of several that race for the directory of a killed service, one gets it and the others say which', async () => {
    const dataDir = await newDataDir(who)
    const first = startService(who, dataDir)
    await first.event('ready')
    await first.kill('SIGKILL')
    const racers = [1, 2, 3, 4].map(() => startService(who, dataDir))
    const outcomes = await Promise.all(
      racers.map(async (racer) => Promise.any([racer.event('ready'), racer.event('refused')])),
    )
    expect(outcomes.map(({ event }) => event).sort()).toEqual(['ready', 'refused', 'refused', 'refused'])
    const winner = racers[outcomes.findIndex(({ event }) => event === 'ready')]!
    for (const { event, message } of outcomes)
      if (event === 'refused') expect(message).toContain(`is in use by process ${winner.pid} (`)
    await winner.stop()
  })
})
