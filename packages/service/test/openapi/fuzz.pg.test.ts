/**
 * Calls made up from openapi.json, right ones and wrong ones: none ends in a 5xx, every answer is one that the document
 * has, and the log stays without an error. `npm run check -- fuzz` does the same at length, with schemathesis.
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  makeBooking,
  makeConversation,
  makeCustomer,
  makeMessage,
  makeTeammate,
  makeTicket,
} from '../../../testbed/desk.ts'
import { deliveriesOf, makeWebhook } from '../../../testbed/hooks.ts'
import { makeKey } from '../../../testbed/keys.ts'
import { type TestService, testService } from '../../../testbed/service.ts'
import { junk, resolved, valuesOf } from './arbitrary.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of JSON; a wrong guess fails the test
type Json = any

/** Calls of each operation. */
const numRuns = 20

interface Call {
  readonly path: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: unknown
}

let service: TestService
let document: Json
let known: string[]

beforeAll(async () => {
  service = await testService()
  document = (await service.api.get('/openapi.json')).json
  ajv.addSchema({ $id: 'openapi', components: document.components })
  const { api } = service
  const webhook = await makeWebhook(api, { events: ['customer.created'] })
  const customer = await makeCustomer(api)
  const conversation = await makeConversation(api, { customerId: customer.id })
  const [delivery] = await deliveriesOf(api, webhook.id)
  const made = [
    webhook,
    delivery,
    customer,
    conversation,
    await makeTeammate(api),
    await makeMessage(api, { conversationId: conversation.id }),
    await makeTicket(api, { customerId: customer.id }),
    await makeBooking(api, { customerId: customer.id }),
    await makeKey(api),
  ]
  known = made.map(({ id }) => id)
})

afterAll(() => service[Symbol.asyncDispose]())

const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true })
formats.default(ajv)
const validators = new Map<unknown, ReturnType<typeof ajv.compile>>()

/** What is wrong with a value by a schema of the document; null when nothing is. */
function fault(schema: Json, value: unknown): string | null {
  let validate = validators.get(schema)
  if (validate === undefined) {
    // What schemas refer to is compiled once for all of them.
    validate = ajv.compile(
      JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/')),
    )
    validators.set(schema, validate)
  }
  return validate(value) ? null : ajv.errorsText(validate.errors)
}

/** Calls of an operation: parameters and body as they are described, or not. */
function callsOf(operation: Json): fc.Arbitrary<Call> {
  const { mostly, conforming } = valuesOf(document, known)
  const parameters: Json[] = (operation.parameters ?? []).map((one: Json) => resolved(document, one))
  const group = (place: string, value: (schema: Json) => fc.Arbitrary<unknown>, always: boolean) => {
    const own = parameters.filter((one) => one.in === place)
    const values = Object.fromEntries(own.map(({ name, schema }) => [name, value(schema)]))
    return always ? fc.record(values) : fc.record(values, { requiredKeys: [] })
  }
  const schema = operation.requestBody?.content['application/json'].schema
  return fc.record({
    path: group('path', (one) => fc.oneof({ weight: 8, arbitrary: conforming(one) }, junk), true),
    // A list waits for nothing here.
    query: group('query', mostly, false).map(({ wait: _, ...query }: Json) => query),
    headers: group('header', mostly, false),
    body: schema === undefined ? fc.option(junk, { freq: 3, nil: undefined }) : mostly(schema),
  }) as fc.Arbitrary<Call>
}

async function send(method: string, path: string, call: Call): Promise<Response> {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => {
    const encoded = encodeURIComponent(textOf(call.path[name]))
    // Longer ones are routed to no operation, and dots are no part of the path that is sent.
    return encoded.length > 200 || ['', '.', '..'].includes(encoded) ? '-' : encoded
  })
  const query = new URLSearchParams(Object.entries(call.query).map(([name, value]) => [name, textOf(value)]))
  const headers = new Headers({ authorization: `Bearer ${service.api.token}` })
  for (const [name, value] of Object.entries(call.headers)) {
    // What a client cannot even send is none of ours.
    headers.set(
      name,
      textOf(value)
        .replaceAll(/[^\x20-\x7e]/g, '?')
        .slice(0, 2_000),
    )
  }
  const body = call.body === undefined || method === 'get' ? undefined : JSON.stringify(call.body)
  if (body !== undefined) headers.set('content-type', 'application/json')
  return fetch(`${service.url}${filled}?${query}`, {
    method: method.toUpperCase(),
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  })
}

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.toWellFormed().slice(0, 4_000)
}

/** What is wrong with an answer by the document; null when it is one that it has. */
async function wrong(operation: Json, response: Response): Promise<string | null> {
  const { status } = response
  const text = await response.text()
  if (status >= 500) return `${status} ${text}`
  const described = resolved(document, operation.responses[status])
  if (described === undefined) return `${status} is not described: ${text}`
  for (const name of Object.keys(described.headers ?? {})) {
    const { required } = resolved(document, described.headers[name])
    if (required && response.headers.get(name) === null) return `${status} without ${name}`
  }
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  if (described.content === undefined) return text === '' ? null : `${status} has a body: ${text}`
  const schema = described.content[type]?.schema
  if (described.content[type] === undefined) return `${status} comes as ${type}`
  if (schema === undefined || !type.endsWith('json')) return null
  const problem = fault(schema, type.endsWith('ndjson') ? text : JSON.parse(text))
  return problem === null ? null : `${status} ${problem}: ${text.slice(0, 500)}`
}

test('no call ends in a 5xx, and every answer is as described', async () => {
  const met = new Map<number, number>()
  for (const [path, item] of Object.entries<Json>(document.paths)) {
    for (const method of ['get', 'post', 'patch', 'delete']) {
      const operation = item[method]
      if (operation === undefined) continue
      await fc.assert(
        fc.asyncProperty(callsOf(operation), async (call) => {
          const response = await send(method, path, call)
          met.set(response.status, (met.get(response.status) ?? 0) + 1)
          expect(await wrong(operation, response), `${method} ${path}`).toBeNull()
        }),
        { numRuns, endOnFailure: true },
      )
    }
  }
  expect(service.logged.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([])
  // Calls of every sort were made, not only refused ones.
  for (const status of [200, 201, 400, 404, 422]) expect([...met.keys()]).toContain(status)
})
