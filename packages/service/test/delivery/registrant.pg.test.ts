/** A delivery goes out only while its endpoint's registrant lives and may read the subject (specification 9.4). */
import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { deliveriesOf, hour, makeWebhook, minute, readWebhook, retry } from '../../../testbed/hooks.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const clock = testClock()
const shared = sharedService({ clock })
const allEvents = ['customer.created', 'customer.deleted', 'ticket.created', 'ticket.deleted']
const typesOf = (sent: readonly { headers: Readonly<Record<string, string>> }[]) =>
  sent.map(({ headers }) => headers['x-service-event-type']).sort()

/** An endpoint of a key that is not the organization's first. */
async function registered(scopes: readonly string[] = ['webhooks:write', 'customers:read', 'tickets:read']) {
  const api = await shared().newOrganization()
  const key = await shared().newKey(api.organizationId, scopes)
  const webhook = await makeWebhook(key, { events: allEvents })
  const { pool } = shared().database
  return {
    api,
    id: webhook.id as string,
    read: () => readWebhook(api, webhook.id),
    log: () => deliveriesOf(api, webhook.id),
    setScopes: (granted: readonly string[]) =>
      pool.query('update api_keys set scopes = $1 where id = $2', [granted, webhook.apiKeyId]),
    expire: (milliseconds: number) =>
      pool.query('update api_keys set expires_at = $1 where id = $2', [
        new Date(milliseconds).toISOString(),
        webhook.apiKeyId,
      ]),
    dropTokens: () => pool.query('delete from api_key_tokens where api_key_id = $1', [webhook.apiKeyId]),
    revoke: () => pool.query('delete from api_keys where id = $1', [webhook.apiKeyId]),
    ...testEngine(shared(), clock),
  }
}

describe('a scope that was lost', () => {
  test('ends deliveries of its subjects, removals included, and of no other', async () => {
    const { api, engine, sent, read, log, setScopes } = await registered()
    const before = await read()
    await setScopes(['customers:read'])
    const ticket = await makeTicket(api)
    await api.delete(`/v1/tickets/${ticket.id}`)
    await engine.runDue()
    expect(typesOf(sent)).toEqual(['customer.created'])
    const failed = (await log()).filter(({ status }) => status === 'failed')
    expect(failed).toHaveLength(2)
    for (const row of failed) {
      expect(row).toMatchObject({
        attemptCount: 0,
        nextAttemptAt: null,
        lastError: { code: 'subject_unavailable' },
      })
    }
    expect(await read()).toEqual({
      ...before,
      lastSuccessAt: new Date(clock.now()).toISOString(),
      missedSince: expect.any(String),
    })
  })

  test('while a delivery is retried ends it too; regained, a manual retry sends it', async () => {
    const { api, engine, sent, answer, log, setScopes } = await registered()
    answer(500)
    await makeCustomer(api)
    await engine.runDue()
    await setScopes([])
    clock.advance(minute)
    await engine.runDue()
    expect(sent).toHaveLength(1)
    const [row] = await log()
    expect(row).toMatchObject({ status: 'failed', lastError: { code: 'subject_unavailable' } })
    expect((await retry(api, row)).status).toBe(202)
    await setScopes(['*'])
    answer(200)
    await engine.runDue()
    expect(await log()).toMatchObject([{ status: 'succeeded', attemptCount: 2, lastError: null }])
  })

  test('and is still lost: a manual retry fails as well, and counts neither for nor against the endpoint', async () => {
    const { api, engine, sent, read, log, setScopes } = await registered()
    await setScopes(['tickets:read'])
    await makeCustomer(api)
    await engine.runDue()
    const before = await read()
    expect((await retry(api, (await log())[0])).status).toBe(202)
    await engine.runDue()
    expect(sent).toEqual([])
    expect(await log()).toMatchObject([
      { status: 'failed', attemptCount: 0, lastError: { code: 'subject_unavailable' } },
    ])
    expect(await read()).toEqual(before)
  })

  test('or all of them: a ping goes out, which has no subject', async () => {
    const { api, id, engine, sent, read, log, setScopes, revoke } = await registered()
    await setScopes([])
    await api.post(`/v1/webhooks/${id}/ping`, undefined)
    await engine.runDue()
    expect(typesOf(sent)).toEqual(['ping'])
    expect(await read()).toMatchObject({ status: 'active', failureCount: 0, lastSuccessAt: null })
    // A registrant that is gone disables the endpoint, and pings go to disabled ones too.
    await revoke()
    await api.post(`/v1/webhooks/${id}/ping`, undefined)
    await engine.runDue()
    expect(typesOf(sent)).toEqual(['ping', 'ping'])
    expect((await read()).disabledReason).toBe('registrant_revoked')
    expect((await log()).map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
  })

  test('write does not imply read', async () => {
    const { api, engine, sent, setScopes } = await registered()
    await setScopes(['customers:write', 'webhooks:write'])
    await makeCustomer(api)
    await engine.runDue()
    expect(sent).toEqual([])
  })
})

describe('a registrant that is gone', () => {
  test.each(['revoked', 'expired'] as const)(
    '%s: the endpoint is disabled, and nothing is sent',
    async (how) => {
      const { api, id, engine, sent, read, log, revoke, expire } = await registered()
      await makeCustomer(api)
      if (how === 'revoked') await revoke()
      else await expire(clock.now())
      await engine.runDue()
      expect(sent).toEqual([])
      expect(await read()).toMatchObject({
        status: 'disabled',
        disabledReason: 'registrant_revoked',
        disabledAt: new Date(clock.now()).toISOString(),
        failureCount: 0,
      })
      expect(await log()).toMatchObject([
        { status: 'failed', attemptCount: 0, lastError: { code: 'endpoint_disabled' } },
      ])
      await makeCustomer(api)
      expect(await log()).toHaveLength(1)
      // Whoever enables it is its registrant from then on.
      expect((await api.patch(`/v1/webhooks/${id}`, { status: 'active' })).status).toBe(200)
      await makeCustomer(api)
      await engine.runDue()
      expect(typesOf(sent)).toEqual(['customer.created'])
    },
  )

  test('leaves its endpoint there with its log, which another key enables later', async () => {
    const { api, id, engine, sent, read, log } = await registered()
    await makeCustomer(api)
    await engine.runDue()
    await api.delete(`/v1/api-keys/${(await read()).apiKeyId}`)
    clock.advance(2 * hour)
    await shared().app.maintenance.run()
    expect(await read()).toMatchObject({ disabledReason: 'registrant_revoked' })
    await api.patch(`/v1/webhooks/${id}`, { status: 'active' })
    await makeCustomer(api)
    await engine.runDue()
    expect(sent).toHaveLength(2)
    expect(await log()).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }])
  })

  test('expires from the very millisecond on that its key says', async () => {
    const { api, engine, sent, read, expire } = await registered()
    await expire(clock.now() + minute)
    clock.advance(minute - 1)
    await makeCustomer(api)
    await engine.runDue()
    expect(sent).toHaveLength(1)
    clock.advance(1)
    await makeCustomer(api)
    await engine.runDue()
    expect(sent).toHaveLength(1)
    expect((await read()).disabledReason).toBe('registrant_revoked')
  })

  test('between two attempts ends the retries', async () => {
    const { api, engine, sent, answer, log, revoke } = await registered()
    answer(500)
    await makeCustomer(api)
    await engine.runDue()
    await revoke()
    clock.advance(minute)
    await engine.runDue()
    expect(sent).toHaveLength(1)
    expect(await log()).toMatchObject([
      { status: 'failed', attemptCount: 1, lastError: { code: 'endpoint_disabled' } },
    ])
  })

  test('is not one whose tokens were all replaced', async () => {
    const { api, engine, sent, dropTokens } = await registered()
    expect((await dropTokens()).rowCount).toBe(1)
    await makeCustomer(api)
    await engine.runDue()
    expect(sent).toHaveLength(1)
  })
})

describe('a manual retry', () => {
  test('takes the read scopes of every subscribed event, as rotation does', async () => {
    const { api, engine, answer, log, id } = await registered()
    answer(500)
    await makeCustomer(api)
    await engine.runDue()
    for (const scopes of [['webhooks:write'], ['webhooks:write', 'customers:read']]) {
      const key = await shared().newKey(api.organizationId, scopes)
      const [row] = await log()
      const answered = await retry(key, row)
      expect([answered.status, answered.json.code]).toEqual([403, 'insufficient_scope'])
      expect(answered.json.detail).toContain('tickets:read')
    }
    expect((await readWebhook(api, id)).status).toBe('active')
  })
})
