/** `openapi.json` says what the service does: its routes, its records, and what receivers are sent. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestService, testService } from '../../../testbed/service.ts'
import { attemptRecord } from '../../src/delivery/endpoint/webhook.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of JSON; a wrong guess fails the test
let document: any
let service: TestService

beforeAll(async () => {
  // Limited, as its answers are to say so; never reached.
  service = await testService({ rateLimit: { perSecond: 100_000, burst: 100_000 } })
  document = (await service.api.get('/openapi.json')).json
})

afterAll(() => service[Symbol.asyncDispose]())

const methods = ['get', 'post', 'patch', 'delete']

/** Every operation as `get /v1/tickets/{id}`. */
const operations = () =>
  Object.keys(document.paths).flatMap((path) =>
    methods
      .filter((method) => document.paths[path][method] !== undefined)
      .map((method) => ({ method, path, operation: document.paths[path][method] })),
  )

/** What people read, and its files. */
const page = /^get \/(?:$|llms\.txt$|(?:docs|console)(?:\/|$))/

test('every route that the server has is described, but for pages and their files, and nothing else', () => {
  // HEAD comes with every GET by itself.
  const served = [...service.app.routes].flatMap(([url, allowed]) =>
    [...allowed]
      .filter((method) => method !== 'HEAD')
      .map((method) => `${method.toLowerCase()} ${url.replaceAll(/:(\w+)/g, '{$1}')}`),
  )
  expect(served.length).toBeGreaterThan(30)
  expect(served.filter((route) => page.test(route)).length).toBeGreaterThan(2)
  expect(
    operations()
      .map(({ method, path }) => `${method} ${path}`)
      .sort(),
  ).toEqual(served.filter((route) => !page.test(route)).sort())
})

test('each asks for the scope that it is described with, or for no key', async () => {
  const nothing = await service.newKey(service.api.organizationId, [])
  for (const { method, path, operation } of operations()) {
    const address = service.url + path.replaceAll(/\{\w+\}/g, '01980000-0000-7000-8000-000000000001')
    const keyless = await fetch(address, { method: method.toUpperCase() })
    if (operation.security !== undefined) {
      expect({ address, security: operation.security }).toEqual({ address, security: [] })
      expect({ address, refused: [401, 403].includes(keyless.status) }).toEqual({ address, refused: false })
      continue
    }
    expect({ address, status: keyless.status }).toEqual({ address, status: 401 })
    const headers = { authorization: `Bearer ${nothing.token}` }
    const refused = await fetch(address, { method: method.toUpperCase(), headers })
    if (operation['x-scope'] === undefined) {
      expect({ address, refused: [401, 403].includes(refused.status) }).toEqual({ address, refused: false })
      continue
    }
    expect({ address, status: refused.status }).toEqual({ address, status: 403 })
    expect(((await refused.json()) as { detail: string }).detail).toContain(operation['x-scope'])
  }
})

test('what is refused before a route looks at it is described, wherever it can happen', async () => {
  const { token } = service.api
  const nobody = '01980000-0000-7000-8000-000000000001'
  const long = ' '.repeat(2 ** 20 + 1)
  const refusals: string[] = []
  const missing: string[] = []
  for (const { method, path, operation } of operations()) {
    const refusedAs = async (id: string, type?: string, body?: string) => {
      const headers = {
        authorization: `Bearer ${token}`,
        ...(type === undefined ? {} : { 'content-type': type }),
      }
      const address = service.url + path.replaceAll(/\{\w+\}/g, id)
      const init = { method: method.toUpperCase(), headers, ...(body === undefined ? {} : { body }) }
      const answer = await fetch(address, init)
      const { code } = (await answer.json()) as { code: string }
      const what = `${method} ${path} ${answer.status} ${code}`
      refusals.push(`${answer.status} ${code}`)
      if (!JSON.stringify(operation.responses[answer.status] ?? null).includes(code)) missing.push(what)
    }
    if (path.includes('{')) await refusedAs('%ff')
    if (method === 'get') continue
    await refusedAs(nobody, 'text/plain', 'nothing')
    await refusedAs(nobody, 'application/json', '{')
    if (operation.requestBody === undefined) await refusedAs(nobody, 'application/json', long)
  }
  expect([...new Set(refusals)].sort()).toEqual([
    '400 invalid_parameter',
    '400 malformed_json',
    '413 body_too_large',
    '415 unsupported_media_type',
  ])
  expect(missing).toEqual([])
})

test('answers have the headers that are described', async () => {
  const body = { name: 'Ada' }
  const once = { 'idempotency-key': 'headers' }
  await service.api.post('/v1/customers', body, once)
  const created = await service.api.post('/v1/customers', body, once)
  const read = await service.api.get(created.headers.get('location') ?? '')
  const etag = read.headers.get('etag') ?? ''
  const unchanged = await service.api.get(created.headers.get('location') ?? '', { 'if-none-match': etag })
  const answers = [
    { answer: created, described: document.paths['/v1/customers'].post.responses[201] },
    { answer: read, described: document.paths['/v1/customers/{id}'].get.responses[200] },
    { answer: unchanged, described: document.paths['/v1/customers/{id}'].get.responses[304] },
    {
      answer: await service.withToken(null).get('/v1/customers'),
      described: document.paths['/v1/customers'].get.responses[401],
    },
  ]
  expect(answers.map(({ answer }) => answer.status)).toEqual([201, 200, 304, 401])
  for (const { answer, described } of answers) {
    for (const name of Object.keys(described.headers))
      expect([...answer.headers.keys()]).toContain(name.toLowerCase())
  }
})

describe('webhooks', () => {
  test('every event type and the ping are described, with their data', () => {
    const create: readonly string[] = document.components.schemas.WebhookCreate.properties.events.items.enum
    const types = create.filter((type) => !type.endsWith('*'))
    expect(Object.keys(document.webhooks).sort()).toEqual([...types, 'ping'].sort())
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
    described('/v1/webhooks/{id}/rotate-secret', 'post', 409, 'limit_reached')
    for (const code of ['delivery_succeeded', 'delivery_pending', 'webhook_disabled']) {
      described('/v1/webhooks/{id}/deliveries/{deliveryId}/retry', 'post', 409, code)
    }
  })
})
