/** A desk that has a row in every table, its log spread over weeks. */

import type { Pool } from 'pg'
import { type TestClock, testClock } from '../../../testbed/clock.ts'
import { deliveryJobsOn } from '../../../testbed/delivery-jobs.ts'
import {
  makeBooking,
  makeConversation,
  makeCustomer,
  makeMessage,
  makeNote,
  makeTeammate,
  makeTicket,
} from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { day, makeWebhook, minute } from '../../../testbed/hooks.ts'
import { type Api, type TestService, testService } from '../../../testbed/service.ts'
import { markRestored } from '../../src/backup/restore.ts'
import { createDirectory } from '../../src/databases/directory.ts'
import { newId } from '../../src/kernel/ids.ts'
import { createSummaryJobs, firstConversation } from '../../src/summarizer/jobs.ts'

export interface FullDesk extends AsyncDisposable {
  readonly service: TestService
  readonly clock: TestClock
  readonly apis: readonly Api[]
}

export async function fullDesk(): Promise<FullDesk> {
  const clock = testClock()
  const service = await testService({ clock })
  const apis = [service.api, await service.newOrganization('Another')]
  await markRestored(service.database.pool, clock)
  const { engine, answer } = testEngine(service, clock)
  for (let week = 0; week < 3; week++) {
    await service.app.maintenance.run()
    for (const api of apis) await oneOfEach(api, week)
    // Succeeded, then failing with a retry to come.
    answer(...(week === 0 ? [200] : [200, 500]))
    await engine.runDue()
    clock.advance(8 * day)
  }
  for (const api of apis) await leftovers(api, () => deliveryJobsOn(service, clock).runDue())
  const elsewhere = newId(clock)
  const directory = createDirectory(service.database.pool, 'one')
  await directory.place(elsewhere, 'two')
  await directory.note(elsewhere, [Buffer.alloc(32, 7)])
  await halfMoved(service.database.pool, elsewhere)
  await createSummaryJobs(service.database.pool).enqueue(clock.now(), firstConversation)
  return { service, clock, apis, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() }
}

/** What is noted of moves, as if both databases of one were this. */
async function halfMoved(pool: Pool, organizationId: string): Promise<void> {
  for (const text of [
    `insert into organization_moves (organization_id, target, state, runner, began_at) values ($1, 'two', 'copying', $1, now())`,
    `insert into move_changes (organization_id, table_name, key) values ($1, 'customers', '{"id": 1}')`,
    `insert into organization_arrivals (organization_id, source, runner) values ($1, 'one', $1)`,
    `insert into moved_rows (organization_id, place, table_name, content) values ($1, 1, 'organizations', '{}')`,
  ])
    await pool.query(text, [organizationId])
}

async function oneOfEach(api: Api, n: number): Promise<void> {
  const events = ['customer.created', 'ticket.created', 'message.received']
  await makeWebhook(api, { events, description: 'a\tb\\c\n"d" …', signatures: ['service', 'standard'] })
  const text = { name: `Ada\n\t\\.\\N "${n}" ünï 𝄞`, externalId: `e-${n}`, tags: ['a,b', '{c}'] }
  const idempotency = { 'idempotency-key': `k-${n}` }
  await api.post('/v1/customers', { name: 'Once' }, idempotency)
  const customer = await makeCustomer(api, { ...text, customAttributes: { x: 1, y: true, z: 'ö' } })
  const gone = await makeCustomer(api)
  await makeTicket(api, { customerId: gone.id })
  await makeConversation(api, { customerId: gone.id })
  const conversation = await makeConversation(api, { customerId: customer.id })
  await makeMessage(api, { conversationId: conversation.id, body: '\\.\n\\N\tend' })
  await makeNote(api, { conversationId: conversation.id })
  await makeBooking(api, { customerId: customer.id })
  await makeTicket(api, { customerId: customer.id })
  await makeTeammate(api)
  const { status } = await api.post(`/v1/conversations/${conversation.id}/resolve`, undefined)
  if (status !== 200) throw new Error(`resolve: ${status}`)
  await api.delete(`/v1/customers/${gone.id}`)
}

async function leftovers(api: Api, work: () => Promise<unknown>): Promise<void> {
  const [webhook, other] = (await api.get('/v1/webhooks')).json.data
  await api.post(`/v1/webhooks/${webhook.id}/rotate-secret`, undefined)
  const since = new Date(Date.parse(webhook.createdAt) - minute).toISOString()
  await api.post(`/v1/webhooks/${webhook.id}/recover`, { since })
  await work()
  await api.delete(`/v1/webhooks/${other.id}`)
  // A commit whose deliveries are still to be made: more than a thousand to two endpoints, whichever of the others have failed too long.
  for (let n = 0; n < 2; n++) await makeWebhook(api, { events: ['customer.created'] })
  const items = Array.from({ length: 501 }, (_, n) => ({ name: `many ${n}` }))
  await api.post('/v1/customers/batch', { items })
  await api.post('/v1/console-links', { scopes: ['customers:read'] })
  await api.post('/v1/api-keys', {
    name: 'Reader',
    scopes: ['tickets:read'],
    expiresAt: '2099-01-01T00:00:00Z',
  })
  const spent = await api.post('/v1/api-keys', { name: 'Spent', scopes: ['tickets:read'] })
  await api.delete(`/v1/api-keys/${spent.json.id}`)
}
