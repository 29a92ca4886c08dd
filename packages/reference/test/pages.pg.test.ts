/** The served pages: operations, objects, events and errors, no other hosts, and their caching. */
import { expect, test } from 'vitest'
import { apiModules } from '../../service/src/api-document.ts'
import { kinds } from '../../service/src/desk/index.ts'
import { errorCatalogue } from '../../service/src/kernel/error-catalogue.ts'
import { sharedService } from '../../testbed/shared-service.ts'
import { readDocuments } from '../src/documents.ts'
import { placeOf } from '../src/navigation.ts'
import { eventPage, objectPage } from '../src/object-pages.ts'
import { operationPage } from '../src/operation-page.ts'
import { readReference, type ShownOperation } from '../src/reference.ts'
import type { SearchEntry, Sort } from '../src/search-index.ts'

const service = sharedService()

const page = (path: string, headers: Record<string, string> = {}) =>
  service().withToken(null).get(path, headers)
const codes = Object.entries(errorCatalogue)

test('every code has a page that says status, meaning, what to do, and shows a problem; the index leads there', async () => {
  const index = await page('/docs/errors')
  expect(index.status).toBe(200)
  for (const [code, { status, title, means, help }] of codes) {
    expect(index.text).toContain(`href="/docs/errors/${code}"`)
    const answer = await page(`/docs/errors/${code}`)
    expect({ code, status: answer.status }).toEqual({ code, status: 200 })
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const words = answer.text.replaceAll(/<[^>]*>/g, '')
    for (const part of [String(status), code, title, means, help]) {
      expect(words).toContain(escaped(part.replaceAll('`', '')))
    }
    expect(words).toContain(escaped(`"type": "/docs/errors/${code}"`))
  }
})

test('every operation, object, event and document has its place at the side, and the links there lead to their pages', async () => {
  const { text } = await page('/docs')
  const [side = ''] = /<nav id="navigation"[\s\S]*?<\/nav>/.exec(text) ?? []
  const links = [...side.matchAll(/href="([^"]+)"/g)].map(([, address = '']) => address)
  expect(new Set(links)).toHaveLength(links.length)
  const { paths, webhooks } = (await page('/openapi.json')).json
  const operations = Object.values<Record<string, { operationId?: string }>>(paths).flatMap((item) =>
    Object.values(item).flatMap(({ operationId }) => (operationId === undefined ? [] : [operationId])),
  )
  expect(operations.length).toBeGreaterThan(90)
  for (const id of operations) expect(links).toContain(`/docs/api/${id}`)
  for (const type of Object.keys(webhooks)) expect(links).toContain(`/docs/events/${type}`)
  for (const name of kinds.map((kind) => kind.name)) {
    expect(links).toContain(`/docs/objects/${name.charAt(0).toUpperCase()}${name.slice(1)}`)
  }
  // The table of errors says what their pages say.
  const documents = [...readDocuments().values()].filter(({ about }) => about !== null)
  expect(documents.filter(({ path }) => !links.includes(`/docs/${path}`)).map(({ path }) => path)).toEqual([
    'reference/errors.md',
  ])
  for (const address of links.filter((_, n) => n % 12 === 0)) {
    const { status, headers } = await page(address, { accept: 'text/html' })
    expect({ address, status }).toEqual({ address, status: 200 })
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  }
})

test('every operation, object and event has a page that can be made', async () => {
  const reference = await readReference(apiModules(kinds))
  const { operations, objects, events } = reference
  const pages = [
    ...[...operations.values()].map((operation) => operationPage(operation, reference)),
    ...[...objects].map(([name, schema]) => objectPage(name, schema, reference)),
    ...[...events.values()].map((event) => eventPage(event, reference)),
  ]
  expect(pages.length).toBeGreaterThan(130)
  for (const { title, content } of pages) {
    expect(content.text, title).toContain('<h1>')
    expect(content.text, title).not.toMatch(/undefined|\[object Object\]/)
  }
})

test('what is worked on at the desk are the kinds; every other sort of operation has a place of its own', async () => {
  const reference = await readReference(apiModules(kinds))
  const atTheDesk = [...reference.operations.values()].filter((one) => placeOf(one).task === 'desk')
  expect(new Set(atTheDesk.map(({ tag }) => tag))).toEqual(new Set(kinds.map(({ plural }) => plural)))
})

test('an operation is shown with what it takes, answers, refuses and causes', async () => {
  const { operations } = await readReference(apiModules(kinds))
  for (const id of ['createTicket', 'listBookings', 'deleteCustomer', 'rescheduleBooking', 'createWebhook']) {
    const { parameters, errors, events, answers, path } = operations.get(id) as ShownOperation
    const { text } = await page(`/docs/api/${id}`)
    expect(text).toContain(path)
    for (const { in: where, name } of parameters) expect(text).toContain(`id="${where}-${name}"`)
    for (const code of errors) expect(text).toContain(`href="/docs/errors/${code}"`)
    for (const { status } of answers) expect(text).toContain(`id="answer-${status}"`)
    for (const type of [...(events?.always ?? []), ...(events?.sometimes ?? [])]) {
      expect(text).toContain(`href="/docs/events/${type}"`)
      expect((await page(`/docs/events/${type}`)).text).toContain(`href="/docs/api/${id}"`)
    }
  }
  const { text } = await page('/docs/api/createTicket')
  for (const field of ['customerId', 'subject', 'customAttributes'])
    expect(text).toContain(`id="body-${field}"`)
  expect(text).toContain('<span class="required">required</span>')
  for (const path of ['/docs/api/nothing', '/docs/objects/TicketCreate', '/docs/events/__proto__']) {
    expect(await page(path)).toMatchObject({ status: 404, json: { code: 'not_found' } })
  }
})

test('the search has whatever has a page, and each of its addresses leads to an anchor that is there', async () => {
  const entries: readonly SearchEntry[] = (await page('/docs/search.json')).json
  const bySort = Map.groupBy(entries, ([sort]) => sort)
  for (const [sort, least] of Object.entries({
    operation: 90,
    field: 250,
    object: 20,
    event: 20,
    error: 30,
    guide: 200,
  })) {
    expect({ sort, enough: (bySort.get(sort as Sort)?.length ?? 0) >= least }).toEqual({ sort, enough: true })
  }
  for (const sort of ['field', 'guide'] as const) {
    const pages = Map.groupBy(bySort.get(sort) ?? [], ([, , address]) => address.split('#')[0] as string)
    const dead: string[] = []
    for (const [address, these] of [...pages].slice(0, 12)) {
      const { text } = await page(address, { accept: 'text/html' })
      for (const [, , target] of these) {
        const [, anchor] = target.split('#')
        if (anchor !== undefined && !text.includes(` id="${anchor}"`)) dead.push(target)
      }
    }
    expect(dead).toEqual([])
  }
})

test('the type of a problem leads to its page', async () => {
  const problems = [
    await page('/v1/customers'),
    await page('/nowhere'),
    await service().api.post('/v1/customers', {}),
    await service().api.post('/v1/customers', '{'),
    await service().api.get('/v1/customers?limit=many'),
    await service().api.get('/v1/customers?cursor=x'),
  ]
  for (const { json } of problems) {
    const explained = await page(json.type)
    expect(explained.status).toBe(200)
    expect(explained.text).toContain(`<h1>${escaped(json.title)}</h1>`)
  }
})

test('a code that there is not is a page too, with 404, and what was asked for is text', async () => {
  const unknown = await page('/docs/errors/no_such_thing')
  expect(unknown.status).toBe(404)
  expect(unknown.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(unknown.text).toContain('no_such_thing')
  for (const name of ['%3Cscript%3Ealert(1)%3C%2Fscript%3E', '__proto__', 'toString', '%22%27%26']) {
    const odd = await page(`/docs/errors/${name}`)
    expect(odd.status).toBe(404)
    expect(odd.text).not.toContain('<script>')
  }
})

test('pages are asked for again and not sent again; a 404 is never "not modified"', async () => {
  for (const path of [
    '/docs',
    '/docs/api/createTicket',
    '/docs/objects/Ticket',
    '/docs/events/ticket.created',
    '/docs/search.json',
    '/docs/errors',
    '/docs/errors/not_found',
    '/openapi.json',
  ]) {
    const first = await page(path)
    expect(first.headers.get('cache-control')).toBe('no-cache')
    const etag = first.headers.get('etag') ?? ''
    const again = await page(path, { 'if-none-match': etag })
    expect({ path, status: again.status, text: again.text }).toEqual({ path, status: 304, text: '' })
    expect((await page(path, { 'if-none-match': '"other"' })).status).toBe(200)
  }
  const unknown = await page('/docs/errors/nothing')
  const etag = unknown.headers.get('etag') ?? ''
  expect((await page('/docs/errors/nothing', { 'if-none-match': etag })).status).toBe(404)
})

test('what a page loads is served, kept for good at an address that its content gives, compressed or not', async () => {
  const { text } = await page('/docs')
  const addresses = [...text.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)].map(
    ([, address = '']) => address,
  )
  expect(new Set(addresses)).toHaveLength(5)
  for (const address of addresses) {
    const asset = await page(address)
    expect({ address, status: asset.status }).toEqual({ address, status: 200 })
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(asset.headers.get('content-encoding')).toBe('gzip')
    const plain = await page(address, { 'accept-encoding': 'identity' })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(plain.text === asset.text).toBe(true)
  }
  const other = addresses[0]?.replace(/\.[0-9a-f]{16}\./, '.0000000000000000.') ?? ''
  expect(await page(other)).toMatchObject({ status: 404, json: { code: 'not_found' } })
  expect((await page('/docs/assets/..%2F..%2Fpackage.json')).status).toBe(404)
})

test('a policy keeps pages to what the service serves', async () => {
  for (const path of ['/docs', '/docs/api/createTicket', '/docs/errors', '/docs/errors/nothing']) {
    const { headers, text } = await page(path)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none'; /)
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|http|\*/)
    expect(policy).toContain("script-src 'self'; connect-src 'self'; ")
    expect(text).not.toMatch(/<script(?! (?:type="module" )?src="\/docs\/assets\/)|style=|\son\w+=/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
})

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
