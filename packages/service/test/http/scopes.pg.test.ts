/**
 * Every operation that the document has, asked for by the wrong keys: a new route is covered by being described, and
 * one that is not described fails a test of the document.
 */
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { testEngine } from '../../../testbed/engine.ts'
import { deliveriesOf, makeWebhook } from '../../../testbed/hooks.ts'
import { asToken, makeKey } from '../../../testbed/keys.ts'
import { type TestService, testService } from '../../../testbed/service.ts'
import { scopeNames } from '../../src/auth/scopes.ts'
import { kinds } from '../../src/desk/index.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { newObject } from './writable.fixture.ts'

const all = scopeNames(kinds)

interface Operation {
  readonly method: string
  readonly path: string
  /** Null where any key will do. */
  readonly scope: string | null
  /** The parameters of its query. */
  readonly query: readonly string[]
}

interface Described {
  readonly 'x-scope'?: string
  readonly parameters: readonly { readonly name?: string; readonly in?: string }[]
}

/** What is asked for before there is a key: it takes the secret of a link. */
const withoutKey = ['post /v1/console-links/exchange']

let service: TestService
let operations: Operation[]

beforeAll(async () => {
  service = await testService()
  const document = (await service.api.get('/openapi.json')).json
  operations = Object.entries<Record<string, Described>>(document.paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => ['get', 'post', 'patch', 'delete'].includes(method))
        .filter(([method]) => !withoutKey.includes(`${method} ${path}`))
        .map(([method, { 'x-scope': scope = null, parameters }]) => ({
          method,
          path,
          scope,
          query: parameters.flatMap((one) =>
            one.in === 'query' && one.name !== undefined ? [one.name] : [],
          ),
        })),
    )
})

afterAll(() => service[Symbol.asyncDispose]())

const unknownId = '01980000-0000-7000-8000-000000000001'
const withUnknownId = (path: string) => path.replaceAll(/\{\w+\}/g, unknownId)

/** Under one request id, so that equal answers are equal to the byte. */
async function call(token: string | null, method: string, path: string, body: unknown = {}) {
  const answer = await fetch(service.url + path, {
    method: method.toUpperCase(),
    headers: {
      'x-request-id': 'one',
      'content-type': 'application/json',
      ...(token !== null && { authorization: `Bearer ${token}` }),
    },
    ...((method === 'post' || method === 'patch') && { body: JSON.stringify(body) }),
  })
  const [text, headers] = [await answer.text(), [...answer.headers].filter(([name]) => name !== 'date')]
  const json = /[/+]json\b/.test(answer.headers.get('content-type') ?? '') ? JSON.parse(text) : null
  return { status: answer.status, text, json, headers: JSON.stringify(headers) }
}

/** Some at a time: more would be refused as too many. */
async function eachOf<A, B>(items: readonly A[], work: (item: A) => Promise<B>): Promise<B[]> {
  const results: B[] = []
  for (let from = 0; from < items.length; from += 10)
    results.push(...(await Promise.all(items.slice(from, from + 10).map(work))))
  return results
}

test('there is an operation for each scope, and each scope is one that a key can have', () => {
  const asked = new Set(operations.flatMap(({ scope }) => scope ?? []))
  expect([...asked].filter((scope) => !all.includes(scope))).toEqual([])
  // A batch needs it by what its body asks for: import.pg.test.ts.
  expect(all.filter((scope) => !['*', 'import'].includes(scope) && !asked.has(scope))).toEqual([])
})

test('each asks for the scope of what its address names: to read it, or to write it', () => {
  const byRule = (method: string, named: string) =>
    named === 'api-keys' ? 'api_keys:manage' : `${named}:${method === 'get' ? 'read' : 'write'}`
  const others = operations.filter(({ method, path, scope }) => scope !== byRule(method, path.split('/')[2]!))
  // A key may ask what it is, the stream over all kinds and the list of events show each what it may read, and a link lends what its key holds.
  expect(others.map(({ method, path, scope }) => `${method} ${path}: ${scope}`).sort()).toEqual([
    'delete /v1/console-links/{id}: null',
    'get /v1/api-keys/self: null',
    'get /v1/changes: null',
    'get /v1/deliveries: webhooks:read',
    'get /v1/events: null',
    'get /v1/inbox/counts: conversations:read',
    'get /v1/inbox: conversations:read',
    'get /v1/organization: null',
    'get /v1/stats: webhooks:read',
    'patch /v1/organization: api_keys:manage',
    'post /v1/console-links: null',
    'post /v1/customers/{id}/erase: customers:erase',
  ])
})

test('without a key each is 401', async () => {
  const answers = await eachOf(operations, ({ method, path }) => call(null, method, withUnknownId(path)))
  expect(answers.map(({ status, json }) => [status, json.code])).toEqual(
    operations.map(() => [401, 'unauthorized']),
  )
})

test('a key with its scope alone is let in by each, and so is one with everything', async () => {
  const everything = await service.newKey(service.api.organizationId, ['*'])
  for (const [scope, these] of Map.groupBy(operations, (operation) => operation.scope)) {
    const alone = await service.newKey(service.api.organizationId, scope === null ? [] : [scope])
    for (const { token } of [alone, everything]) {
      const answers = await eachOf(these, ({ method, path }) => call(token, method, withUnknownId(path)))
      // An export of a person needs more scopes than its own.
      const isRefused = ({ status, text }: (typeof answers)[number]) =>
        status === 401 || (status === 403 && !/ as well\./.test(text))
      const refused = these.filter((_, n) => isRefused(answers[n]!))
      expect({ scope, refused }).toEqual({ scope, refused: [] })
    }
  }
})

/** Is in each text of the kind's object. */
const secretOf = (plural: string) => `geheim-${plural}`
const keyName = 'geheim-key'
const queries: Readonly<Record<string, string>> = {
  '/v1/changes': '?limit=100&updatedAfter=1970-01-01T00:00:00Z',
  '/v1/events': '?limit=100&include=actor',
}

/** An object of each kind, made by a key for a teammate, and an endpoint whose receiver repeats what it was sent. */
async function plantedDesk() {
  const owner = await service.newOrganization()
  const { token } = await makeKey(owner, { name: keyName, scopes: ['*'] })
  const api = asToken(service, owner, token)
  const events = kinds.flatMap((kind) => Object.keys(kind.events))
  const webhook = await makeWebhook(owner, { events, includeActor: true })
  const ids: Record<string, string> = { webhooks: webhook.id, 'api-keys': webhook.apiKeyId }
  const make = async (kind: (typeof kinds)[number], unique: string) => {
    const { customers = '', conversations = '', teammates = '' } = ids
    const desk = { customerId: customers, conversationId: conversations, teammateId: teammates, word: unique }
    const acting = teammates === '' ? {} : { 'x-acting-teammate': teammates }
    const made = await api.post(`/v1/${kind.plural}`, newObject(kind, desk, unique), acting)
    expect({ kind: kind.name, status: made.status, text: made.text }).toMatchObject({ status: 201 })
    ids[kind.plural] = made.json.id
  }
  for (const kind of kinds) await make(kind, secretOf(kind.plural))
  const { engine } = testEngine(service, systemClock, {
    send: async ({ body }) => ({ kind: 'answered', status: 200, responseBody: body, durationMs: 1 }),
  })
  await engine.runDue()
  const recovery = await owner.post(`/v1/webhooks/${webhook.id}/recover`, { since: webhook.createdAt })
  ids.recoveryId = recovery.json.id
  return { owner, api, ids, make, deliveries: await deliveriesOf(owner, webhook.id) }
}

test('a key without one scope learns nothing of what that opens, by any route, and finds nothing by asking', async () => {
  const { owner, api, ids, make, deliveries } = await plantedDesk()
  const addresses = (path: string, someDeliveries = deliveries) => {
    const [, , collection = ''] = path.split('/')
    const address = path.replace('{id}', ids[collection] ?? '').replace('{recoveryId}', ids.recoveryId ?? '')
    if (!address.includes('{deliveryId}')) return [address + (queries[path] ?? '')]
    return someDeliveries.map(({ id }) => address.replace('{deliveryId}', id))
  }
  const reading = operations.filter(({ method }) => method === 'get')
  const shown = await eachOf(
    reading.flatMap(({ path }) => addresses(path)),
    (path) => call(api.token, 'get', path),
  )
  const everything = shown.map(({ text }) => text).join()
  for (const { plural } of kinds) expect(everything).toContain(secretOf(plural))
  expect(everything).toContain(`"name":"${keyName}"`)

  const keys = new Map<string, string>()
  for (const scope of all.filter((one) => one !== '*')) {
    const { token } = await makeKey(owner, { scopes: all.filter((one) => one !== scope && one !== '*') })
    keys.set(scope, token)
    await call(token, 'get', '/v1/api-keys/self')
  }
  const logged = service.logged.length

  // Refused alike whether there is such an object or not: to the byte, and without a statement that could take its time.
  const statements = vi.spyOn(Client.prototype, 'query')
  const needing = operations.filter(({ scope }) => scope !== null)
  const verdicts = await eachOf(needing, async ({ method, path, scope }) => {
    const token = keys.get(scope ?? '') ?? ''
    const urls = [...addresses(path, deliveries.slice(0, 1)), withUnknownId(path)]
    const [known, unknown] = await Promise.all(urls.map((url) => call(token, method, url)))
    expect({ method, path, ...known }).toEqual({ method, path, ...unknown })
    return [known?.status, known?.json.code, known?.json.detail]
  })
  expect(verdicts).toEqual(
    needing.map(({ scope }) => [403, 'insufficient_scope', `This needs a key with the scope ${scope}.`]),
  )
  const texts = statements.mock.calls
    .map(([query]) => textOf(query))
    .filter((text) => !/api_key_tokens/.test(text))
  statements.mockRestore()
  expect(texts).toEqual([])

  for (const kind of kinds) {
    const scope = `${kind.plural}:read`
    const token = keys.get(scope) ?? ''
    const key = asToken(service, owner, token)
    const secrets = [secretOf(kind.plural), ...(kind.plural === 'teammates' ? [keyName] : [])]
    const open = reading.filter((operation) => operation.scope !== scope)
    await eachOf(
      open.flatMap(({ path }) => addresses(path)),
      async (address) => {
        const { status, text, headers } = await call(token, 'get', address)
        const found = secrets.filter((secret) => (text + headers).includes(secret))
        const isKeys = address.startsWith('/v1/api-keys')
        // A payload of the kind, and an export of a person with theirs, need the scope as well.
        const mayRefuse = /payload|customers\/[^/]+\/export/.test(address)
        const verdict = status === 403 && mayRefuse ? 200 : status
        expect({ address, verdict, found: isKeys ? [] : found }).toEqual({ address, verdict: 200, found: [] })
      },
    )

    // A value of the kind as a filter of other lists finds what a word that nothing has finds.
    const filters = open.flatMap(({ path, query }) =>
      query
        .filter((name) => ['q', 'tag', 'email', 'externalId'].includes(name))
        .map((name) => `${path}?${name}=`),
    )
    await eachOf(filters, async (filter) => {
      const [found, none] = await Promise.all(
        [secretOf(kind.plural), 'nothing'].map(async (value) => {
          const { status, json } = await call(token, 'get', filter + value)
          return { filter, status, total: json?.pagination?.total, rows: json?.data?.length }
        }),
      )
      expect(found).toEqual(none)
    })

    // Endpoints of others, whose conditions, counts and receivers would answer for the objects.
    const webhook = `/v1/webhooks/${ids.webhooks}`
    const delivery = `${webhook}/deliveries/${deliveries[0].id}`
    const asked = await eachOf(
      [
        ['patch', webhook, { conditions: null }],
        ['patch', webhook, { skipOwn: true }],
        ['patch', webhook, { url: 'https://127.0.0.1:1/other' }],
        ['post', `${webhook}/recover`, { since: '2020-01-01T00:00:00Z' }],
        ['post', `${webhook}/rotate-secret`, undefined],
        ['post', `${webhook}/retry-now`, undefined],
        ['post', `${delivery}/retry`, undefined],
        ['post', `${delivery}/resend`, undefined],
        [
          'post',
          '/v1/webhooks',
          { url: 'https://127.0.0.1:1/own', events: Object.keys(kind.events).slice(0, 1) },
        ],
        ['delete', webhook, undefined],
      ] as const,
      ([method, url, body]) => call(token, method, url, body),
    )
    expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 403))

    // A duplicate does not name the object, and a receipt neither counts nor proves the kind.
    const twice = await key.post(
      '/v1/customers',
      newObject(kinds.find(({ name }) => name === 'customer')!, noDesk, secretOf('customers')),
    )
    expect([twice.status, twice.text.includes(ids.customers!)]).toEqual([409, kind.name !== 'customer'])
    const before = ids.customers
    await make(kinds.find(({ name }) => name === 'customer')!, scope)
    const receipt = await key.post(`/v1/customers/${ids.customers}/erase`, undefined)
    Object.assign(ids, { customers: before })
    expect(receipt.status).toBe(200)
    const counted = [receipt.json.removed, receipt.json.checkpoint].map(
      (counts) => Object.keys(counts).length,
    )
    expect({ scope, counted }).toEqual({ scope, counted: kind.name === 'teammate' ? [6, 6] : [5, 5] })
    expect(receipt.text).not.toContain(`"${kind.name}":`)
  }
  const lines = service.logged.slice(logged).filter(({ req }) => !/=geheim/.test(JSON.stringify(req ?? '')))
  expect(JSON.stringify(lines)).not.toMatch(/geheim|dwk_/)
})

/** Of a statement, however it is given to the driver. */
const textOf = (query: unknown) => (typeof query === 'string' ? query : (query as { text: string }).text)

const noDesk = { customerId: '', conversationId: '', teammateId: '', word: '' }
