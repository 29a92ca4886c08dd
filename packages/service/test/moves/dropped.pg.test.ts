/** A request that was let in before its organization moved, and reads where it was after the rows were dropped there, is answered where it is. */
import { escapeIdentifier } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestDatabase } from '../../../testbed/database.ts'
import { makeCustomer, makeMessage, makeTicket } from '../../../testbed/desk.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { deliveriesOf, makeWebhook } from '../../../testbed/hooks.ts'
import { waitingBackends } from '../../../testbed/locks.ts'
import type { Api } from '../../../testbed/service.ts'
import { type SeveralDatabases, severalDatabases } from '../../../testbed/several-databases.ts'
import { recheckAfter } from '../../src/auth/authenticator.ts'
import { transaction } from '../../src/db/pool.ts'
import { stopwatch } from '../../src/kernel/timestamps.ts'
import { movingTables } from '../../src/moves/tables.ts'

let several: SeveralDatabases
let address: string
beforeAll(async () => {
  several = await severalDatabases()
  address = (await several.startApi()).address
})
afterAll(() => several[Symbol.asyncDispose]())

interface Desk {
  readonly customer: string
  readonly webhook: string
  readonly delivery: string
}

async function makeDesk(api: Api): Promise<Desk> {
  const webhook = await makeWebhook(api)
  const { id: customer } = await makeCustomer(api, { name: 'Ada', externalId: 'ada' })
  await makeTicket(api, { customerId: customer })
  await makeMessage(api)
  const [delivery] = await deliveriesOf(api, webhook.id)
  return { customer, webhook: webhook.id, delivery: delivery.id }
}

/**
 * Moves the organization from the first database to the second, and drops its rows, while the request waits for the table: its token was
 * looked up before, its statement reads afterwards.
 */
async function droppedMeanwhile<A>(api: Api, table: string, ask: () => Promise<A>): Promise<A> {
  const { organizationId } = api
  const [source, target] = several.databases as [TestDatabase, TestDatabase]
  const tables = await movingTables(source.pool)
  await transaction(target.pool, async (tx) => {
    for (const { name, columns } of tables) {
      // As text: a digest is larger than a number of JavaScript.
      const { rows } = await source.pool.query<{ rows: string | null }>(
        `select jsonb_agg(to_jsonb(t))::text as rows from ${name} t where t.organization_id = $1`,
        [organizationId],
      )
      const listed = columns.map(escapeIdentifier).join(', ')
      await tx.query(
        `insert into ${name} (${listed}) select ${listed} from jsonb_populate_recordset(null::${name}, $1)
           on conflict do nothing`,
        [rows[0]?.rows ?? '[]'],
      )
    }
  })
  const { rows: tokens } = await source.pool.query<{ token_hash: Buffer }>(
    'select t.token_hash from api_key_tokens t where t.organization_id = $1',
    [organizationId],
  )
  await several.directory.note(
    organizationId,
    tokens.map(({ token_hash }) => token_hash),
  )
  const mover = await source.pool.connect()
  try {
    await mover.query(`begin; lock table ${table} in access exclusive mode`)
    const asked = ask()
    await waitingBackends(source, 1)
    const elapsed = stopwatch()
    await eventually('its key is to be looked at again', () => elapsed() > recheckAfter)
    await several.directory.cutOver(organizationId, { from: 'one', to: 'two', moves: 1 })
    for (const { name } of tables.toReversed())
      await mover.query(`delete from ${name} where organization_id = $1`, [organizationId])
    await mover.query('commit')
    return await asked
  } finally {
    mover.release(true)
  }
}

const reads: readonly [path: string, table: string][] = [
  ['/v1/customers', 'customers'],
  ['/v1/customers?q=ada', 'customers'],
  ['/v1/customers?updatedAfter=1970-01-01T00:00:00Z', 'customers'],
  ['/v1/changes?updatedAfter=1970-01-01T00:00:00Z', 'customers'],
  ['/v1/customers/{customer}', 'customers'],
  ['/v1/customers/export', 'customers'],
  ['/v1/customers/{customer}/export', 'customers'],
  ['/v1/customers/digests', 'customers'],
  ['/v1/inbox', 'conversations'],
  ['/v1/inbox/counts', 'inbox'],
  ['/v1/events', 'events'],
  ['/v1/deliveries', 'deliveries'],
  ['/v1/webhooks', 'webhooks'],
  ['/v1/webhooks/{webhook}', 'webhooks'],
  ['/v1/webhooks/{webhook}/deliveries', 'deliveries'],
  ['/v1/webhooks/{webhook}/deliveries/{delivery}', 'deliveries'],
  ['/v1/webhooks/{webhook}/deliveries/{delivery}/attempts', 'deliveries'],
  ['/v1/webhooks/{webhook}/deliveries/{delivery}/payload', 'deliveries'],
  ['/v1/webhooks/{webhook}/recoveries', 'webhooks'],
]

test.each(reads)('GET %s that waited for %s', async (template, table) => {
  const api = await several.newOrganization(0, address)
  const desk = await makeDesk(api)
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: keyof Desk) => desk[name])
  const before = await api.get(path)
  const { status, text } = await droppedMeanwhile(api, table, () => api.get(path))
  expect([status, text]).toEqual([200, before.text])
})

const changes: readonly [
  what: string,
  status: number,
  ask: (api: Api, desk: Desk) => ReturnType<Api['get']>,
][] = [
  ['PATCH', 200, (api, { customer }) => api.patch(`/v1/customers/${customer}`, { name: 'Lovelace' })],
  [
    'PATCH without an effect',
    200,
    (api, { customer }) => api.patch(`/v1/customers/${customer}`, { name: 'Ada' }),
  ],
  ['DELETE', 204, (api, { customer }) => api.delete(`/v1/customers/${customer}`)],
  [
    'erase',
    200,
    (api, { customer }) =>
      api.post(`/v1/customers/${customer}/erase`, undefined, { 'idempotency-key': 'once' }),
  ],
]

test.each(changes)('%s that waited to read its row', async (_, status, ask) => {
  const api = await several.newOrganization(0, address)
  const desk = await makeDesk(api)
  const answer = await droppedMeanwhile(api, 'customers', () => ask(api, desk))
  expect([answer.status, answer.text]).toEqual([status, expect.anything()])
})
