/** Every call of `openapi.json` has a method in each client, under one name, and every method says what it does. */
import { expect, test } from 'vitest'
import { type ClientMethod, kebab, resourcesOf, snake } from '../../../tools/generate/clients.ts'
import type { ApiDocument } from '../../../tools/generate/python-models.ts'
import { operations } from '../../cli/src/resources/operation.ts'
import { openApiDocument } from '../../service/src/openapi/document.ts'
import { adminApi } from '../../service/src/roles/admin.ts'
import { textOf } from '../../testbed/repository.ts'
import { createAdminClient, createClient } from '../src/index.ts'

const document = JSON.parse(textOf('openapi.json'))
const admin = await openApiDocument([adminApi])
const methodsOf = (document: unknown) =>
  resourcesOf(document as ApiDocument).flatMap(({ methods }) => methods)
const methods = methodsOf(document)

test('each operation of the API names its method, and no two have one name', () => {
  const nameless = Object.entries<Record<string, { operationId: string; 'x-client'?: string }>>(
    document.paths,
  )
    .flatMap(([, verbs]) => Object.values(verbs))
    .filter((operation) => operation['x-client'] === undefined)
    .map(({ operationId }) => operationId)
  // What is for monitors and for the pages of the documentation.
  expect(nameless).toEqual(['healthz', 'readyz', 'metrics', 'getOpenApi'])
  const names = methods.map(({ resource, name }) => `${resource}.${name}`)
  expect(new Set(names).size).toBe(names.length)
  expect(names.length).toBeGreaterThan(90)
})

test.each(methods.map(({ resource, name }) => [resource, name] as const))(
  '%s.%s is in each client',
  (resource, name) => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:2', apiKey: 'dwk_x' })
    expect(client).toHaveProperty([resource, name], expect.any(Function))
    const python = `${textOf('packages/sdk-python/src/deskwire/_async/resources.py')}${textOf('packages/sdk-python/src/deskwire/_async/stream.py')}`
    expect(python).toMatch(new RegExp(`\\n    (async )?def ${snake(name)}\\(`))
    expect(python).toContain(resource === 'changes' ? 'self.changes = ' : `self.${snake(resource)} = Async`)
    // Those that other commands make, or programs alone.
    if (!['batch', 'export', 'digests', 'exchange', 'sync'].includes(name))
      expect(operations.map((one) => one.name)).toContain(`${kebab(resource)} ${kebab(name)}`)
    expect(textOf('docs/reference/methods.md')).toContain(`\`client.${resource}.${name}\``)
  },
)

test("each call of the operator's API is in the SDKs", () => {
  const client = createAdminClient({ baseUrl: 'http://127.0.0.1:2', apiKey: 'operator' })
  const names = methodsOf(admin).map(({ name }) => name)
  expect(names).toEqual(adminApi.routes.map(() => expect.any(String)))
  expect(names).toContain('createKey')
  const python =
    textOf('packages/sdk-python/src/deskwire/_async/resources.py').split('class AsyncOrganizations:')[1] ?? ''
  for (const name of names) {
    expect(client.organizations).toHaveProperty(name, expect.any(Function))
    expect(python).toContain(` def ${snake(name)}(`)
  }
})

/** The call that a method makes, as `POST /v1/webhooks/1/ping`, and what it sends. */
async function callOf(method: ClientMethod) {
  const { resource, name, ids, body, query, path } = method
  const sent: { call: string; body: unknown; key: string | null }[] = []
  const answer = { data: [], pagination: { hasMore: false, nextCursor: '' } }
  const options = {
    baseUrl: 'http://127.0.0.1:2',
    apiKey: 'dwk_x',
    fetch: async (url: string, { method, headers, body }: RequestInit) => {
      const key = new Headers(headers).get('idempotency-key')
      sent.push({ call: `${method} ${new URL(url).pathname}`, body: body && JSON.parse(String(body)), key })
      return Response.json(answer)
    },
  }
  const client = path.startsWith('/../admin/') ? createAdminClient(options) : createClient(options)
  const methods = client[resource as keyof typeof client] as Record<string, (...given: unknown[]) => unknown>
  const input = body !== null || query.length > 0 ? [name === 'batch' ? [{ name: 'A' }] : { name: 'A' }] : []
  const result = methods[name]?.(...ids.map((_, n) => `${n} /`), ...input)
  if (name === 'export') {
    const changes = (result as AsyncIterable<unknown>)[Symbol.asyncIterator]()
    await expect(changes.next()).rejects.toMatchObject({
      cause: { message: expect.stringContaining('broke off') },
    })
  } else await (method.list === null ? result : (result as { page(): unknown }).page())
  expect(sent).toHaveLength(1)
  return sent[0]
}

test.each(
  [...methods, ...methodsOf(admin)]
    .filter(({ resource }) => resource !== 'changes')
    .map((method) => [method.resource, method.name, method] as const),
)(
  '%s.%s makes the call that it is named for, with its ids and its body',
  async (_resource, _name, method) => {
    const { verb, path, name, body } = method
    const address = new URL(`/v1${path}`, 'http://h').pathname
    let n = 0
    const made = await callOf(method)
    expect(made?.call).toBe(
      `${verb.toUpperCase()} ${decodeURIComponent(address).replace(/\{\w+\}/g, () => `${n++}%20%2F`)}`,
    )
    const item = { name: 'A' }
    const sent = name === 'batch' ? { operation: 'create', items: [item] } : item
    expect(made?.body).toEqual(body === null ? undefined : sent)
    expect(made?.key === null).toBe(verb !== 'post')
  },
)

test.each(['generated.ts', 'resource.ts', 'changes.ts', 'list.ts'])(
  'each public method of %s has a docstring',
  (file) => {
    const lines = textOf(`packages/sdk/src/${file}`).split('\n')
    const begun = lines.flatMap((line, n) => {
      const [, name] = /^ {2}(?:async )?(\w+)(?:<.*>)?\(.*(?:[{(,]|\(\{|>)$/.exec(line) ?? []
      const isOverload = /^ {2}\w+\(/.test(lines[n - 1] ?? '')
      const isMethod = name !== undefined && !/^(constructor|if|for|while|switch|return)$/.test(name)
      return !isMethod || isOverload ? [] : [[name, lines[n - 1]] as const]
    })
    expect(begun.length).toBeGreaterThan(1)
    expect(begun.filter(([, before]) => !/\*\/$/.test(before ?? ''))).toEqual([])
  },
)

test('each public method of Python has a docstring', () => {
  const text = textOf('packages/sdk-python/src/deskwire/_async/resources.py').replace(
    /^ {4}@overload\n[\s\S]*? \.\.\.\n/gm,
    '',
  )
  const begun = [...text.matchAll(/^ {4}(?:async )?def (\w+)\([\s\S]*?\) ->[^\n]*:\n\s*(""")?/gm)]
  expect(begun.length).toBeGreaterThan(90)
  expect(begun.filter(([, name, text]) => name !== '__init__' && text === undefined)).toEqual([])
})
