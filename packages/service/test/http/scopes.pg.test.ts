/**
 * Every operation that the document has, asked for by the wrong keys: a new route is covered by being described, and
 * one that is not described fails a test of the document.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testEngine } from '../../../testbed/engine.ts'
import { deliveriesOf, makeWebhook } from '../../../testbed/hooks.ts'
import { asToken, makeKey } from '../../../testbed/keys.ts'
import { type Api, type TestService, testService } from '../../../testbed/service.ts'
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
}

/** What is asked for before there is a key: it takes the secret of a link. */
const withoutKey = ['post /v1/console-links/exchange']

let service: TestService
let operations: Operation[]

beforeAll(async () => {
  service = await testService()
  const document = (await service.api.get('/openapi.json')).json
  operations = Object.entries<Record<string, Record<string, string>>>(document.paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => ['get', 'post', 'patch', 'delete'].includes(method))
        .filter(([method]) => !withoutKey.includes(`${method} ${path}`))
        .map(([method, operation]) => ({ method, path, scope: operation['x-scope'] ?? null })),
    )
})

afterAll(() => service[Symbol.asyncDispose]())

/** Asks with an id that stands for every id in the address. */
function ask(api: Api, { method, path }: Operation, id = '01980000-0000-7000-8000-000000000001') {
  const address = path.replaceAll(/\{\w+\}/g, id)
  switch (method) {
    case 'post':
      return api.post(address, {})
    case 'patch':
      return api.patch(address, {})
    case 'delete':
      return api.delete(address)
    default:
      return api.get(address)
  }
}

test('there is an operation for each scope, and each scope is one that a key can have', () => {
  const asked = new Set(operations.flatMap(({ scope }) => scope ?? []))
  expect([...asked].filter((scope) => !all.includes(scope))).toEqual([])
  // A batch needs it by what its body asks for: import.pg.test.ts.
  expect(all.filter((scope) => !['*', 'import'].includes(scope) && !asked.has(scope))).toEqual([])
  const open = operations.filter(({ scope }) => scope === null).map(({ path }) => path)
  // A key may ask what it is, the stream over all kinds and the list of events show each what it may read, and a link lends what its key holds.
  expect(open.sort()).toEqual([
    '/v1/api-keys/self',
    '/v1/changes',
    '/v1/console-links',
    '/v1/console-links/{id}',
    '/v1/events',
    '/v1/organization',
  ])
})

test('without a key each is 401', async () => {
  const nobody = service.withToken(null)
  for (const operation of operations) {
    const { status, json } = await ask(nobody, operation)
    expect({ ...operation, status, code: json.code }).toEqual({
      ...operation,
      status: 401,
      code: 'unauthorized',
    })
  }
})

test('a key with every other scope is refused by each, and told the one it lacks', async () => {
  const byScope = Map.groupBy(operations, ({ scope }) => scope)
  for (const [scope, these] of byScope) {
    if (scope === null) continue
    const others = all.filter((other) => other !== scope && other !== '*')
    const key = await service.newKey(service.api.organizationId, others)
    for (const operation of these) {
      const { status, json } = await ask(key, operation)
      expect({ ...operation, status, code: json.code }).toEqual({
        ...operation,
        status: 403,
        code: 'insufficient_scope',
      })
      expect(json.detail).toBe(`This needs a key with the scope ${scope}.`)
    }
  }
})

test('a key with its scope alone is let in by each, and so is one with everything', async () => {
  const everything = await service.newKey(service.api.organizationId, ['*'])
  for (const operation of operations) {
    const scopes = operation.scope === null ? [] : [operation.scope]
    for (const key of [await service.newKey(service.api.organizationId, scopes), everything]) {
      const { status } = await ask(key, operation)
      expect({ ...operation, refused: [401, 403].includes(status) }).toEqual({ ...operation, refused: false })
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

test('a key without the read scope of a kind is shown nothing of it by any route, and finds nothing by asking', async () => {
  const { owner, api, ids, make, deliveries } = await plantedDesk()
  const addresses = (path: string) => {
    const [, , collection = ''] = path.split('/')
    const address = path.replace('{id}', ids[collection] ?? '').replace('{recoveryId}', ids.recoveryId ?? '')
    if (!address.includes('{deliveryId}')) return [address + (queries[path] ?? '')]
    return deliveries.map(({ id }) => address.replace('{deliveryId}', id))
  }
  const reading = operations.filter(({ method }) => method === 'get')
  const everything = (
    await Promise.all(reading.flatMap(({ path }) => addresses(path)).map((path) => api.get(path)))
  )
    .map(({ text }) => text)
    .join()
  for (const { plural } of kinds) expect(everything).toContain(secretOf(plural))
  expect(everything).toContain(`"name":"${keyName}"`)

  for (const kind of kinds) {
    const scope = `${kind.plural}:read`
    const others = all.filter((other) => other !== scope && other !== '*')
    const key = asToken(service, owner, (await makeKey(owner, { scopes: others })).token)
    const secrets = [secretOf(kind.plural), ...(kind.plural === 'teammates' ? [keyName] : [])]
    for (const { path, scope: needed } of reading)
      for (const address of addresses(path)) {
        const { status, text, headers } = await key.get(address)
        const found = secrets.filter((secret) => (text + JSON.stringify([...headers])).includes(secret))
        const isKeys = path.startsWith('/v1/api-keys')
        expect({ scope, address, found: isKeys ? [] : found }).toEqual({ scope, address, found: [] })
        // A payload of the kind, and an export of a person with theirs, need the scope as well.
        const refused =
          needed === scope || (status === 403 && /payload|customers\/[^/]+\/export/.test(address))
        expect({ scope, address, status }).toEqual({ scope, address, status: refused ? 403 : 200 })
      }

    // A value of the kind as a filter of other lists finds what a word that nothing has finds.
    for (const { path } of reading.filter(({ path }) => !path.includes('{')))
      for (const name of ['q', 'tag', 'email', 'externalId']) {
        const [found, none] = await Promise.all(
          [secretOf(kind.plural), 'nothing'].map(async (value) => {
            const { status, json } = await key.get(`${path}?${name}=${value}`)
            return { path, name, status, total: json?.pagination?.total }
          }),
        )
        expect(found).toEqual(none)
      }

    // Endpoints of others, whose conditions, counts and receivers would answer for the objects.
    const webhook = `/v1/webhooks/${ids.webhooks}`
    const [delivery] = deliveries
    const asked = [
      await key.patch(webhook, { conditions: null }),
      await key.patch(webhook, { skipOwn: true }),
      await key.patch(webhook, { url: 'https://127.0.0.1:1/other' }),
      await key.post(`${webhook}/recover`, { since: '2020-01-01T00:00:00Z' }),
      await key.post(`${webhook}/rotate-secret`, undefined),
      await key.post(`${webhook}/hasten`, undefined),
      await key.post(`${webhook}/deliveries/${delivery.id}/retry`, undefined),
      await key.post(`${webhook}/deliveries/${delivery.id}/resend`, undefined),
      await key.post('/v1/webhooks', {
        url: 'https://127.0.0.1:1/own',
        events: Object.keys(kind.events).slice(0, 1),
      }),
      await key.delete(webhook),
    ]
    expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 403))

    // A duplicate does not name the object, and a receipt neither counts nor proves the kind.
    const twice = await key.post(
      '/v1/customers',
      newObject(kinds.find(({ name }) => name === 'customer')!, noDesk, secretOf('customers')),
    )
    expect([twice.status, twice.text.includes(ids.customers!)]).toEqual([409, kind.name !== 'customer'])
    const before = { ...ids }
    for (const one of kinds.filter(({ name }) => name !== 'teammate')) await make(one, `${scope} ${one.name}`)
    const receipt = await key.post(`/v1/customers/${ids.customers}/erase`, undefined)
    Object.assign(ids, before)
    expect(receipt.status).toBe(200)
    const shown = [receipt.json.removed, receipt.json.checkpoint].map((counts) => Object.keys(counts).length)
    expect({ scope, shown }).toEqual({ scope, shown: kind.name === 'teammate' ? [6, 6] : [5, 5] })
    expect(receipt.text).not.toContain(`"${kind.name}":`)
  }
})

const noDesk = { customerId: '', conversationId: '', teammateId: '', word: '' }
