/** `openapi.json` by itself: a public validator accepts it, its examples follow its schemas, its types compile. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import openapiTypes, { astToString } from 'openapi-typescript'
import { expect, test } from 'vitest'
import { apiDocument, apiModules } from '../../src/api-document.ts'
import { kinds } from '../../src/desk/index.ts'
import { errorCatalogue } from '../../src/kernel/error-catalogue.ts'
import { openApiDocument } from '../../src/openapi/document.ts'
import { refusalsOf } from '../../src/openapi/refusals.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of JSON; a wrong guess fails the test
type Json = any

const document = JSON.parse(JSON.stringify(await apiDocument(kinds))) as Json
const methods = ['get', 'post', 'patch', 'delete']

test('is valid OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  expect(errors).toBeUndefined()
  expect(valid).toBe(true)
  const broken = structuredClone(document)
  delete broken.paths['/v1/tickets'].get.responses
  broken.paths['/v1/tickets'].get.parameters[0].in = 'nowhere'
  expect((await new Validator().validate(broken)).valid).toBe(false)
})

test('every path is one that a program calls', () => {
  const known = ['/.well-known/webhook-addresses.json', '/.well-known/jwks.json']
  const beside = ['/healthz', '/readyz', '/metrics', '/openapi.json', ...known]
  const others = Object.keys(document.paths).filter((path) => !path.startsWith('/v1/'))
  expect(others.sort()).toEqual(beside.sort())
})

test('is made in turns: others are served between parts that take long', async () => {
  const slow = (name: string) => ({
    tags: [],
    routes: [],
    schemas() {
      const until = performance.now() + 10
      while (performance.now() < until);
      return { [name]: {} }
    },
  })
  let turns = 0
  let made = false
  const count = () => {
    turns++
    if (!made) setImmediate(count)
  }
  setImmediate(count)
  await openApiDocument(['A', 'B', 'C', 'D'].map(slow))
  made = true
  expect(turns).toBeGreaterThanOrEqual(3)
})

test('what it refers to is there, all that is there is referred to, and no operation is named twice', () => {
  const text = JSON.stringify(document)
  const used = new Set<string>()
  for (const [, section = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)) {
    expect(document.components[section], `${section}/${name}`).toHaveProperty([name])
    used.add(`${section}/${name}`)
  }
  const unused = Object.entries<Json>(document.components)
    .filter(([section]) => section !== 'securitySchemes')
    .flatMap(([section, entries]) => Object.keys(entries).map((name) => `${section}/${name}`))
    .filter((name) => !used.has(name))
  expect(unused).toEqual([])
  const ids = [...text.matchAll(/"operationId":"(\w+)"/g)].map(([, name]) => name)
  expect(ids.length).toBeGreaterThan(30)
  expect(new Set(ids).size).toBe(ids.length)
})

test('says nothing that generators stumble over', () => {
  const found: string[] = []
  visit(document, (node, path) => {
    // oapi-codegen follows references to whole components alone.
    if (typeof node.$ref === 'string' && !/^#\/components\/\w+\/[\w-]+$/.test(node.$ref)) found.push(path)
    // Without a type it is anything in Go; openapi-python-client writes no Python for a constant that is no string.
    if ('const' in node && (node.type !== 'string' || typeof node.const !== 'string')) found.push(path)
    if (Array.isArray(node.type) && node.type.filter((type: string) => type !== 'null').length > 1)
      found.push(path)
  })
  expect(found).toEqual([])
})

test('rows of a page are told apart by their object', () => {
  const pages = Object.entries<Json>(document.components.schemas).filter(([name]) => name.endsWith('Page'))
  const mixed = pages.flatMap(([, { properties }]) => properties.data.items).filter((one) => one.oneOf)
  expect(mixed.length).toBe(kinds.length + 1)
  for (const { oneOf, discriminator } of mixed) {
    expect(Object.values(discriminator.mapping)).toEqual(oneOf.map(({ $ref }: Json) => $ref))
    for (const [value, $ref] of Object.entries(discriminator.mapping))
      expect(resolved({ $ref }).properties.object.const).toBe(value)
  }
})

test('every operation and parameter is described, and every field of every schema that clients read', () => {
  const operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
    methods.filter((method) => item[method]).map((method) => [`${method} ${path}`, item[method]]),
  )
  for (const [name, { summary, tags, parameters = [], responses }] of operations) {
    expect({ name, summary, tags }).toEqual({
      name,
      summary: expect.stringMatching(/./),
      tags: [expect.any(String)],
    })
    for (const { name: parameter, description } of parameters.map(resolved)) {
      expect(description, `${name} ${parameter}`).toMatch(/\.$/)
    }
    for (const [status, answer] of Object.entries<Json>(responses)) {
      expect(resolved(answer).headers, `${name} ${status}`).toHaveProperty('X-Request-Id')
    }
  }
  for (const [name, { properties = {} }] of Object.entries<Json>(document.components.schemas)) {
    for (const [field, schema] of Object.entries<Json>(properties)) {
      if (schema.const === undefined) expect(resolved(schema).description, `${name}.${field}`).toMatch(/\.$/)
    }
  }
})

test('each code that a call can be refused with has an example of a whole problem with its own status', () => {
  const parts = apiModules(kinds).flatMap(({ routes }) => routes)
  const possible = new Set<string>(parts.flatMap(refusalsOf))
  const refusals = Object.keys(errorCatalogue).filter((code) => possible.has(code))
  expect(Object.keys(document.components.examples)).toEqual(refusals)
  for (const [code, { value }] of Object.entries<Json>(document.components.examples)) {
    const { status, title } = errorCatalogue[code as keyof typeof errorCatalogue]
    expect(value).toMatchObject({ code, status, title, type: `/docs/errors/${code}` })
  }
})

test('every example follows its schema', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema({ $id: 'openapi', components: document.components })
  const validators = new Map<string, ReturnType<typeof ajv.compile>>()
  const wrong = (schema: Json, value: unknown) => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/')
    const validate = validators.get(text) ?? ajv.compile(JSON.parse(text))
    validators.set(text, validate)
    return validate(value) ? [] : (validate.errors ?? [])
  }
  // The check itself can fail.
  expect(wrong({ $ref: '#/components/schemas/Removed' }, { object: 'removed' })).not.toEqual([])

  let checked = 0
  visit(document, (node, path) => {
    const schema = node.schema ?? (node.type || node.properties || node.anyOf ? node : undefined)
    if (schema === undefined) return
    const values = Array.isArray(node.examples)
      ? node.examples
      : Object.values<Json>(node.examples ?? {}).map((example) => resolved(example).value)
    if ('example' in node) values.push(node.example)
    for (const value of values) {
      checked++
      expect({ path, wrong: wrong(schema, value) }).toEqual({ path, wrong: [] })
    }
  })
  expect(checked).toBeGreaterThan(100)
})

test('every body, and every answer with one, has an example', () => {
  const without: string[] = []
  visit({ paths: document.paths, webhooks: document.webhooks }, (node, path) => {
    const media = node['application/json']
    if (media === undefined || path.includes('healthz') || path.includes('openapi.json')) return
    const { examples } = resolved(media.schema)
    if (media.example === undefined && media.examples === undefined && examples === undefined)
      without.push(path)
  })
  expect(without).toEqual([])
})

test('its types compile strictly, and say what the document says', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'deskwire-types-'))
  try {
    writeFileSync(join(scratch, 'api.ts'), astToString(await openapiTypes(structuredClone(document))))
    writeFileSync(join(scratch, 'use.ts'), use)
    compile(scratch)
    writeFileSync(join(scratch, 'use.ts'), use.replace("subject: 'Help'", 'subject: 7'))
    expect(() => compile(scratch)).toThrow(/TS2322/)
  } finally {
    rmSync(scratch, { recursive: true })
  }
})

const use = `
import type { components, operations, paths, webhooks } from './api.ts'

type Ticket = components['schemas']['Ticket']
export const number = (ticket: Ticket): number => ticket.number
export const assignee = (ticket: Ticket): string | null => ticket.assigneeId
export const creation: components['schemas']['TicketCreate'] = { customerId: 'c', subject: 'Help' }
export const patch: NonNullable<operations['updateTicket']['requestBody']>['content']['application/json'] = { status: 'open' }
export type Page = paths['/v1/tickets']['get']['responses'][200]['content']['application/json']
export const rows = (page: Page): (Ticket | components['schemas']['Removed'])[] => page.data
export type Sent = webhooks['ticket.created']['post']['requestBody']['content']['application/json']
export const subject = (sent: Sent): string => sent.data.subject
`

function compile(directory: string): void {
  const tsc = fileURLToPath(new URL('../../../../node_modules/typescript/bin/tsc', import.meta.url))
  const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess']
  const modules = [
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--allowImportingTsExtensions',
    '--types',
    '',
  ]
  try {
    execFileSync(process.execPath, [tsc, ...options, ...modules, join(directory, 'use.ts')], {
      cwd: directory,
      encoding: 'utf8',
    })
  } catch (error) {
    throw new Error((error as { stdout: string }).stdout)
  }
}

function resolved(node: Json): Json {
  const path = typeof node.$ref === 'string' ? node.$ref.split('/').slice(1) : null
  return path === null ? node : path.reduce((at: Json, step: string) => at[step], document)
}

function visit(node: Json, see: (node: Json, path: string) => void, path = '#'): void {
  if (typeof node !== 'object' || node === null) return
  if (!Array.isArray(node)) see(node, path)
  for (const [name, child] of Object.entries<Json>(node)) {
    // Examples are values, and the names of properties are no keywords.
    if (['examples', 'example', 'enum'].includes(name)) continue
    if (name === 'properties')
      for (const [field, one] of Object.entries<Json>(child)) visit(one, see, `${path}/${field}`)
    else visit(child, see, `${path}/${name}`)
  }
}
