/**
 * Every operation that the document has, asked for by the wrong keys: a new route is covered by being described, and
 * one that is not described fails a test of the document.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, type TestService, testService } from '../../../testbed/service.ts'
import { scopeNames } from '../../src/auth/scopes.ts'
import { kinds } from '../../src/desk/index.ts'

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
