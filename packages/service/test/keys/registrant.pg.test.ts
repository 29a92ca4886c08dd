/** A key's endpoints end with it, at once: by its revocation, and by its expiry (specification 9.4). */
import type { Logger } from 'pino'
import { describe, expect, test } from 'vitest'
import { type TestClock, testClock } from '../../../testbed/clock.ts'
import { deliverySettings, summarySettings } from '../../../testbed/delivery-settings.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { lifeless, testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { heldSend } from '../../../testbed/held-send.ts'
import { deliveriesOf, hour, makeWebhook, readWebhook } from '../../../testbed/hooks.ts'
import { asToken, makeKey } from '../../../testbed/keys.ts'
import { lockRow, waitingBackends, waitingChanges } from '../../../testbed/locks.ts'
import { withRunDue } from '../../../testbed/run-due.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { nobodyObserves } from '../../src/delivery/model.ts'
import { createRegistrants } from '../../src/delivery/queue/registrants.ts'
import { startWorkers } from '../../src/roles/worker.ts'

const clock = testClock()
const shared = sharedService({ clock })
const scopes = ['webhooks:write', 'customers:read']
const revoke = (api: Api, id: string) => api.delete(`/v1/api-keys/${id}`)
const at = (milliseconds: number) => new Date(clock.now() + milliseconds).toISOString()

/** What looks for keys that have expired, on the tests' clock. */
function registrants(by: TestClock = clock) {
  let woken = 0
  const wake = () => {
    woken++
  }
  const counted: string[] = []
  const observer = { ...nobodyObserves, disabled: (reason: string) => counted.push(reason) }
  const { pool } = shared().database
  const log = shared().app.server.log
  const loop = createRegistrants({ pool, clock: by, log, observer, onDeliveries: wake })
  /** Why endpoints were disabled, as it is told to the metrics. */
  const more = { woken: () => woken, counted }
  return Object.assign(
    withRunDue(loop, () => woken),
    more,
  )
}

/** A key with an endpoint, and one more that the organization's first key registered. */
async function withEndpoints(body: Readonly<Record<string, unknown>> = {}) {
  const api = await shared().newOrganization()
  const key = await makeKey(api, { scopes, ...body })
  const who = asToken(shared(), api, key.token)
  return { api, key, who, own: (await makeWebhook(who)).id, other: (await makeWebhook(api)).id }
}

const gone = () => ({
  status: 'disabled',
  disabledReason: 'registrant_revoked',
  disabledAt: at(0),
  updatedAt: at(0),
})
const failed = {
  status: 'failed',
  attemptCount: 0,
  nextAttemptAt: null,
  lastError: { code: 'endpoint_disabled' },
}

describe('a revocation', () => {
  test('disables what the key registered in the same commit, and nothing else', async () => {
    const { api, key, who, own, other } = await withEndpoints()
    const manual = (await makeWebhook(who)).id
    await who.patch(`/v1/webhooks/${manual}`, { status: 'disabled' })
    const before = await readWebhook(api, manual)
    await makeCustomer(api)
    clock.advance(1_000)
    expect((await revoke(api, key.id)).status).toBe(204)
    // No worker has run.
    expect(await readWebhook(api, own)).toMatchObject(gone())
    expect(await readWebhook(api, manual)).toEqual(before)
    expect((await readWebhook(api, other)).status).toBe('active')
    // A change from now on makes no delivery for it.
    await makeCustomer(api)
    await testEngine(shared(), clock).engine.runDue()
    expect(await deliveriesOf(api, own)).toMatchObject([failed])
    expect((await deliveriesOf(api, other)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
    expect((await who.get('/v1/webhooks')).status).toBe(401)
    // The record says who it was; whoever enables it is the registrant then.
    expect((await readWebhook(api, own)).apiKeyId).toBe(key.id)
    expect((await api.patch(`/v1/webhooks/${own}`, { status: 'active' })).json.apiKeyId).not.toBe(key.id)
  })

  test('fails what waits for its next attempt now, not when that is due', async () => {
    const { api, key, own } = await withEndpoints()
    const { engine, sent, answer } = testEngine(shared(), clock)
    answer(500)
    await makeCustomer(api)
    await engine.runDue()
    const before = sent.length
    await revoke(api, key.id)
    await engine.runDue()
    expect(sent).toHaveLength(before)
    expect(await deliveriesOf(api, own)).toMatchObject([{ ...failed, attemptCount: 1 }])
  })

  test('of a registrant whose delivery is under way: that one is completed, and nothing after it is sent', async () => {
    const { api, key, own, other } = await withEndpoints()
    await api.delete(`/v1/webhooks/${other}`)
    const held = heldSend()
    // It does not look for more while the attempt hangs.
    const { engine } = testEngine(shared(), clock, { send: held.send, concurrency: lifeless })
    await makeCustomer(api)
    const round = engine.runDue()
    const attempt = await held.made(1)
    await makeCustomer(api)
    expect((await revoke(api, key.id)).status).toBe(204)
    attempt.answer(200)
    await round
    await engine.runDue()
    const statuses = (await deliveriesOf(api, own)).map(({ status }) => status)
    expect(statuses.sort()).toEqual(['failed', 'succeeded'])
    expect(held.attempts).toHaveLength(1)
  })

  test('at the same moment as changes: each made a delivery that failed, or none', async () => {
    const { api, key, own } = await withEndpoints()
    const lock = await lockRow(shared().database, 'organization_clocks', api)
    const before = [makeCustomer(api), makeCustomer(api)]
    await waitingBackends(shared().database, 1)
    const revoked = revoke(api, key.id)
    await waitingChanges(shared(), 3)
    await lock.release()
    await Promise.all([...before, revoked, makeCustomer(api), makeCustomer(api)])
    const { engine } = testEngine(shared(), clock)
    await engine.runDue()
    const rows = await deliveriesOf(api, own)
    expect(rows.map(({ status }) => status).every((status) => status === 'failed')).toBe(true)
    expect(await readWebhook(api, own)).toMatchObject({ status: 'disabled' })
    const { rows: pending } = await shared().database.pool.query(
      `select d.id from deliveries d where d.organization_id = $1 and d.webhook_id = $2 and d.status = 'pending'`,
      [api.organizationId, own],
    )
    expect(pending).toEqual([])
  })
})

describe('an expiry', () => {
  test('disables what the key registered as soon as a worker looks, from the very millisecond on', async () => {
    const { api, key, own, other } = await withEndpoints({ expiresAt: at(hour) })
    const watch = registrants()
    clock.advance(hour - 1)
    expect(await watch.runDue()).toBe(0)
    expect((await readWebhook(api, own)).status).toBe('active')
    clock.advance(1)
    await makeCustomer(api)
    expect(await watch.runDue()).toBe(1)
    expect(await readWebhook(api, own)).toMatchObject(gone())
    expect((await readWebhook(api, other)).status).toBe('active')
    expect(watch.woken()).toBe(1)
    await testEngine(shared(), clock).engine.runDue()
    expect(await deliveriesOf(api, own)).toMatchObject([failed])
    expect(await deliveriesOf(api, other)).toMatchObject([{ status: 'succeeded' }])
    // It is not found again, and a worker that looks at the same time finds nothing to do.
    expect(await watch.runDue()).toBe(0)
    expect(watch.counted).toEqual(['registrant_revoked'])
    expect((await api.get(`/v1/api-keys/${key.id}`)).json.expiresAt).toBe(at(0))
    expect(shared().logged).toContainEqual(
      expect.objectContaining({
        msg: 'an endpoint was disabled',
        webhookId: own,
        reason: 'registrant_revoked',
      }),
    )
  })

  test('is found however many expired meanwhile, and by any number of workers at once', async () => {
    const api = await shared().newOrganization()
    const { organizationId } = api
    const { pool } = shared().database
    await pool.query(
      `insert into api_keys (organization_id, id, name, scopes, expires_at, created_at, updated_at)
         select $1, gen_random_uuid(), 'filler', '{tickets:read}', $2, $2, $2 from generate_series(1, 250)`,
      [organizationId, at(0)],
    )
    await Promise.all([registrants().runDue(), registrants().runDue()])
    const { rows } = await pool.query(
      'select count(*)::int as left from api_keys where organization_id = $1 and expires_at is not null and expiry_settled_at is null',
      [organizationId],
    )
    expect(rows).toEqual([{ left: 0 }])
  })

  test('that was put off is none', async () => {
    const { api, key, own } = await withEndpoints({ expiresAt: at(hour) })
    await api.patch(`/v1/api-keys/${key.id}`, { expiresAt: at(2 * hour) })
    clock.advance(hour)
    expect(await registrants().runDue()).toBe(0)
    expect((await readWebhook(api, own)).status).toBe('active')
    clock.advance(hour)
    expect(await registrants().runDue()).toBe(1)
    expect((await readWebhook(api, own)).disabledReason).toBe('registrant_revoked')
  })

  test('that a worker with a fast clock has carried out is not taken back', async () => {
    const { api, key, own } = await withEndpoints({ expiresAt: at(hour) })
    expect(await registrants(testClock(clock.now() + hour)).runDue()).toBe(1)
    expect((await readWebhook(api, own)).status).toBe('disabled')
    const refused = await api.patch(`/v1/api-keys/${key.id}`, { expiresAt: null })
    expect([refused.status, refused.json.code]).toEqual([409, 'invalid_transition'])
  })

  test('is looked for by an index that holds nothing but expiries to come', async () => {
    const { pool } = shared().database
    const client = await pool.connect()
    try {
      await client.query('set enable_seqscan = off')
      const { rows } = await client.query(
        `explain select k.organization_id, k.id from api_keys k
           where k.expires_at <= now() and k.expiry_settled_at is null order by k.expires_at limit 100`,
      )
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('api_keys_expiring')
    } finally {
      client.release(true)
    }
  })
})

test('a worker that runs looks by itself, with nothing to deliver, and counts what it disables', async () => {
  await using service = await testService()
  const { api, database, app } = service
  const key = await makeKey(api, { scopes })
  const webhook = await makeWebhook(asToken(service, api, key.token))
  const served = { name: null, address: database.connection, ready: Promise.resolve() }
  const worker = startWorkers([served], {
    log: app.server.log as Logger,
    settings: deliverySettings,
    summaries: summarySettings,
  })
  try {
    await database.pool.query('update api_keys set expires_at = $1 where organization_id = $2 and id = $3', [
      new Date(0).toISOString(),
      api.organizationId,
      key.id,
    ])
    await eventually('it is disabled', async () => {
      const { disabledReason } = await readWebhook(api, webhook.id)
      return disabledReason === 'registrant_revoked'
    })
    await eventually('it is counted', async () => {
      const metrics = await worker.registers[0]?.metrics()
      return /^deskwire_webhooks_disabled_total\{.*reason="registrant_revoked".*\} 1$/m.test(metrics ?? '')
    })
  } finally {
    await worker.stop()
  }
})
