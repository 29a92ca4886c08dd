/** The stream of some of the kinds: whichever they are, it is read rightly, with the same few statements and one plan. */
import { beforeAll, expect, test } from 'vitest'
import { makeBooking, makeCustomer, makeMessage, makeTeammate, makeTicket } from '../../../testbed/desk.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { kinds } from '../../src/desk/index.ts'
import { pageStatements, pageValues } from '../../src/journal/feed.ts'
import { highestId } from '../../src/kernel/cursor.ts'

const shared = sharedService()
const begin = 'updatedAfter=1970-01-01T00:00:00Z'
let api: Api

beforeAll(async () => {
  api = shared().api
  for (const make of [makeCustomer, makeTeammate, makeTicket, makeMessage, makeBooking]) await make(api)
})

/** All kinds and each other set of them, the empty one left out. */
const sets = Array.from({ length: 2 ** kinds.length - 1 }, (_, n) =>
  kinds.filter((_, bit) => (n + 1) & (1 << bit)),
)

test('each has its own rows and a proof of each kind, and no connection keeps more statements for it', async () => {
  const whole = (await api.get(`/v1/changes?${begin}&limit=100`)).json
  expect(whole.pagination.hasMore).toBe(false)
  for (const [n, of] of sets.entries()) {
    const scopes = of.map(({ plural }) => `${plural}:read`)
    const key = await shared().newKey(api.organizationId, scopes)
    const { data, pagination } = (await key.get(`/v1/changes?${begin}&limit=${100 - (n % 50)}`)).json
    const names = of.map(({ name }) => name)
    expect(data).toEqual(whole.data.filter(({ object }: { object: string }) => names.includes(object)))
    expect(pagination.checkpoint).toEqual(
      Object.fromEntries(names.map((name) => [name, whole.pagination.checkpoint[name]])),
    )
    const again = await key.get(`/v1/changes?cursor=${pagination.nextCursor}&limit=${(n % 50) + 1}`)
    expect(again.json).toMatchObject({ data: [], pagination: { checkpoint: pagination.checkpoint } })
  }
  const { pool } = shared().database
  for (let connection = 0; connection < pool.totalCount; connection++) {
    const { rows } = await pool.query<{ name: string }>(
      `select s.name from pg_prepared_statements s where s.name like '%page%changes'`,
    )
    expect(rows.length).toBeLessThanOrEqual(21)
  }
})

test('kinds that are not asked for are not looked at, by the plan that serves every set', async () => {
  const [some = kinds[0]] = kinds
  const { whole, firstSync: first } = pageStatements(
    kinds.map(({ table }) => table),
    100,
  )
  const at = ['1970-01-01T00:00:00Z', highestId] as const
  const client = await shared().database.pool.connect()
  try {
    await client.query(
      'begin; set local plan_cache_mode = force_generic_plan; set local enable_seqscan = off',
    )
    for (const [statement, removalsAfter] of [
      [whole, undefined],
      [first, at],
    ] as const) {
      const { organizationId } = api
      const asked = { organizationId, after: at, limit: 7, kinds: [some?.name ?? ''] }
      const values = pageValues({ ...asked, ...(removalsAfter && { removalsAfter }) })
      await client.query(`prepare page_of_some as ${statement.text}`)
      const literals = values.map((value) => client.escapeLiteral(value)).join(', ')
      const { rows } = await client.query(`explain (analyze, format json) execute page_of_some (${literals})`)
      await client.query('deallocate page_of_some')
      const scanned = scans(rows[0]['QUERY PLAN'][0].Plan)
      for (const { table } of kinds) {
        const loops = scanned.filter(({ name }) => name === table.name).map(({ loops }) => loops)
        expect({ table: table.name, loops: Math.max(...loops) }).toEqual({
          table: table.name,
          loops: table === some?.table ? 1 : 0,
        })
      }
    }
  } finally {
    await client.query('rollback')
    client.release()
  }
})

interface PlanNode {
  readonly 'Relation Name'?: string
  readonly 'Actual Loops': number
  readonly Plans?: readonly PlanNode[]
}

function scans(node: PlanNode): readonly { readonly name: string; readonly loops: number }[] {
  const { 'Relation Name': name, 'Actual Loops': loops, Plans = [] } = node
  return [...(name === undefined ? [] : [{ name, loops }]), ...Plans.flatMap(scans)]
}
