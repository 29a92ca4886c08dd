/** The commit function itself: its text, several releases of it, and what it counts. */

import type { NoticeMessage } from 'pg-protocol/dist/messages.js'
import { expect, test } from 'vitest'
import { audit, eventsOf } from '../../../testbed/audit.ts'
import { idempotencyRecord } from '../../../testbed/decide.ts'
import { testJournal } from '../../../testbed/journal.ts'
import { lockRow, waitingBackends } from '../../../testbed/locks.ts'
import { provideFunctions } from '../../src/db/migrate.ts'
import { isNotServed, notServedCode } from '../../src/db/not-served.ts'
import { commitDelivery } from '../../src/delivery/queue/functions.ts'
import { customer } from '../../src/desk/customer/index.ts'
import { kinds } from '../../src/desk/index.ts'
import { contentTerm, digestTerm } from '../../src/journal/body.ts'
import { commitFunctions } from '../../src/journal/commit-function.ts'
import { encodeUnits } from '../../src/journal/commit-protocol.ts'
import { newId } from '../../src/kernel/ids.ts'
import { refused } from '../../src/kernel/outcome.ts'
import { formatTimestamp } from '../../src/kernel/timestamps.ts'
import { parseRepresentation, updateChange } from '../../src/kinds/model/representation.ts'
import { schemaOf } from '../../src/schema.ts'

const tables = kinds.map(({ table }) => table)
const delivery = commitDelivery(tables)
const { commit, functions } = commitFunctions(tables, delivery)

test('the same tables give the same texts, under names that carry their hashes', () => {
  expect(commitFunctions(structuredClone(tables), delivery)).toEqual({ commit, functions })
  const [first, ...others] = tables
  const changed = { ...first!, columns: [...first!.columns, { name: 'extra', type: 'text' }] }
  const other = commitFunctions([changed, ...others], delivery)
  expect(other.commit.name).not.toBe(commit.name)
  const renamed = functions.filter(({ name }) => other.functions.every((one) => one.name !== name))
  expect(renamed.map(({ name }) => name.replace(/_[0-9a-f]{12}$/, '')).sort()).toEqual(
    ['commit', `delete_${first!.kind}`, `write_${first!.kind}`].sort(),
  )
})

test('every statement names its columns, and the organization of every table in it', async () => {
  await using journal = await testJournal()
  const { rows } = await journal.pool.query<{ table_name: string }>(
    `select c.table_name from information_schema.columns c
       where c.table_schema = 'public' and c.column_name = 'organization_id'`,
  )
  const stored = rows.map((row) => row.table_name)
  expect(stored).toEqual(expect.arrayContaining(tables.map((table) => table.name)))
  const text = functions.map(({ definition }) => definition.replaceAll(/--.*/g, '')).join(';\n')
  expect(text.replaceAll(/count\(\*\)|'\*'/g, '')).not.toContain('*')
  const mentions = new RegExp(
    `\\b(?:from|join|update|into|using) (${stored.join('|')})\\b(?: as)?( \\w+)?`,
    'g',
  )
  let found = 0
  for (const statement of text.split(';')) {
    for (const [mention, table, alias] of statement.matchAll(mentions)) {
      found++
      if (mention.startsWith('into')) {
        expect(statement).toMatch(new RegExp(`into ${table}(?: as \\w+)?\\s+\\(organization_id, `))
        expect(statement).toMatch(/(?:select|values \()\s*p_organization_id,/)
      } else {
        const named = ['set', 'where', undefined].includes(alias?.trim()) ? '' : `${alias?.trim()}\\.`
        expect(statement).toMatch(new RegExp(`\\b${named}organization_id = (?:p_|\\w+\\.)organization_id`))
      }
    }
  }
  expect(found).toBeGreaterThan(40)
})

test('a change of one row without checks runs four statements', async () => {
  await using journal = await testJournal()
  const { pool, decide, organizationId, clock } = journal
  const { id } = await journal.done(decide.customer.create(organizationId, { name: 'Ada' }))
  const [{ body, updated_at } = { body: '', updated_at: new Date(0) }] = (
    await pool.query<{ body: string; updated_at: Date }>(
      'select c.body, c.updated_at from customers c where c.organization_id = $1 and c.id = $2',
      [organizationId, id],
    )
  ).rows
  const row = { body, updatedAt: formatTimestamp(updated_at.getTime()), version: customer.table.version }
  const state = { ...parseRepresentation(customer, row).state, locale: 'en-GB' }
  const change = updateChange(customer, clock, row, state, null)!
  // The connection that the creation has used, so that the next one is new.
  const used = await pool.connect()
  const client = await pool.connect()
  const statements = new Set<string>()
  // PostgreSQL tells of each that it plans, and all are planned by the first call of a connection.
  const note = ({ where = '' }: NoticeMessage) => {
    const [statement] = where.split('\n')
    if (statement?.startsWith('SQL statement')) statements.add(where)
  }
  client.on('notice', note)
  try {
    await client.query('set debug_print_plan = on')
    await client.query('set client_min_messages = log')
    const { limits, changes, heads } = encodeUnits([{ changes: [change] }], {
      maxAttempts: 6,
      waitsForLock: false,
      maxClockSkew: 60_000,
    })
    const now = formatTimestamp(clock.now())
    await client.query(`select ${commit.name}($1, $2, $3, $4, $5)`, [
      organizationId,
      now,
      limits,
      changes,
      heads,
    ])
  } finally {
    client.release(true)
    used.release()
  }
  expect([...statements]).toEqual([
    expect.stringContaining('from organization_clocks'),
    expect.stringContaining('from commits'),
    expect.stringContaining('update customers'),
    expect.stringContaining('insert into events'),
  ])
})

test('the functions of two releases commit side by side', async () => {
  await using journal = await testJournal()
  const { pool, organizationId, decide } = journal
  // The earlier release knew no telephone numbers.
  const older = commitFunctions(
    tables.map((table) => ({ ...table, columns: table.columns.filter((column) => column.name !== 'phone') })),
    delivery,
  )
  await provideFunctions(pool, older.functions)
  const earlier = journal.beside({ commitFunction: older.commit })
  const later = journal.beside()
  const changes = await Promise.all(
    Array.from({ length: 40 }, (_, n) => decide.customer.create(organizationId, { name: `c${n}` })),
  )
  const outcomes = await Promise.all(
    changes.map((change, n) => (n % 2 ? earlier : later).commit(organizationId, change)),
  )
  expect(outcomes.filter(({ outcome }) => outcome === 'done')).toHaveLength(40)
  expect(await audit(pool, organizationId)).toEqual([])
  const functions = await pool.query(`select p.proname from pg_proc p where p.proname like 'commit\\_%'`)
  expect(functions.rows.map((row) => row.proname).sort()).toEqual([older.commit.name, commit.name].sort())
})

test('an organization that is gone fails by itself', async () => {
  await using journal = await testJournal()
  const { decide, organizationId, clock } = journal
  const unknown = newId(clock)
  const beside = journal.beside()
  const [lost, kept] = await Promise.allSettled([
    beside.commit(unknown, await decide.customer.create(unknown, { name: 'Nobody' })),
    beside.commit(organizationId, await decide.customer.create(organizationId, { name: 'Ada' })),
  ])
  expect(lost).toMatchObject({
    status: 'rejected',
    reason: { message: `there is no organization ${unknown} any more` },
  })
  expect(isNotServed((lost as PromiseRejectedResult).reason)).toBe(true)
  expect(kept).toMatchObject({ status: 'fulfilled', value: { outcome: 'done' } })
})

test('an organization that another database serves is not written', async () => {
  await using journal = await testJournal()
  const { pool, decide, organizationId } = journal
  const ada = await journal.done(decide.customer.create(organizationId, { name: 'Ada' }))
  await pool.query(`update organization_clocks set away = 'moved' where organization_id = $1`, [
    organizationId,
  ])
  const late = await decide.customer.update(organizationId, ada, { name: 'Grace' })
  await expect(journal.commit(late)).rejects.toMatchObject({ code: notServedCode, detail: 'moved' })
  expect(await eventsOf(pool, organizationId)).toHaveLength(1)
})

test('of twins with one Idempotency-Key that arrive at once in two processes, one is made', async () => {
  await using journal = await testJournal()
  const { pool, decide, organizationId } = journal
  await using lock = await lockRow(journal.database, 'organization_clocks', { organizationId })
  const twins = await Promise.all(
    ['first', 'second'].map((name) =>
      decide.customer.create(organizationId, { name }, idempotencyRecord('twin')),
    ),
  )
  const outcomes = twins.map((change) => journal.beside().commit(organizationId, change))
  // Both have been sent before either can look for the key.
  await waitingBackends(journal.database, 2)
  await lock.release()
  const told = (await Promise.all(outcomes)).map(({ outcome }) => outcome)
  expect(told.sort()).toEqual(['done', 'replayed'])
  expect(await eventsOf(pool, organizationId)).toHaveLength(1)
  const [third] = await journal.commit(
    await decide.customer.create(organizationId, { name: 'third' }, idempotencyRecord('twin')),
  )
  expect(third).toEqual({ outcome: 'replayed' })
})

test('a refused change keeps no answer: its key is free', async () => {
  await using journal = await testJournal()
  const { decide, organizationId, clock } = journal
  const key = idempotencyRecord('again')
  const nobody = await decide.ticket.create(organizationId, { subject: 's', customerId: newId(clock) }, key)
  expect(await journal.commit(nobody)).toEqual([refused({ reason: 'dangling', field: 'customerId' })])
  const { id } = await journal.done(decide.customer.create(organizationId, { name: 'Ada' }))
  await journal.done(decide.ticket.create(organizationId, { subject: 's', customerId: id }, key))
  // A day later it is forgotten.
  clock.advance(24 * 3_600_000)
  await journal.done(decide.ticket.create(organizationId, { subject: 's', customerId: id }, key))
})

test('numbers have no gaps: not from several processes, nor from what is refused or removed', async () => {
  await using journal = await testJournal()
  const { pool, decide, organizationId, clock } = journal
  const { id } = await journal.done(decide.customer.create(organizationId, { name: 'Ada' }))
  const writers = [1, 2, 3, 4].map(() => journal.beside())
  const wanted = Array.from({ length: 80 }, (_, n) =>
    decide.ticket.create(organizationId, { subject: `s${n}`, customerId: n % 5 === 0 ? newId(clock) : id }),
  )
  const outcomes = await Promise.all(
    (await Promise.all(wanted)).map((change, n) => writers[n % 4]!.commit(organizationId, change)),
  )
  const bodies = outcomes.flatMap((outcome) =>
    outcome.outcome === 'done' ? [JSON.parse(outcome.value)] : [],
  )
  const numbers = bodies.map(({ number }) => number).sort((a, b) => a - b)
  expect(numbers).toEqual(Array.from({ length: 64 }, (_, n) => n + 1))

  const last = bodies.find(({ number }) => number === 64)
  await journal.done(decide.ticket.remove(organizationId, { body: JSON.stringify(last), ...last }))
  const next = await journal.done(decide.ticket.create(organizationId, { subject: 'next', customerId: id }))
  expect(JSON.parse(next.body).number).toBe(65)
  expect(await audit(pool, organizationId)).toEqual([])
})

test('the digest is the sum of the terms of rows, up and down, as the terms outside it say', async () => {
  await using journal = await testJournal()
  const { pool, decide, organizationId } = journal
  const add = async (n: number) => journal.done(decide.customer.create(organizationId, { name: `c${n}` }))
  const kept = async () => {
    const sql = `select k.digest from kind_counters k where k.organization_id = $1 and k.kind = 'customer'`
    return BigInt((await pool.query<{ digest: string }>(sql, [organizationId])).rows[0]!.digest)
  }
  const sum = (rows: readonly { id: string; updatedAt: string }[]) =>
    rows.reduce((total, row) => total + BigInt(digestTerm(row.id, row.updatedAt)), 0n)
  const rows = await Promise.all(Array.from({ length: 100 }, (_, n) => add(n)))
  const signs = rows.map((row) => digestTerm(row.id, row.updatedAt).startsWith('-'))
  expect(new Set(signs)).toEqual(new Set([true, false]))
  expect(await kept()).toBe(sum(rows))
  // One by one, so that sums of either sign cross zero and 2^64.
  while (rows.length > 60) {
    const row = rows.pop()!
    await journal.done(decide.customer.remove(organizationId, row))
    expect(await kept()).toBe(sum(rows))
  }
  for (const [n, row] of rows.entries()) {
    rows[n] = await journal.done(decide.customer.update(organizationId, row, { name: `d${n}` }))
  }
  expect(await kept()).toBe(sum(rows))
  await Promise.all(rows.map(async (row) => journal.done(decide.customer.remove(organizationId, row))))
  expect(await kept()).toBe(0n)
})

test("the content digest is the same sum of the rows' bytes, and the terms outside it are the database's", async () => {
  await using journal = await testJournal()
  const { pool, decide, organizationId } = journal
  for (const text of ['', 'plain', 'ä€😀', '\\u0000 \\ "', 'x'.repeat(100_000)]) {
    const { rows } = await pool.query<{ term: string }>('select content_term($1)::text as term', [text])
    expect(rows[0]?.term).toBe(contentTerm(text))
  }
  const kept = async () => {
    const { rows } = await pool.query<{ sum: string }>(
      `select k.content_digest as sum from kind_counters k where k.organization_id = $1 and k.kind = 'customer'`,
      [organizationId],
    )
    return BigInt(rows[0]?.sum ?? 0)
  }
  const sum = (bodies: readonly { readonly body: string }[]) =>
    bodies.reduce((total, { body }) => total + BigInt(contentTerm(body)), 0n)
  const rows = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      journal.done(decide.customer.create(organizationId, { name: `${n} ${'é'.repeat(n)}` })),
    ),
  )
  expect(await kept()).toBe(sum(rows))
  for (const [n, row] of rows.entries()) {
    rows[n] = await journal.done(decide.customer.update(organizationId, row, { name: `changed ${n}` }))
    expect(await kept()).toBe(sum(rows))
  }
  while (rows.length > 0) {
    await journal.done(decide.customer.remove(organizationId, rows.pop()!))
    expect(await kept()).toBe(sum(rows))
  }
})

test('the template holds the function of this very code', async () => {
  await using journal = await testJournal()
  const { rows } = await journal.pool.query('select 1 from pg_proc p where p.proname = $1', [
    schemaOf().commitFunction.name,
  ])
  expect(rows).toHaveLength(1)
})
