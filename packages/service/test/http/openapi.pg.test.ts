/** `openapi.json` says what the service does: its routes, its records, and what receivers are sent. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { attemptRecord } from '../../src/webhooks/webhook.ts'
import { type TestService, testService } from '../harness/service.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of JSON; a wrong guess fails the test
let document: any
let service: TestService

beforeAll(async () => {
  service = await testService()
  document = (await service.api.get('/openapi.json')).json
})

afterAll(() => service[Symbol.asyncDispose]())

const methods = new Set(['get', 'post', 'patch', 'delete'])
const methodsOf = (path: string) => Object.keys(document.paths[path]).filter((name) => methods.has(name))

test('every path has the methods that the service allows there, and no others', async () => {
  for (const path of Object.keys(document.paths)) {
    const address = path.replaceAll(/\{\w+\}/g, '01980000-0000-7000-8000-000000000001')
    const headers = { authorization: `Bearer ${service.api.token}` }
    const refused = await fetch(service.url + address, { method: 'PUT', headers })
    const { status } = refused
    expect({ path, status }).toEqual({ path, status: 405 })
    const allowed = (refused.headers.get('allow') ?? '').toLowerCase().split(', ')
    expect({ path, allowed: allowed.filter((name) => name !== 'head').sort() }).toEqual({
      path,
      allowed: methodsOf(path).sort(),
    })
  }
})

test('what it refers to is there, and no operation is named twice', () => {
  const text = JSON.stringify(document)
  for (const [, section = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)) {
    expect(document.components[section], `${section}/${name}`).toHaveProperty([name])
  }
  const ids = [...text.matchAll(/"operationId":"(\w+)"/g)].map(([, name]) => name)
  expect(new Set(ids).size).toBe(ids.length)
})

describe('webhooks', () => {
  test('every event type and the ping are described, with their data', () => {
    const create = document.components.schemas.WebhookCreate.properties.events.items.enum
    expect(Object.keys(document.webhooks).sort()).toEqual([...create, 'ping'].sort())
    const dataOf = (type: string) =>
      document.webhooks[type].post.requestBody.content['application/json'].schema.properties.data
    expect(dataOf('ticket.status_changed')).toEqual({ $ref: '#/components/schemas/Ticket' })
    expect(dataOf('ticket.deleted')).toEqual({ $ref: '#/components/schemas/Removed' })
    expect(dataOf('ping')).toEqual({ type: 'object', additionalProperties: false })
  })

  test('records have the fields of their schemas, in order', async () => {
    const { schemas } = document.components
    const made = await service.api.post('/v1/webhooks', {
      url: 'https://127.0.0.1:1/hook',
      events: ['customer.created'],
    })
    expect(made.status).toBe(201)
    expect(Object.keys(made.json)).toEqual(schemas.WebhookWithSecret.required)
    expect(made.json.secret).toMatch(new RegExp(schemas.WebhookWithSecret.properties.secret.pattern))
    const { id } = made.json
    expect(Object.keys((await service.api.get(`/v1/webhooks/${id}`)).json)).toEqual(schemas.Webhook.required)
    const ping = await service.api.post(`/v1/webhooks/${id}/ping`, undefined)
    expect(ping.status).toBe(202)
    expect(Object.keys(ping.json)).toEqual(schemas.Delivery.required)
    const attempt = attemptRecord({
      number: 1,
      at: new Date(0),
      response_status: null,
      error_code: null,
      error_message: null,
      duration_ms: 1,
      response_body: null,
    })
    expect(Object.keys(attempt)).toEqual(schemas.Attempt.required)
  })

  test('refusals are among those that are described', async () => {
    const described = (path: string, method: string, status: number, code: string) => {
      const answer = document.paths[path][method].responses[String(status)]
      expect(JSON.stringify(answer), `${method} ${path} ${status}`).toContain(code)
    }
    const events = ['customer.created']
    const cases = [
      { body: { url: 'http://127.0.0.1/', events }, status: 422, code: 'url_not_https' },
      { body: { url: 'https://10.1.2.3/', events }, status: 422, code: 'url_not_public' },
      { body: { url: 'https://127.0.0.1/', events: [] }, status: 422, code: 'validation_failed' },
    ]
    for (const { body, status, code } of cases) {
      const refused = await service.api.post('/v1/webhooks', body)
      expect(refused).toMatchObject({ status, json: { code } })
      described('/v1/webhooks', 'post', status, code)
    }
    const nobody = '/v1/webhooks/01980000-0000-7000-8000-000000000001'
    expect((await service.api.post(`${nobody}/ping`, undefined)).json.code).toBe('not_found')
    described('/v1/webhooks/{id}/ping', 'post', 404, 'not_found')
    for (const code of ['delivery_succeeded', 'delivery_pending', 'webhook_disabled']) {
      described('/v1/webhooks/{id}/deliveries/{deliveryId}/retry', 'post', 409, code)
    }
  })
})
