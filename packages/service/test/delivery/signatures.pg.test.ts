import { Webhook } from 'standardwebhooks'
import { describe, expect, test, vi } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { type Sent, testEngine } from '../../../testbed/engine.ts'
import {
  deliveriesOf,
  expectedSignature,
  hour,
  makeWebhook,
  minute,
  readWebhook,
  receiverUrl,
  retry,
} from '../../../testbed/hooks.ts'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const clock = testClock()
const shared = sharedService({ clock })
const both = ['service', 'standard']

/** An endpoint in an organization of its own, and what it is sent. */
async function endpoint(body: Readonly<Record<string, unknown>> = {}) {
  const api = await shared().newOrganization()
  const made = await makeWebhook(api, body)
  const path = `/v1/webhooks/${made.id}`
  const { engine, sent, answer } = testEngine(shared(), clock)
  return {
    api,
    engine,
    answer,
    id: made.id as string,
    path,
    first: made.secret as string,
    read: () => readWebhook(api, made.id),
    want: (signatures: readonly string[], key: Api = api) => key.patch(path, { signatures }),
    rotate: async () => (await api.post(`${path}/rotate-secret`, undefined)).json.secret as string,
    /** What one of this organization's endpoints was sent last. */
    last: () => sent.findLast((one) => JSON.parse(one.body).organizationId === api.organizationId)!,
    async ping() {
      await api.post(`${path}/ping`, undefined)
      await engine.runDue()
      return this.last()
    },
  }
}

/** Of these secrets, those by which the verifier of Standard Webhooks accepts it. */
function acceptedBy(sent: Sent, secrets: readonly string[]): string[] {
  vi.setSystemTime(sent.at)
  try {
    return secrets.filter((secret) => {
      try {
        const event = new Webhook(secret).verify(sent.body, { ...sent.headers })
        return JSON.stringify(event) === sent.body
      } catch (error) {
        if ((error as Error).message === 'No matching signature found') return false
        throw error
      }
    })
  } finally {
    vi.useRealTimers()
  }
}

/** Of the headers that sign it, those that are of Standard Webhooks. */
const standardOf = ({ headers }: Sent) => Object.keys(headers).filter((name) => name.startsWith('webhook-'))

describe('what is chosen', () => {
  test('is the own header alone, unless told', async () => {
    const it = await endpoint()
    expect((await it.read()).signatures).toEqual(['service'])
    const sent = await it.ping()
    expect(standardOf(sent)).toEqual([])
    expect(sent.headers['x-service-signature']).toBe(expectedSignature(sent, [it.first]))
  })

  test.each([
    [['service'], ['service']],
    [both, both],
    [['standard', 'service'], both],
    [['standard', 'service', 'standard', 'service'], both],
  ])('%j is shown as %j: a set in one order', async (given, shown) => {
    const it = await endpoint({ signatures: given })
    expect((await it.read()).signatures).toEqual(shown)
    const before = await it.read()
    clock.advance(minute)
    expect((await it.want(given)).json).toEqual(before)
    const other = await endpoint()
    expect((await other.want(given)).json.signatures).toEqual(shown)
  })

  test.each([
    [[], '/signatures', 'invalid_value', 'must be a list of service, which cannot be left out, and standard'],
    [['standard'], '/signatures', 'invalid_value', 'must be a list of service, which cannot be left out'],
    [null, '/signatures', 'invalid_type', 'null is not allowed'],
    ['standard', '/signatures', 'invalid_type', 'must be a list of service'],
    [['service', 'ed25519'], '/signatures/1', 'invalid_value', 'must be one of service, standard'],
    [[...both, null], '/signatures/2', 'invalid_value', 'must be one of service, standard'],
    [Array(101).fill('service'), '/signatures', 'too_many', 'must be a list of service'],
  ])('%j is refused', async (signatures, pointer, code, detail) => {
    const it = await endpoint()
    const body = { url: receiverUrl, events: ['customer.created'], signatures }
    for (const answer of [
      await it.api.post('/v1/webhooks', body),
      await it.api.patch(it.path, { signatures }),
    ]) {
      expect([answer.status, answer.json.code]).toEqual([422, 'validation_failed'])
      expect(answer.json.errors).toMatchObject([{ pointer, code, detail: expect.stringContaining(detail) }])
    }
    expect((await it.read()).signatures).toEqual(['service'])
  })

  test('takes to change what events take, and makes nobody the registrant', async () => {
    const it = await endpoint({ events: ['customer.created', 'ticket.created'] })
    const key = (...scopes: string[]) => shared().newKey(it.api.organizationId, ['webhooks:write', ...scopes])
    const refused = await it.want(both, await key('customers:read', 'tickets:write'))
    expect([refused.status, refused.json.code]).toEqual([403, 'insufficient_scope'])
    expect(refused.json.detail).toContain('tickets:read')
    const { apiKeyId } = await it.read()
    const changed = await it.want(both, await key('customers:read', 'tickets:read'))
    expect(changed.json).toMatchObject({ signatures: both, apiKeyId })
  })
})

describe('Standard Webhooks', () => {
  test('beside the own header: the id of the event, the time of the attempt, and what its verifier accepts', async () => {
    const it = await endpoint({ signatures: both })
    it.answer(500, 200)
    await makeCustomer(it.api, { name: 'Zoë ☕ "𝄞"' })
    await it.engine.runDue()
    const sent = it.last()
    const [{ eventId }] = await deliveriesOf(it.api, it.id)
    expect(standardOf(sent)).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    expect(sent.headers['webhook-id']).toBe(eventId)
    expect(sent.headers['webhook-timestamp']).toBe(String(Math.floor(sent.at / 1000)))
    expect(sent.headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/)
    expect(sent.headers['x-service-signature']).toBe(expectedSignature(sent, [it.first]))
    expect(acceptedBy(sent, [it.first])).toEqual([it.first])

    clock.advance(minute)
    await it.engine.runDue()
    const again = it.last()
    expect(again.headers['webhook-id']).toBe(eventId)
    expect(again.headers['webhook-timestamp']).toBe(String(Math.floor(clock.now() / 1000)))
    expect(acceptedBy(again, [it.first])).toEqual([it.first])
  })

  test('for one sort of delivery as for another: by hand, recovered, a ping', async () => {
    const it = await endpoint({ signatures: both })
    it.answer(500)
    await makeCustomer(it.api)
    for (let n = 0; n < 6; n++) {
      await it.engine.runDue()
      clock.advance(8 * hour)
    }
    const [failed] = await deliveriesOf(it.api, it.id)
    expect(failed.status).toBe('failed')
    it.answer(200)
    expect((await retry(it.api, failed)).status).toBe(202)
    await it.engine.runDue()
    expect(it.last().headers['webhook-id']).toBe(failed.eventId)
    expect(acceptedBy(it.last(), [it.first])).toEqual([it.first])
    const ping = await it.ping()
    expect(JSON.parse(ping.body).type).toBe('ping')
    expect(acceptedBy(ping, [it.first])).toEqual([it.first])
  })

  test('with what was pending when it was chosen, and no more once it is left out', async () => {
    const it = await endpoint()
    await makeCustomer(it.api)
    await it.want(both)
    await it.engine.runDue()
    expect(acceptedBy(it.last(), [it.first])).toEqual([it.first])
    await makeCustomer(it.api)
    expect((await it.want(['service'])).json.signatures).toEqual(['service'])
    await it.engine.runDue()
    expect(standardOf(it.last())).toEqual([])
  })

  test('while a rotation lasts, with an entry for each secret, the newest first', async () => {
    const it = await endpoint({ signatures: both })
    const began = clock.now()
    const second = await it.rotate()
    const third = await it.rotate()
    const three = await it.ping()
    expect(acceptedBy(three, [third, second, it.first])).toEqual([third, second, it.first])
    const entries = three.headers['webhook-signature']?.split(' ') ?? []
    expect(entries).toHaveLength(3)
    const newest = { ...three, headers: { ...three.headers, 'webhook-signature': entries[0] as string } }
    expect(acceptedBy(newest, [third, second, it.first])).toEqual([third])
    expect(three.headers['x-service-signature']).toBe(expectedSignature(three, [third, second, it.first]))
    clock.set(began + 24 * hour)
    const after = await it.ping()
    expect(acceptedBy(after, [third, second, it.first])).toEqual([third])
    expect(after.headers['webhook-signature']).not.toContain(' ')
  })

  test('with twenty secrets, in headers that receivers take', async () => {
    const it = await endpoint({ signatures: both })
    const secrets = [it.first]
    for (let n = 0; n < 19; n++) secrets.unshift(await it.rotate())
    const sent = await it.ping()
    expect(acceptedBy(sent, secrets)).toEqual(secrets)
    expect(JSON.stringify(sent.headers).length).toBeLessThan(4_096)
  })
})

test('no row has anything but the two sets', async () => {
  const it = await endpoint()
  for (const signatures of [[], ['standard'], ['standard', 'service'], ['service', 'service'], null]) {
    const write = shared().database.pool.query('update webhooks set signatures = $2 where id = $1', [
      it.id,
      signatures,
    ])
    await expect(write).rejects.toThrow(/violates (check|not-null) constraint/)
  }
})
