/** What the guides about webhooks tell a reader to run, run as it is written, against deliveries of a real service. */

import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReceiver, nodeHandler, type WebhookEvent } from '@deskwire/sdk'
import fc from 'fast-check'
import type { Pool, PoolClient } from 'pg'
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { testDatabase } from '../../../testbed/database.ts'
import { deliveryJobsOn } from '../../../testbed/delivery-jobs.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { blocksOf, blockWith, startSource } from '../../../testbed/document-programs.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { deliveriesOf, hour, makeWebhook, minute, readWebhook, retry } from '../../../testbed/hooks.ts'
import { freePort, startHttpServer } from '../../../testbed/loopback.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import type { Send } from '../../src/delivery/queue/attempt.ts'

/** Receivers look at the time: it begins as it is. */
const clock = testClock(Date.now())
const shared = sharedService({ clock })

/** Posts a delivery to a receiver on this machine, as the proxy does that a receiver stands behind. */
const sendTo =
  (address: () => string): Send =>
  async ({ headers, body }) => {
    const { status } = await fetch(address(), { method: 'POST', headers, body })
    return { kind: 'answered', status, responseBody: '', durationMs: 5 }
  }

/** An organization with an endpoint for its customers, and what a program of the guide is started with. */
async function desk(events: readonly string[] = ['customer.created']) {
  clock.set(Date.now())
  const api = await shared().newOrganization()
  const webhook = await makeWebhook(api, { events })
  const environment = {
    DESKWIRE_URL: `${shared().url}/v1`,
    DESKWIRE_API_KEY: api.token,
    WEBHOOK: webhook.id as string,
  }
  return { api, webhook, environment }
}

test('a secret is rotated, deployed and ended, and no delivery is refused meanwhile', async () => {
  const { api, webhook, environment } = await desk()
  const known = [webhook.secret as string, webhook.secret as string]
  await using stack = new AsyncDisposableStack()
  const servers = await Promise.all(
    known.map((_, n) =>
      startHttpServer((request, response) =>
        nodeHandler(createReceiver({ secrets: known[n] as string }))(request, response),
      ),
    ),
  )
  const receivers = servers.map((server) => `${stack.use(server).url}/hook`)
  let [turn, refused] = [0, 0]
  const send = sendTo(() => receivers[turn++ % 2] as string)
  const { engine } = testEngine(shared(), clock, {
    async send(...request) {
      const answer = await send(...request)
      if (answer.kind !== 'answered' || answer.status !== 204) refused++
      return answer
    },
  })
  /** Deliveries to both. */
  const deliver = async () => {
    const before = turn
    for (let n = 0; n < 2; n++) await makeCustomer(api)
    await engine.runDue()
    expect([turn - before, refused]).toEqual([2, 0])
  }
  const file = join(tmpdir(), `deskwire-secret-${webhook.id}`)
  const [rotate, end] = ['rotateSecret(', 'deletePreviousSecret('].map((call) =>
    blockWith('docs/guides/webhooks.md', 'ts', call),
  ) as [string, string]
  const settings = { ...environment, SECRET_FILE: file, RECEIVERS: receivers.join() }
  try {
    await deliver()
    expect(await startSource(rotate, settings, 'module-typescript').ended).toMatchObject({ code: 0 })
    const secret = await readFile(file, 'utf8')
    await deliver()
    known[0] = secret
    await deliver()
    // One of them has not got it: the overlap goes on.
    const early = await startSource(end, settings, 'module-typescript').ended
    expect(early.stderr).toContain(`${receivers[1]} does not know it yet: 400`)
    expect(early.code).toBe(1)
    expect((await readWebhook(api, webhook.id)).previousSecretExpiresAt).not.toBeNull()
    known[1] = secret
    const ended = await startSource(end, settings, 'module-typescript').ended
    expect(ended).toEqual({ code: 0, stdout: 'The old secret signs no more.\n', stderr: '' })
    expect((await readWebhook(api, webhook.id)).previousSecretExpiresAt).toBeNull()
    await deliver()
  } finally {
    await rm(file, { force: true })
  }
})

test('deliveries that say no more than "look now" keep a copy exact', async () => {
  const events = ['ticket.created', 'ticket.updated', 'ticket.deleted']
  const { api, webhook, environment } = await desk(events)
  // A port that is free now: the program says only what it holds.
  const port = String(await freePort())
  await using program = startSource(blockWith('docs/guides/webhooks-or-sync.md', 'js', 'createServer'), {
    ...environment,
    DESKWIRE_WEBHOOK_SECRET: webhook.secret,
    PORT: port,
  })
  const { engine } = testEngine(shared(), clock, { send: sendTo(() => `http://127.0.0.1:${port}/hook`) })
  const said = (text: string) => eventually(text, () => program.output.all.endsWith(`${text}\n`))
  await said('0 exact')
  const { id: customerId } = await makeCustomer(api)
  const ticket = await api.post('/v1/tickets', { customerId, subject: 'One' })
  await engine.runDue()
  await said('1 exact')
  await api.post('/v1/tickets', { customerId, subject: 'Two' })
  await api.delete(`/v1/tickets/${ticket.json.id}`)
  await api.post('/v1/tickets', { customerId, subject: 'Three' })
  await engine.runDue()
  await said('2 exact')
})

/** What the guide's handlers are, and how a test hears of what they do. */
interface Handlers {
  once(
    pool: Pool,
    event: WebhookEvent,
    work: (client: PoolClient, event: WebhookEvent) => unknown,
  ): Promise<void>
  keepNewest(client: PoolClient, event: WebhookEvent): Promise<void>
  tellResolved(
    client: PoolClient,
    event: WebhookEvent,
    tell: (client: PoolClient, ticket: object) => unknown,
  ): Promise<void>
}

/** Everything that came of two tickets: late, with what was stored, and crossing. */
async function ticketEvents(): Promise<{ events: WebhookEvent[]; rows: object[]; resolutions: string[] }> {
  const { api, webhook } = await desk([
    'ticket.created',
    'ticket.updated',
    'ticket.status_changed',
    'ticket.deleted',
  ])
  const { engine, sent, answer } = testEngine(shared(), clock)
  const { id: customerId } = await makeCustomer(api)
  const [kept, gone] = await Promise.all(
    ['Kept', 'Gone'].map(async (subject) => (await api.post('/v1/tickets', { customerId, subject })).json.id),
  )
  const resolutions: string[] = []
  const change = async (id: string, patch: object) => {
    clock.advance(10)
    const { json } = await api.patch(`/v1/tickets/${id}`, patch)
    if (json.status === 'resolved') resolutions.push(`${id} ${json.resolvedAt}`)
  }
  // Some fail for good, and are sent again in the end with what was stored; some are sent after what comes next.
  answer(500)
  await engine.runDue()
  for (const delay of [minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour]) {
    clock.advance(delay)
    await engine.runDue()
  }
  sent.length = 0
  answer(200)
  for (const patch of [{ status: 'open' }, { status: 'resolved' }]) {
    await change(kept, patch)
    await change(gone, patch)
    await engine.runDue()
  }
  await change(kept, { status: 'open' })
  await change(kept, { subject: 'Kept again' })
  await change(kept, { status: 'resolved' })
  for (const failed of await deliveriesOf(api, webhook.id, '&status=failed')) await retry(api, failed)
  await engine.runDue()
  clock.advance(10)
  await api.delete(`/v1/tickets/${gone}`)
  await engine.runDue()
  const { data: rows } = (await api.get('/v1/tickets')).json
  return { events: sent.map(({ body }) => JSON.parse(body)), rows, resolutions }
}

test('the handlers of the guide come to the same whatever comes when, and however often', async () => {
  const { events, rows, resolutions } = await ticketEvents()
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  const stored = events.filter(({ type }) => type === 'ticket.created')
  expect(stored.map(({ data }) => (data as { status: string }).status)).toEqual(['new', 'new'])
  expect(resolutions).toHaveLength(3)
  await using database = await testDatabase({ template: null })
  const { pool } = database
  for (const statement of blocksOf('docs/guides/handlers.md', 'sql')) await pool.query(statement)
  const source = blocksOf('docs/guides/handlers.md', 'js').join('\n')
  const handlers: Handlers = await import(`data:text/javascript,${encodeURIComponent(source)}`)

  /** Handles these, three at once as they come; some fail the first time. Answers what was done. */
  async function handled(deliveries: readonly WebhookEvent[]) {
    await pool.query('truncate done_events, held_tickets, told_resolutions')
    const done: string[] = []
    const told: string[] = []
    const failing = new Set(deliveries.slice(0, 3).map(({ id }) => id))
    const handle = (event: WebhookEvent) => {
      const [did, tells]: [string[], string[]] = [[], []]
      const work = async (client: PoolClient) => {
        await handlers.keepNewest(client, event)
        await handlers.tellResolved(client, event, (_, ticket) => {
          const { id, resolvedAt } = ticket as { id: string; resolvedAt: string }
          tells.push(`${id} ${resolvedAt}`)
        })
        did.push(event.id)
        if (failing.delete(event.id)) throw new Error('not today')
      }
      return handlers.once(pool, event, work).then(() => {
        done.push(...did)
        told.push(...tells)
      })
    }
    const queue = [...deliveries]
    const worker = async () => {
      for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
        const again = event
        await handle(again).catch(() => handle(again))
      }
    }
    await Promise.all([worker(), worker(), worker()])
    const held = await pool.query('select body from held_tickets where body is not null')
    return { done: done.sort(), told: told.sort(), held: held.rows.map(({ body }) => body) }
  }

  const all = events.map(({ id }) => id).sort()
  const orders = fc.shuffledSubarray([...events, ...events], { minLength: 2 * events.length })
  await fc.assert(
    fc.asyncProperty(orders, async (order) => {
      const { done, told, held } = await handled(order)
      expect(done).toEqual(all)
      expect(held).toEqual(rows)
      // A resolution that no delivery has shown is not told of, and none twice.
      expect(new Set(told).size).toBe(told.length)
      expect(resolutions).toEqual(expect.arrayContaining(told))
      expect(told.length).toBeGreaterThan(0)
    }),
    { numRuns: 10 },
  )
})

/** The last one here: it moves the clock far. */
test('what was missed in an outage is brought back, and what had arrived is not sent again', async () => {
  const { api, webhook, environment } = await desk()
  const { engine, sent, answer } = testEngine(shared(), clock)
  const deliveryJobs = deliveryJobsOn(shared(), clock)
  const name = ({ body }: { body: string }) => JSON.parse(body).data.name
  await makeCustomer(api, { name: 'before' })
  await engine.runDue()
  answer(503)
  await makeCustomer(api, { name: 'failed' })
  for (let waited = 0; waited < 80; waited += 8) {
    await engine.runDue()
    await makeCustomer(api, { name: `hour ${waited}` })
    clock.advance(8 * hour)
  }
  const disabled = await readWebhook(api, webhook.id)
  expect(disabled).toMatchObject({ status: 'disabled', disabledReason: 'failing' })
  await makeCustomer(api, { name: 'while it was disabled' })
  sent.length = 0
  answer(200)
  await using program = startSource(
    blockWith('docs/guides/webhooks.md', 'ts', 'webhooks.recover('),
    environment,
    'module-typescript',
  )
  await eventually('it is active', async () => (await readWebhook(api, webhook.id)).status === 'active')
  let hasEnded = false
  void program.ended.finally(() => {
    hasEnded = true
  })
  await eventually('the recovery is done', async () => {
    await deliveryJobs.runDue()
    return hasEnded
  })
  await engine.runDue()
  const names = ['failed', ...Array.from({ length: 10 }, (_, n) => `hour ${n * 8}`), 'while it was disabled']
  expect(sent.map(name).sort()).toEqual(names.sort())
  const { code, stdout } = await program.ended
  expect(stdout).toMatch(/^\d+ sent again, \d+ made\n$/)
  expect(code).toBe(0)
  expect(stdout.match(/\d+/g)?.reduce((sum, n) => sum + Number(n), 0)).toBe(names.length)
  // There is no outage any more that the service knows of.
  const again = await startSource(
    blockWith('docs/guides/webhooks.md', 'ts', 'webhooks.recover('),
    environment,
    'module-typescript',
  ).ended
  expect(again.stderr).toContain('set SINCE to recover')
})
