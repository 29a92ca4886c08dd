/** Endpoints whose receivers must agree first, and bodies in the format of the events of the Model Context Protocol. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agree, secret, verified } from '../../../mcp/test/subscriber.fixture.ts'
import { testClock } from '../../../testbed/clock.ts'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { day, deliveriesOf, makeWebhook, readWebhook } from '../../../testbed/hooks.ts'
import { answer } from '../../../testbed/receiver.ts'
import { authority, createBench } from '../../../testbed/sending.ts'
import { type TestService, testService } from '../../../testbed/service.ts'

const clock = testClock()
const bench = createBench()
let service: TestService
beforeAll(async () => {
  service = await testService({ clock, settings: { targetCa: authority.ca } })
})
afterAll(async () => {
  await bench.close()
  await service[Symbol.asyncDispose]()
})

async function receiving() {
  const receiver = await bench.receiver()
  receiver.will(agree)
  const url = `https://127.0.0.1:${receiver.port}/hook`
  const register = (body: object = {}) =>
    service.api.post('/v1/webhooks', { url, events: ['customer.created'], secret, verify: true, ...body })
  return { receiver, register }
}

describe('verify', () => {
  test('registers an endpoint whose receiver returns the challenge, signed as deliveries are', async () => {
    const { receiver, register } = await receiving()
    const made = await register({ headers: { 'X-Name': 'one' } })
    expect(made.status).toBe(201)
    expect(made.json).not.toHaveProperty('verify')
    const [challenge] = receiver.requests
    expect(challenge?.headers).toMatchObject({ 'x-name': 'one', 'content-type': 'application/json' })
    expect(verified(challenge!)).toEqual({ type: 'verification', challenge: expect.any(String) })
    expect(receiver.requests).toHaveLength(1)
  })

  test('refuses one whose receiver does not, says why in a word, and registers nothing', async () => {
    const { receiver, register } = await receiving()
    receiver.will(answer(404, 'a secret of the network'))
    const before = (await service.api.get('/v1/webhooks')).text
    const refused = await register()
    expect(refused.json).toMatchObject({ status: 422, code: 'receiver_not_verified', reason: 'http_4xx' })
    expect(refused.text).not.toContain('secret of the network')
    expect((await service.api.get('/v1/webhooks')).text).toBe(before)
  })

  test('stops asking, and registers nothing, when its client has left', async () => {
    const schedule = { ...deliverySettings.schedule, answerTimeout: day }
    await using patient = await testService({ clock, settings: { targetCa: authority.ca, schedule } })
    const { receiver } = await receiving()
    const asked = Promise.withResolvers<void>()
    const left = Promise.withResolvers<void>()
    receiver.will(() => asked.resolve())
    receiver.whenClosed(left.resolve)
    const client = new AbortController()
    const body = {
      url: `https://127.0.0.1:${receiver.port}/hook`,
      events: ['customer.created'],
      verify: true,
    }
    const request = fetch(`${patient.url}/v1/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${patient.api.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: client.signal,
    }).catch((error) => error.name)
    await asked.promise
    client.abort()
    expect(await request).toBe('AbortError')
    await left.promise
    expect((await patient.api.get('/v1/webhooks')).json.data).toEqual([])
  })

  test('asks nobody unless it is set, or where the request is refused anyway', async () => {
    const { receiver, register } = await receiving()
    expect((await register({ verify: false })).status).toBe(201)
    expect((await register({ events: ['x'] })).status).toBe(422)
    expect(receiver.requests).toEqual([])
  })
})

describe('the format mcp', () => {
  test('sends occurrences, of an object that is gone an empty one, and shows them in the log', async () => {
    const api = await service.newOrganization()
    const { engine, sent } = testEngine(service, clock)
    const { id, format } = await makeWebhook(api, { format: 'mcp' })
    expect(format).toBe('mcp')
    const customer = await makeCustomer(api)
    const gone = await makeCustomer(api)
    await api.delete(`/v1/customers/${gone.id}`)
    await engine.runDue()
    const bodies = sent.map(({ body }) => JSON.parse(body))
    const about = { eventId: expect.any(String), name: 'customer.created', timestamp: expect.any(String) }
    expect(bodies).toEqual([
      { ...about, data: customer },
      { ...about, data: {} },
    ])
    const [, first] = await deliveriesOf(api, id)
    const shown = await api.get(`/v1/webhooks/${id}/deliveries/${first.id}/payload`)
    expect(shown.text).toBe(sent[0]?.body)
  })

  test.each([410, 413])('takes %i as a refusal for good, of which nothing is missed', async (status) => {
    const api = await service.newOrganization()
    const { engine, answer: respond } = testEngine(service, clock)
    respond(status)
    const refusing = await makeWebhook(api, { format: 'mcp' })
    await makeCustomer(api)
    await engine.runDue()
    expect(await deliveriesOf(api, refusing.id)).toMatchObject([{ status: 'failed', responseStatus: status }])
    expect((await readWebhook(api, refusing.id)).missedSince).toBeNull()
  })
})

test('a rotation to the secret that signs already changes nothing', async () => {
  const api = await service.newOrganization()
  const { id, secret: _, ...made } = await makeWebhook(api, { secret })
  const path = `/v1/webhooks/${id}`
  clock.advance(day)
  const again = await api.post(`${path}/rotate-secret`, { secret })
  expect(again.json).toEqual({ id, secret, ...made })
  expect(await readWebhook(api, id)).toEqual({ id, ...made })
})
