/** The pages that the service serves: errors explained, nothing loaded from elsewhere, caches that can be trusted. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { errorCatalogue } from '../../src/kernel/error-catalogue.ts'
import { type TestService, testService } from '../harness/service.ts'

let service: TestService

beforeAll(async () => {
  service = await testService()
})

afterAll(() => service[Symbol.asyncDispose]())

const page = (path: string, headers: Record<string, string> = {}) =>
  service.withToken(null).get(path, headers)
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
    expect(answer.text).toContain(escaped(`"type": "/docs/errors/${code}"`))
  }
})

test('the type of a problem leads to its page', async () => {
  const problems = [
    await page('/v1/customers'),
    await page('/nowhere'),
    await service.api.post('/v1/customers', {}),
    await service.api.post('/v1/customers', '{'),
    await service.api.get('/v1/customers?limit=many'),
    await service.api.get('/v1/customers?cursor=x'),
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
    expect(odd.text).not.toContain('<script')
  }
})

test('pages are asked for again and not sent again; a 404 is never "not modified"', async () => {
  for (const path of ['/docs', '/docs/errors', '/docs/errors/not_found', '/openapi.json']) {
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
  expect(addresses).toHaveLength(5)
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
  for (const path of ['/docs', '/docs/errors', '/docs/errors/nothing']) {
    const { headers } = await page(path)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none'; /)
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|http|\*/)
    expect(policy.includes('script-src')).toBe(path === '/docs')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
  expect((await page('/docs/errors')).text).not.toContain('<script')
})

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
