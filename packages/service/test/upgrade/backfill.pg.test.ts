/** The backfill: rows of earlier releases are upgraded beside writers and readers, in turns, and whatever is killed. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import { tableRecords } from '../../../testbed/follower.ts'
import { lockRow } from '../../../testbed/locks.ts'
import type { Answer } from '../../../testbed/service.ts'
import type { State } from '../../src/kinds/model/kind.ts'
import { deskWith, parcelRenamed, parcelWithUrgency } from './parcel.fixture.ts'
import {
  backfillOf,
  bytesWithoutStamp,
  counted,
  followParcels,
  makeParcels,
  startRelease,
  versionsOf,
} from './releases.fixture.ts'

test('writers of two releases and followers go on while rows are upgraded: copies stay exact, and no bytes change without their stamp', async () => {
  await using releases = await startRelease()
  const { pool } = releases.database
  const older = releases.api
  const ids = await makeParcels(older, 1_000, (n) => ({
    title: `P ${n}`,
    colour: 'red',
    externalId: `p-${n}`,
  }))
  const followers = [followParcels(older, 100)]
  for (const follower of followers) await follower.drain()
  const { api, backfill } = await releases.upgradeTo(parcelRenamed)
  followers.push(followParcels(api, 37))

  let going = true
  const answers = new Map<string, number>()
  let patched = 0
  const acknowledged: { id: string; at: string; body: string }[] = []
  const note = ({ status, text, json }: Answer) => {
    const answer = `${status}${status < 400 ? '' : ` ${json.code}`}`
    answers.set(answer, (answers.get(answer) ?? 0) + 1)
    if (status < 300 && status !== 204) acknowledged.push({ id: json.id, at: json.updatedAt, body: text })
  }
  const patchedBy = (answer: Answer) => {
    if (answer.status === 200) patched++
    note(answer)
  }
  const pick = () => ids[Math.floor(Math.random() * ids.length)]
  const writers = [
    async (n: number) => patchedBy(await older.patch(`/v1/parcels/${pick()}`, { title: `older ${n}` })),
    async (n: number) => note(await older.post('/v1/parcels', { title: `older new ${n}` })),
    async (n: number) => patchedBy(await api.patch(`/v1/parcels/${pick()}`, { name: `newer ${n}` })),
    async (n: number) => note(await api.post('/v1/parcels', { name: `newer new ${n}` })),
    async () => note(await older.delete(`/v1/parcels/${pick()}`)),
    async () => note(await api.get(`/v1/parcels/${pick()}`)),
  ].map(async (write) => {
    for (let n = 0; going; n++) await write(n)
  })
  const readers = followers.map(async (follower) => {
    while (going) await follower.poll()
  })
  await backfill.run()
  going = false
  await Promise.all([...writers, ...readers])
  // What the older process has made behind it.
  await backfill.run()
  expect(Object.keys(await versionsOf(pool))).toEqual(['3'])
  expect([...answers.keys()].sort()).toEqual(
    ['200', '201', '204', '404 not_found', '503 unavailable'].filter((answer) => answers.has(answer)),
  )
  for (const answer of ['200', '201', '503 unavailable']) expect(answers.get(answer)).toBeGreaterThan(0)

  const existing = (await tableRecords(pool, 'parcels', older.organizationId)).filter(
    ({ removed }) => !removed,
  )
  for (const follower of followers) {
    await follower.drain()
    expect(follower.faults).toEqual([])
    expect([...follower.copy.values()].sort()).toEqual(existing.map(({ body }) => body).sort())
  }
  expect(bytesWithoutStamp([...followers.flatMap(({ seen }) => seen), ...acknowledged])).toEqual([])
  for (const { body } of existing) {
    const shown = JSON.parse(body)
    expect(Object.keys(shown)).toEqual(expect.arrayContaining(['urgent', 'name', 'ownerId']))
    expect(Object.keys(shown).filter((name) => ['title', 'colour', 'customerId'].includes(name))).toEqual([])
  }
  // The last that a writer was told of a row is in it, whichever release told.
  const last = new Map(acknowledged.sort((a, b) => (a.at < b.at ? -1 : 1)).map((one) => [one.id, one]))
  for (const { id, body } of existing) {
    const told = last.get(id)
    if (told === undefined) continue
    const shown = JSON.parse(told.body)
    expect(JSON.parse(body).name).toBe(shown.name ?? shown.title)
  }
  const { live, liveReal, bytes, bytesReal } = (await counted(pool, older.organizationId))!
  expect([live, bytes]).toEqual([liveReal, bytesReal])
  const events = await pool.query<{ type: string; count: number }>(
    'select e.type, count(*)::int as count from events e where e.organization_id = $1 group by e.type',
    [older.organizationId],
  )
  // Each edit has one, and the backfill made none.
  expect(events.rows.find(({ type }) => type === 'parcel.updated')?.count).toBe(patched)
})

test('organizations take turns, a piece each', async () => {
  await using releases = await startRelease()
  const { pool } = releases.database
  const small = await releases.older.newOrganization()
  await makeParcels(releases.api, 200)
  await makeParcels(small, 40)
  const { backfill } = await releases.upgradeTo(parcelWithUrgency)
  expect(await backfill.run()).toBe(240)
  const { rows } = await pool.query<{ organization_id: string }>(
    `select p.organization_id from parcels p group by p.organization_id, p.updated_at order by min(p.updated_at), 1`,
  )
  const done = rows.map(({ organization_id }) => organization_id)
  const lastOfSmall = done.lastIndexOf(small.organizationId)
  expect(
    done.slice(0, lastOfSmall).filter((id) => id === releases.api.organizationId).length,
  ).toBeLessThanOrEqual(2)
  expect(done.filter((id) => id === releases.api.organizationId)).toHaveLength(7)
})

test('an organization whose clock is held holds up no other, and has its turn when that is free', async () => {
  await using releases = await startRelease()
  const { pool } = releases.database
  const other = await releases.older.newOrganization()
  await makeParcels(releases.api, 40)
  await makeParcels(other, 40)
  const { backfill } = await releases.upgradeTo(parcelWithUrgency)
  {
    await using _held = await lockRow(releases.database, 'organization_clocks', releases.api)
    expect(await backfill.run()).toBe(40)
    expect(await versionsOf(pool)).toEqual({ 1: 40, 2: 40 })
  }
  expect(await backfill.run()).toBe(40)
  expect(await versionsOf(pool)).toEqual({ 2: 80 })
})

test('one process at a time does it', async () => {
  await using releases = await startRelease()
  const { pool } = releases.database
  await makeParcels(releases.api, 100)
  const { backfill } = await releases.upgradeTo(parcelWithUrgency)
  const beside = backfillOf(pool, deskWith(parcelWithUrgency))
  const both = await Promise.all([backfill.run(), beside.run()])
  expect(both.sort()).toEqual([0, 100])
  expect(await backfill.run()).toBe(0)
})

test('a row that the upgrades fail on is told of and left, and others go on', async () => {
  await using releases = await startRelease()
  await makeParcels(releases.api, 50, (n) => ({ title: n === 10 ? 'bad' : `P ${n}` }))
  const { logged } = await releases.upgradeTo(parcelWithUrgency)
  const [toSecond] = parcelWithUrgency.upgrades
  const failing = {
    ...parcelWithUrgency,
    upgrades: [(shown: State) => (shown.title === 'bad' ? shown : (toSecond?.(shown) ?? shown))],
  }
  const backfill = backfillOf(releases.database.pool, deskWith(failing), logged as string[])
  expect(await backfill.run()).toBe(49)
  expect(logged).toContain('a row cannot be upgraded')
  expect(await versionsOf(releases.database.pool)).toEqual({ 1: 1, 2: 49 })
})

test('a row whose new value is another row’s is told of and left', async () => {
  await using releases = await startRelease()
  await makeParcels(releases.api, 2, (n) => ({ title: `P ${n}`, externalId: `p-${n}` }))
  const { logged } = await releases.upgradeTo(parcelWithUrgency)
  const [toSecond] = parcelWithUrgency.upgrades
  const alike = {
    ...parcelWithUrgency,
    upgrades: [(shown: State) => ({ ...toSecond?.(shown), externalId: 'the same' })],
  }
  const backfill = backfillOf(releases.database.pool, deskWith(alike), logged as string[])
  expect(await backfill.run()).toBe(1)
  expect(logged).toContain('a row cannot be upgraded')
  expect(await versionsOf(releases.database.pool)).toEqual({ 1: 1, 2: 1 })
})

test('of rows that cannot be upgraded the log tells of ten', async () => {
  await using releases = await startRelease()
  await makeParcels(releases.api, 40)
  await releases.upgradeTo(parcelWithUrgency)
  const logged: string[] = []
  const failing = { ...parcelWithUrgency, upgrades: [(shown: State) => shown] }
  expect(await backfillOf(releases.database.pool, deskWith(failing), logged).run()).toBe(0)
  expect(logged.filter((line) => line === 'a row cannot be upgraded')).toHaveLength(10)
})

test('it ends between two pieces when it is told to', async () => {
  await using releases = await startRelease()
  const { pool } = releases.database
  await makeParcels(releases.api, 1_600)
  const { backfill } = await releases.upgradeTo(parcelWithUrgency)
  const told = new AbortController()
  const running = backfill.run(told.signal)
  await eventually('it is under way', async () => ((await versionsOf(pool))[2] ?? 0) > 0)
  told.abort()
  await expect(running).rejects.toThrow()
  const { 1: left, 2: upgraded } = await versionsOf(pool)
  expect(left).toBeGreaterThan(0)
  // The session that had the lock ends a moment later; until then somebody is at it.
  let rest = 0
  await eventually('it goes on', async () => {
    rest = await backfill.run()
    return rest > 0
  })
  expect(rest).toBe(left)
  expect(await versionsOf(pool)).toEqual({ 2: 1_600 })
  expect(upgraded! % 32).toBe(0)
})

test('kill -9 at any moment does no harm: the next one goes on', async () => {
  await using releases = await startRelease()
  const { pool, connection } = releases.database
  await makeParcels(releases.api, 2_000)
  const follower = followParcels(releases.api)
  await follower.drain()
  const { api } = await releases.upgradeTo(parcelWithUrgency)
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'backfill.program.ts'), JSON.stringify(connection)],
    { stdio: 'inherit' },
  )
  const ended = once(child, 'exit')
  await eventually('it is under way', async () => ((await versionsOf(pool))[2] ?? 0) > 0)
  child.kill('SIGKILL')
  await ended
  await follower.drain()
  const { 1: left } = await versionsOf(pool)
  expect(left).toBeGreaterThan(0)
  await eventually('the lock of the dead is free', async () => {
    const locks = await pool.query(`select 1 from pg_locks l join pg_database d on d.oid = l.database
         where l.locktype = 'advisory' and d.datname = current_database()`)
    return locks.rows.length === 0
  })
  expect(await backfillOf(pool, deskWith(parcelWithUrgency)).run()).toBe(left)
  expect(await versionsOf(pool)).toEqual({ 2: 2_000 })
  await follower.drain()
  expect(follower.faults).toEqual([])
  expect(bytesWithoutStamp(follower.seen)).toEqual([])
  expect(follower.copy.size).toBe(2_000)
  const fresh = followParcels(api)
  await fresh.drain()
  expect(new Map(fresh.copy)).toEqual(new Map(follower.copy))
  expect(await counted(pool, releases.api.organizationId)).toMatchObject({ live: '2000', liveReal: '2000' })
})
