/** What the guide "Choose what you receive" tells a reader to run, run as it is written. */

import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { deliveryJobsOn, reportsOn } from '../../../testbed/delivery-jobs.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { blockWith, startSource } from '../../../testbed/document-programs.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { hour, makeWebhook, minute, readWebhook } from '../../../testbed/hooks.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const clock = testClock()
const shared = sharedService({ clock })
const guide = 'docs/guides/choosing.md'

/** An organization with an endpoint, and the guide's programs run against it. */
async function desk(body: Readonly<Record<string, unknown>> = {}) {
  const api = await shared().newOrganization()
  const webhook = await makeWebhook(api, body)
  return {
    api,
    webhook,
    ...testEngine(shared(), clock),
    /** Runs the program with this text to its end; what it printed. */
    async run(text: string, settings: Record<string, string> = {}) {
      const environment = { DESKWIRE_URL: `${shared().url}/v1`, DESKWIRE_API_KEY: api.token }
      const source = blockWith(guide, 'ts', text)
      const program = startSource(
        source,
        { ...environment, WEBHOOK: webhook.id, ...settings },
        'module-typescript',
      )
      const { code, stdout, stderr } = await program.ended
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return stdout
    },
  }
}

test('an endpoint is registered with how its deliveries are made', async () => {
  const { api, run } = await desk()
  const URL = 'https://127.0.0.1:1/hook'
  const said = await run('headers:', { URL, TOKEN: 'hidden' })
  const { data } = (await api.get('/v1/webhooks')).json
  const made = data.find(({ rateLimit }: { rateLimit?: number }) => rateLimit !== undefined)
  expect(said).toBe(`${made.id} sends authorization\n`)
  expect(made).toMatchObject({
    headerNames: ['authorization'],
    rateLimit: 20,
    maxConcurrent: 4,
    payload: 'thin',
    honorRetryAfter: true,
    disableOn410: true,
  })
})

test('conditions keep events away', async () => {
  const { api, run, webhook } = await desk()
  expect(await run('conditions:')).toBe('2 conditions must hold\n')
  expect(await readWebhook(api, webhook.id)).toMatchObject({ changedFields: true, conditions: [{}, {}] })
})

test('an endpoint skips what its own key changes', async () => {
  const { api, run } = await desk()
  const said = await run('skipOwn:', { URL: 'https://127.0.0.1:1/hook' })
  const made = (await api.get('/v1/webhooks')).json.data.find(({ skipOwn }: { skipOwn?: boolean }) => skipOwn)
  expect(said).toBe(`${made.id} skips its own changes: true\n`)
  expect(made).toMatchObject({ includeActor: true })
})

test('events are read without an endpoint', async () => {
  const { api, run } = await desk()
  const { id } = await makeCustomer(api)
  const said = await run('events.list(')
  expect(said).toMatch(new RegExp(`^customer.created ${id}\nGo on from [\\w-]{92}\n$`))
})

test('what arrived is sent again', async () => {
  const { api, run, engine, sent } = await desk()
  await makeCustomer(api)
  await engine.runDue()
  const before = sent.length
  const SINCE = new Date(clock.now() - minute).toISOString()
  expect(await run('includeSucceeded', { SINCE })).toMatch(/^Recovery [0-9a-f-]{36} sends everything/)
  await deliveryJobsOn(shared(), clock).runDue()
  await engine.runDue()
  // Events of one millisecond come in any order.
  const ids = sent.map(({ headers }) => headers['x-service-event-id'])
  expect(ids.slice(0, before)).toContain(ids[before])
})

test('the overlap of a rotation is chosen', async () => {
  const { api, webhook, run } = await desk()
  const until = new Date(clock.now() + hour).toISOString()
  expect(await run('overlap: 3_600')).toBe(`Both sign until ${until}.\n`)
  expect((await readWebhook(api, webhook.id)).previousSecretExpiresAt).toBe(until)
})

test('an endpoint is notified of another one that is disabled', async () => {
  const { api, run, webhook, engine, sent } = await desk()
  const said = await run('endpoint.recovered', { URL: 'https://127.0.0.1:1/pager' })
  const { data } = (await api.get('/v1/webhooks')).json
  const pager = data.find(({ url }: { url: string }) => url.endsWith('/pager'))
  expect(said).toBe(`${pager.id} is notified about the others\n`)
  await api.patch(`/v1/webhooks/${webhook.id}`, { status: 'disabled' })
  await reportsOn(shared(), clock).runDue()
  await engine.runDue()
  expect(JSON.parse(sent.at(-1)?.body ?? '')).toMatchObject({
    type: 'endpoint.disabled',
    data: { id: webhook.id, disabledReason: 'manual' },
  })
})
