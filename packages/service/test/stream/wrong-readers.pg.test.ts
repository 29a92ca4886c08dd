/**
 * Proof that the checks of this folder can fail: readers and writers that are wrong in the ways that the feed and
 * the commit function are built against, and the same follower that the other tests trust finds them out.
 */
import { expect, test } from 'vitest'
import {
  checkpointOf,
  differences,
  type FollowedPage,
  feedReader,
  follow,
  place,
  recordOf,
  tableRecords,
} from '../../../testbed/follower.ts'
import { type TestJournal, testJournal } from '../../../testbed/journal.ts'
import { lockRow, waitingBackends } from '../../../testbed/locks.ts'
import { unshared } from '../../src/db/fair-pool.ts'
import type { SchemaFunction } from '../../src/db/migration.ts'
import { customer } from '../../src/desk/customer/index.ts'
import { createFeed } from '../../src/journal/feed.ts'
import { schemaOf } from '../../src/schema.ts'

/** Reads rows and removals in two statements; `between` is what happens to commit in the gap. */
function twoStatements(journal: TestJournal, between: () => Promise<unknown>) {
  const read = async (which: string, after: string) => {
    const { rows } = await journal.pool.query<{ body: string }>(
      `select c.body from customers c where c.organization_id = $1 and c.removed_at is ${which}
         and to_char(c.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || ' ' || c.id > $2`,
      [journal.organizationId, after],
    )
    return rows.map(({ body }) => recordOf(body))
  }
  return async (cursor: string | null): Promise<FollowedPage<string>> => {
    const existing = await read('null', cursor ?? '')
    await between()
    const removed = await read('not null', cursor ?? '')
    const records = [...existing, ...removed].sort((a, b) => (place(a) < place(b) ? -1 : 1))
    const last = records.at(-1)
    return { records, next: last === undefined ? (cursor ?? '') : place(last), checkpoint: null }
  }
}

/** A row to change and a row to remove, each in a commit of its own, in this order, once. */
async function changeThenRemove(journal: TestJournal): Promise<() => Promise<void>> {
  const { decide, organizationId } = journal
  const changed = await journal.done(decide.customer.create(organizationId, { name: 'changed' }))
  const removed = await journal.done(decide.customer.create(organizationId, { name: 'removed' }))
  let done = false
  return async () => {
    if (done) return
    done = true
    await journal.done(decide.customer.update(organizationId, changed, { name: 'changed again' }))
    await journal.done(decide.customer.remove(organizationId, removed))
  }
}

test('a reader of two statements loses what commits between them, and is found out', async () => {
  await using journal = await testJournal()
  const between = await changeThenRemove(journal)
  const follower = follow(twoStatements(journal, between))
  await follower.poll()
  await follower.poll()
  const table = await tableRecords(journal.pool, 'customers', journal.organizationId)
  expect(differences(follower.copy, table)).toEqual([expect.stringMatching(/^stale /)])
})

test('the feed, read at the same moments, loses nothing', async () => {
  await using journal = await testJournal()
  const between = await changeThenRemove(journal)
  const read = feedReader(createFeed(unshared(journal.pool), customer.table), journal.organizationId, 100)
  const follower = follow(async (cursor: Parameters<typeof read>[0]) => {
    const page = await read(cursor)
    await between()
    return page
  })
  await follower.poll()
  await follower.poll()
  const table = await tableRecords(journal.pool, 'customers', journal.organizationId)
  expect(differences(follower.copy, table)).toEqual([])
  expect(follower.faults).toEqual([])
})

/**
 * Two processes commit, the first is held up between its stamp and its commit, a follower reads whatever there
 * is, and then the first goes on. Answers with what the follower makes of it.
 */
async function overtaking(journal: TestJournal, commitFunction: SchemaFunction, waiting: number) {
  const { pool, clock, decide, organizationId } = journal
  const slow = await journal.done(decide.customer.create(organizationId, { name: 'slow' }))
  const quick = await journal.done(decide.customer.create(organizationId, { name: 'quick' }))
  const follower = follow(feedReader(createFeed(unshared(pool), customer.table), organizationId, 100))
  await follower.drain()

  await using lock = await lockRow(journal.database, 'customers', { organizationId, id: slow.id })
  clock.advance(1000)
  const first = journal
    .beside({ commitFunction })
    .commit(organizationId, await decide.customer.update(organizationId, slow, { name: 'slow 2' }))
  await waitingBackends(journal.database, 1)
  clock.advance(1000)
  const second = journal
    .beside({ commitFunction })
    .commit(organizationId, await decide.customer.update(organizationId, quick, { name: 'quick 2' }))
  // The second has either committed, or waits behind the first.
  await (waiting === 1 ? second : waitingBackends(journal.database, waiting))
  await follower.drain()
  await lock.release()
  const outcomes = (await Promise.all([first, second])).map(({ outcome }) => outcome)
  expect(outcomes).toEqual(['done', 'done'])
  await follower.drain()
  return [
    ...follower.faults,
    ...differences(follower.copy, await tableRecords(pool, 'customers', organizationId)),
  ]
}

/** The commit function, held up for as long as a test needs, where it would otherwise be started over. */
function waitingFunction(edit: (definition: string) => string = (definition) => definition): SchemaFunction {
  const { name, definition } = schemaOf().commitFunction
  const haste = 'p_limits.lock_timeout, true'
  expect(definition).toContain(haste)
  const waitsForLock = `${name}_waits`
  const text = edit(definition).replace(haste, "'0', true").replaceAll(name, waitsForLock)
  return { name: waitsForLock, definition: text }
}

test('without the lock on the clock a later stamp commits first, and is found out', async () => {
  await using journal = await testJournal()
  const lock =
    /(from organization_clocks c\s+where c\.organization_id = p_organization_id) for no key update;/
  const unlocked = waitingFunction((definition) => {
    expect(definition).toMatch(lock)
    return definition.replace(lock, '$1;')
  })
  await journal.pool.query(unlocked.definition)
  const problems = await overtaking(journal, unlocked, 1)
  expect(problems).toContainEqual(expect.stringMatching(/^stale /))
})

test('with it, no commit overtakes another', async () => {
  await using journal = await testJournal()
  const locked = waitingFunction()
  await journal.pool.query(locked.definition)
  expect(await overtaking(journal, locked, 2)).toEqual([])
})

test('a copy that repeats, reorders or invents is found out', async () => {
  const row = (id: string, at: string) => recordOf(JSON.stringify({ object: 'customer', id, updatedAt: at }))
  const [a, b] = [row('a', '2026-01-01T00:00:00.001Z'), row('b', '2026-01-01T00:00:00.002Z')]
  const faults = async (...records: ReturnType<typeof row>[]) => {
    const follower = follow(async () => ({ records, next: '', checkpoint: checkpointOf([a.body, b.body]) }))
    await follower.drain()
    return [...follower.faults, ...differences(follower.copy, [a, b])]
  }
  expect(await faults(a, b)).toEqual([])
  expect(await faults(a, a, b)).toHaveLength(1)
  expect(await faults(b, a)).toHaveLength(1)
  expect(await faults(a, b, row('c', '2026-01-01T00:00:00.003Z'))).toHaveLength(2)
  expect(await faults(b)).toEqual([expect.stringMatching(/^holds /), 'missing a'])
})
