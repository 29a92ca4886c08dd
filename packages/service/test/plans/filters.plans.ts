/**
 * `npm run check -- plans`: at 100,000 rows of every kind, beside as many of another organization, each filter of each list
 * finds its page and its count by an index. No table is read from one end to the other, and what an index finds is not
 * thrown away again.
 */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { type TestDatabase, testDatabase } from '../../../testbed/database.ts'
import { booking } from '../../src/desk/booking/index.ts'
import { kinds } from '../../src/desk/index.ts'
import { countsStatement, inboxStatement } from '../../src/inbox/read.ts'
import { partsOf, rangeDigestsStatement } from '../../src/journal/range-digests.ts'
import { newId } from '../../src/kernel/ids.ts'
import { browseStatement } from '../../src/kinds/http/browse.ts'
import { type Condition, filterNames, parseListQuery } from '../../src/kinds/http/list-query.ts'
import type { Kind } from '../../src/kinds/model/kind.ts'
import { documentVersion } from '../../src/kinds/model/search.ts'
import { choicesOf, seededAttribute, seedRows } from './seed.ts'

const rows = 100_000
/** One of the ids that the rows refer to. */
const idInRows = createHash('md5')
  .update('77')
  .digest('hex')
  .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
const [ours, theirs] = [newId(testClock()), newId(testClock())]

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly Plan[]
}

let database: TestDatabase

beforeAll(async () => {
  database = await testDatabase()
  for (const kind of kinds) {
    for (const organizationId of [ours, theirs]) await seedRows(database.pool, kind, organizationId, rows)
  }
}, 600_000)

afterAll(() => database[Symbol.asyncDispose]())

/** A value that some of the rows have. */
function valueFor(kind: Kind, name: string): string {
  if (name.endsWith('After')) return '2026-03-10T00:00:00Z'
  if (name.endsWith('Before')) return '2026-01-02T00:00:00Z'
  if (name === 'q') return 'word77'
  if (name === 'overdue') return 'true'
  if (name === 'number') return '77'
  if (name === 'tag') return 't77'
  if (name === 'customAttribute') return seededAttribute.join(':')
  const field = kind.fields[name]!
  if (field.column?.type === 'uuid') return idInRows
  if (field.column?.type === 'boolean') return 'true'
  if (name === 'email') return 'v77@example.com'
  if (name === 'phone') return '+4910000077'
  return choicesOf(field)?.[0] ?? 'v77'
}

/** The plan of the statement that a list runs for this query, as it ran. */
async function planOf(kind: Kind, query: Readonly<Record<string, string>>): Promise<Plan> {
  const parsed = parseListQuery(kind, { organizationId: ours, scopes: ['*'] }, new URLSearchParams(query), {
    now: () => Date.parse('2026-03-10T00:00:00.000Z'),
  })
  if (!parsed.ok || parsed.value.mode !== 'browse') throw new Error(JSON.stringify(parsed))
  const { text, values } = browseStatement(kind, ours, parsed.value)
  const answer = await database.pool.query(`explain (analyze, format json) ${text}`, [...values])
  return answer.rows[0]['QUERY PLAN'][0].Plan
}

/** What a plan reads in vain. */
function waste(plan: Plan): string[] {
  const table = plan['Relation Name']
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)
  const kept = plan['Actual Rows'] * plan['Actual Loops']
  const own = [
    ...(plan['Node Type'] === 'Seq Scan' && table !== undefined ? [`reads all of ${table}`] : []),
    ...(removed * plan['Actual Loops'] > kept + 1_000
      ? [`${plan['Node Type']} on ${table ?? '?'} throws ${removed} away and keeps ${kept}`]
      : []),
  ]
  return [...own, ...(plan.Plans ?? []).flatMap(waste)]
}

const cases = kinds.flatMap((kind) => filterNames(kind).map((name) => ({ kind, plural: kind.plural, name })))

test.each(cases)('$plural by $name', async ({ kind, name }) => {
  expect(waste(await planOf(kind, { [name]: valueFor(kind, name) }))).toEqual([])
})

test.each(kinds.map((kind) => ({ kind, plural: kind.plural })))(
  '$plural without a filter',
  async ({ kind }) => {
    expect(waste(await planOf(kind, {}))).toEqual([])
  },
)

test.each(kinds.map((kind) => ({ kind, plural: kind.plural })))(
  '$plural by ids, and digests of ranges',
  async ({ kind }) => {
    const { rows: some } = await database.pool.query<{ id: string }>(
      `select t.id from ${kind.table.name} t where t.organization_id = $1 order by t.id limit 100`,
      [ours],
    )
    const ids = some.map(({ id }) => id)
    expect(waste(await planOf(kind, { ids: ids.join(',') }))).toEqual([])
    const ranges = partsOf({ after: ids[0] as string, before: ids.at(-1) as string }, 256)
    const answer = await database.pool.query(
      `explain (analyze, format json) ${rangeDigestsStatement(kind.table)}`,
      [ours, ranges.map(({ after }) => after), ranges.map(({ before }) => before), '100'],
    )
    expect(waste(answer.rows[0]['QUERY PLAN'][0].Plan)).toEqual([])
  },
)

test.each(kinds.map((kind) => ({ kind, plural: kind.plural })))(
  '$plural after a row, with and without filters',
  async ({ kind }) => {
    const { rows: some } = await database.pool.query<{ id: string }>(
      `select t.id from ${kind.table.name} t where t.organization_id = $1 order by t.created_at offset 50000 limit 1`,
      [ours],
    )
    const after = some[0]?.id as string
    expect(waste(await planOf(kind, { after }))).toEqual([])
    const nullable = filterNames(kind).includes('assigneeId') ? ['assigneeId'] : []
    for (const name of nullable) {
      await database.pool.query(
        `update ${kind.table.name} set assignee_id = null where organization_id = $1 and id = $2`,
        [ours, after],
      )
      await database.pool.query(`analyze ${kind.table.name}`)
      expect(waste(await planOf(kind, { [name]: 'null' }))).toEqual([])
    }
  },
)

test('the bookings that reach into a span', async () => {
  // A day, and a moment: in the middle of them, before nearly all and after nearly all.
  for (const [begin, end] of [
    ['2026-02-10T00:00:00Z', '2026-02-11T00:00:00Z'],
    ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
    ['2026-03-10T00:00:00Z', '2026-03-11T00:00:00Z'],
    ['2026-02-10T00:00:00Z', '2026-02-10T00:00:00Z'],
  ] as const)
    for (const more of [{}, { assigneeId: idInRows }]) {
      const plan = await planOf(booking, { endAfter: begin, startBefore: end, ...more })
      expect([begin, more, waste(plan)]).toEqual([begin, more, []])
    }
})

test('the bookings that take the time of an assignee, and documents to write again', async () => {
  const client = await database.pool.connect()
  const explained = async (query: string, values: readonly unknown[]) => {
    const { rows: plans } = await client.query(`explain (analyze, format json) ${query}`, [...values])
    return plans[0]['QUERY PLAN'][0].Plan
  }
  try {
    await client.query('begin')
    // As in the commit function.
    for (const setting of ['enable_seqscan', 'enable_bitmapscan', 'enable_sort'])
      await client.query(`set local ${setting} = off`)
    await client.query(
      `update bookings t set body = '{"endAt":"' || to_char(t.start_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"}'
         where t.organization_id = $1 and t.assignee_id = $2 and t.removed_at is null`,
      [ours, idInRows],
    )
    const end = `((t.body::json)->>'endAt') collate "C"`
    const taken = await explained(
      `select t.id from bookings t where t.organization_id = $1 and t.assignee_id = $2 and t.removed_at is null
         and t.status in ('pending', 'confirmed') and ${end} > $3 and t.start_at < $4::timestamptz order by ${end} limit 1`,
      [ours, idInRows, '2026-02-10T00:00:00.000Z', '2026-03-11T00:00:00.000Z'],
    )
    expect(waste(taken)).toEqual([])
    expect(JSON.stringify(taken)).toContain('bookings_times')
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test.each(kinds.filter(({ table }) => table.searchable).map(({ table }) => table.name))(
  'search documents of %s that are to be written again',
  async (name) => {
    const { rows: plans } = await database.pool.query(
      `explain (analyze, format json) select t.id from ${name}_words t
       where t.organization_id = $1 and left(t.terms, 2) <> '${documentVersion}' limit 32`,
      [ours],
    )
    expect(waste(plans[0]['QUERY PLAN'][0].Plan)).toEqual([])
  },
)

test('the inbox: its tabs, a later page of each, and the counts', async () => {
  await database.pool.query('vacuum analyze inbox')
  const some = await database.pool.query<{ id: string; assignee: string }>(
    `select i.conversation_id as id, i.assignee_id as assignee from inbox i where i.organization_id = $1
       order by i.conversation_id offset 20000 limit 1`,
    [ours],
  )
  const { id, assignee } = some.rows[0]!
  const column = 'assignee_id'
  const conditions = [[], [{ on: 'null', column }], [{ on: 'column', column, type: 'uuid', value: assignee }]]
  for (const own of conditions as readonly (readonly Condition[])[])
    for (const awaitingReply of [null, 'true', 'false'] as const)
      for (const after of [null, id]) {
        const query = { limit: 50, after, afterSince: null, awaitingReply, conditions: own }
        const { text, values } = inboxStatement(ours, query, true)
        const answer = await database.pool.query(`explain (analyze, format json) ${text}`, [...values])
        expect(waste(answer.rows[0]['QUERY PLAN'][0].Plan), JSON.stringify(query)).toEqual([])
      }
  const answer = await database.pool.query(`explain (analyze, format json) ${countsStatement}`, [
    ours,
    assignee,
  ])
  expect(waste(answer.rows[0]['QUERY PLAN'][0].Plan)).toEqual([])
})

test('a plan that reads in vain is found out', async () => {
  const answer = await database.pool.query(
    `explain (analyze, format json) select t.id from tickets t where t.organization_id = $1 and t.body = 'x'`,
    [ours],
  )
  expect(waste(answer.rows[0]['QUERY PLAN'][0].Plan)).not.toEqual([])
})
