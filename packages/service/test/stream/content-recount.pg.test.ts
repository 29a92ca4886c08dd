/** Content digests of rows that nobody counted: recounted beside writers, and never told of while they are not known. */
import type { Logger } from 'pino'
import { expect, test } from 'vitest'
import { unshared } from '../../src/db/fair-pool.ts'
import type { SchemaFunction } from '../../src/db/migration.ts'
import { customer } from '../../src/desk/customer/index.ts'
import { kinds } from '../../src/desk/index.ts'
import type { Change } from '../../src/journal/change.ts'
import { encodeUnits } from '../../src/journal/commit-call.ts'
import { commitFunction } from '../../src/journal/commit-function.ts'
import { createContentRecount } from '../../src/journal/content-recount.ts'
import { createFeed } from '../../src/journal/feed.ts'
import { formatTimestamp } from '../../src/kernel/timestamps.ts'
import { startWorker } from '../../src/roles/worker.ts'
import { audit } from '../harness/audit.ts'
import { deliverySettings } from '../harness/delivery-settings.ts'
import { makeCustomer } from '../harness/desk.ts'
import { beginning, syncPage } from '../harness/drain.ts'
import { feedReader, follow } from '../harness/follower.ts'
import { type TestJournal, testJournal, withoutWorkers } from '../harness/journal.ts'
import { eventually, waitingBackends } from '../harness/locks.ts'
import { testService } from '../harness/service.ts'

const tables = kinds.map(({ table }) => table)
const current = commitFunction(tables)

/** The commit function of a release that keeps no content digest, and does not count what is stored. */
const earlier: SchemaFunction = {
  name: 'commit_of_an_earlier_release',
  definition: current.definition
    .replaceAll(current.name, 'commit_of_an_earlier_release')
    .replace(/with stored as \(\s+(insert into idempotency_keys[^;]*?)\s+returning coalesce[^;]*;/, '$1;')
    .replaceAll(/,\s+content_digest, content_of_digest\)/g, ')')
    .replaceAll(', v_content, v_digest)', ')')
    .replaceAll(/\s+content_digest = case[^;]*?(?=\s+stored_bytes = )/g, '')
    .replaceAll(/digest, stored_bytes,|v_digest, v_bytes,/g, (both) => both.replace(/ \w+,$/, ''))
    .replaceAll(/\s+(stored_bytes|removed_count) = c\.[^;]*?,(?=\n)/g, ''),
}

async function withEarlierRelease() {
  const journal = await testJournal()
  await journal.pool.query(earlier.definition)
  const log = { info: () => {}, warn: () => {} }
  return {
    journal,
    older: journal.beside({ commitFunction: earlier }),
    recount: createContentRecount({ pool: journal.pool, tables, log }),
    checkpoint: () => checkpointOf(journal),
    [Symbol.asyncDispose]: () => journal[Symbol.asyncDispose](),
  }
}

async function checkpointOf({ pool, organizationId }: TestJournal) {
  const feed = createFeed(unshared(pool), customer.table)
  const start = { from: 'watermark', updatedAfter: Date.UTC(2100, 0), organizationCreatedAt: 0 } as const
  const read = await feed.page(organizationId, start, 10)
  return read.outcome === 'page' ? read.page.checkpoint : null
}

test('the function of the earlier release knows nothing of contents, and counts nothing that is stored', () => {
  expect(earlier.definition).not.toMatch(
    /content_of_digest|content_recount|content_digest|stored_bytes = |removed_count/,
  )
})

test('rows of an earlier release are counted once, with those that came since', async () => {
  await using it = await withEarlierRelease()
  const { journal, older, recount } = it
  const { decide, organizationId } = journal
  for (let n = 0; n < 20; n++) {
    await older.commit(organizationId, await decide.customer.create(organizationId, { name: `older ${n}` }))
  }
  expect(await it.checkpoint()).toMatchObject({ count: 20, contentDigest: null })
  const row = await journal.done(decide.customer.create(organizationId, { name: 'newer' }))
  const newest = await journal.done(decide.customer.update(organizationId, row, { name: 'newest' }))
  expect(await it.checkpoint()).toMatchObject({ count: 21, contentDigest: null })
  expect(await recount.run()).toBe(1)
  expect((await it.checkpoint())?.contentDigest).toMatch(/^[0-9a-f]{16}$/)
  expect(await audit(journal.pool, organizationId)).toEqual([])
  expect(await recount.run()).toBe(0)
  // Whatever an older process does then is noticed, and counted again.
  await older.commit(organizationId, await decide.customer.create(organizationId, { name: 'late' }))
  await older.commit(organizationId, await decide.customer.remove(organizationId, newest))
  expect((await it.checkpoint())?.contentDigest).toBeNull()
  expect(await recount.run()).toBe(1)
  expect(await audit(journal.pool, organizationId)).toEqual([])
})

test.each([
  ['keeps no content digest breaks it off', earlier, 0],
  ['keeps them is added', current, 1],
])('what commits between reading and adding: of a release that %s', async (_, called, counted) => {
  await using it = await withEarlierRelease()
  const { journal, older, recount } = it
  const { pool, decide, organizationId, clock } = journal
  const create = (name: string) => decide.customer.create(organizationId, { name })
  await older.commit(organizationId, await create('old'))
  await journal.done(create('new'))
  const client = await pool.connect()
  await client.query('begin')
  const options = { maxAttempts: withoutWorkers.maxAttempts, waitsForLock: false, maxClockSkew: null }
  const units = [{ changes: [(await create('between')) as Change] }]
  await client.query(`select ${called.name}($1, $2, $3)`, [
    organizationId,
    formatTimestamp(clock.now()),
    encodeUnits(units, options),
  ])
  const running = recount.run()
  await waitingBackends(journal.database, 1)
  await client.query('commit')
  client.release()
  expect(await running).toBe(counted)
  if (counted === 0) expect((await it.checkpoint())?.contentDigest).toBeNull()
  await recount.run()
  expect(await audit(pool, organizationId)).toEqual([])
})

test('beside writers of both releases no checkpoint is wrong, and the last count knows', async () => {
  await using it = await withEarlierRelease()
  const { journal, older, recount } = it
  const { pool, decide, organizationId } = journal
  const followers = kinds.map(({ table }) =>
    follow(feedReader(createFeed(unshared(pool), table), organizationId, 50)),
  )
  let going = true
  const write = async (by: typeof older, name: string) => {
    for (let n = 0; going; n++) {
      await by.commit(organizationId, await decide.customer.create(organizationId, { name: `${name} ${n}` }))
    }
  }
  const writers = [write(older, 'older'), write(journal.beside(), 'newer')]
  const following = followers.map(async (follower) => {
    while (going) await follower.poll()
  })
  for (let n = 0; n < 6; n++) await recount.run()
  going = false
  await Promise.all([...writers, ...following])
  await recount.run()
  for (const follower of followers) {
    await follower.drain()
    expect(follower.faults).toEqual([])
  }
  expect((await it.checkpoint())?.contentDigest).not.toBeNull()
  expect(await audit(pool, organizationId)).toEqual([])
})

test('one process counts at a time', async () => {
  await using it = await withEarlierRelease()
  const { journal, older, recount } = it
  const { pool, decide, organizationId } = journal
  await older.commit(organizationId, await decide.customer.create(organizationId, { name: 'x' }))
  const counted = await Promise.all(Array.from({ length: 3 }, () => recount.run()))
  expect(counted.reduce((sum, one) => sum + one, 0)).toBe(1)
  expect(await audit(pool, organizationId)).toEqual([])
})

test('a worker counts by itself', async () => {
  await using service = await testService()
  const { api, database, app } = service
  await makeCustomer(api)
  const read = async () =>
    (await syncPage(api, '/v1/customers', beginning)).pagination.checkpoint?.contentDigest ?? null
  const known = await read()
  // As a migration leaves them.
  await database.pool.query('update kind_counters set content_digest = null, content_of_digest = null')
  expect(await read()).toBeNull()
  const worker = startWorker({
    address: database.connection,
    log: app.server.log as Logger,
    settings: deliverySettings,
    summaries: null,
  })
  try {
    await eventually('it is counted', async () => (await read()) === known)
  } finally {
    await worker.stop()
  }
})
