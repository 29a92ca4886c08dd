/** Pages of another origin in a real browser, which use the SDK: what they may do where they are listed, and nothing where not. */
import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBrowser, watchedPage } from '../../../testbed/browser.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { startHttpServer } from '../../../testbed/loopback.ts'
import { type TestService, testService } from '../../../testbed/service.ts'

const sdk = fileURLToPath(new URL('../../../sdk/src/', import.meta.url))

/** A site with nothing but the SDK on it, as modules that a browser can load. */
function startSite() {
  const files = new Set(readdirSync(sdk))
  return startHttpServer((request, response) => {
    const name = request.url?.slice(1) ?? ''
    if (!files.has(name))
      return response.setHeader('content-type', 'text/html').end('<!doctype html><title>Site</title>')
    response.setHeader('content-type', 'text/javascript')
    const program = stripTypeScriptTypes(readFileSync(sdk + name, 'utf8'))
    // As a bundler for browsers resolves it (`imports` of package.json).
    return response.end(program.replaceAll("'#unanswered'", "'./unanswered-page.ts'"))
  })
}

let browser: Browser
let listed: Awaited<ReturnType<typeof startSite>>
let stranger: Awaited<ReturnType<typeof startSite>>
let service: TestService

beforeAll(async () => {
  listed = await startSite()
  stranger = await startSite()
  browser = await startBrowser()
  service = await testService({
    corsOrigins: ['https://app.example', listed.url],
    rateLimit: { perSecond: 1_000, burst: 1_000 },
  })
})

afterAll(async () => {
  await browser?.close()
  await service?.[Symbol.asyncDispose]()
  await listed?.[Symbol.asyncDispose]()
  await stranger?.[Symbol.asyncDispose]()
})

async function pageOf(origin: string): Promise<Page> {
  const { page } = await watchedPage(browser)
  await page.goto(origin)
  return page
}

/** Runs in the page: the body of an async function of `sdk`, `client` and `url`. */
function inPage(page: Page, body: string, token = service.api.token): Promise<unknown> {
  return page.evaluate(
    `(async (url, apiKey) => {
      const sdk = await import('/index.ts')
      const client = sdk.createClient({ baseUrl: url + '/v1', apiKey })
      ${body}
    })(${JSON.stringify(service.url)}, ${JSON.stringify(token)})`,
  )
}

test('a page of a listed origin calls, syncs, changes under a condition, and reads why it was refused', async () => {
  const page = await pageOf(listed.url)
  expect(
    await inPage(
      page,
      `const made = await client.customers.create({ name: 'Ada in a browser' })
       const changed = await client.customers.update(made.id, { name: 'Ada' }, { ifMatch: sdk.etagOf(made) })
       const late = await client.customers.update(made.id, { name: 'Eve' }, { ifMatch: sdk.etagOf(made) }).catch((error) => error)
       const copy = new sdk.MemoryCopy()
       let proof
       for await (const page of client.customers.sync()) {
         for (const change of page.changes) await copy.apply(change)
         proof = page.checkpoint
       }
       return { name: changed.name, refused: [late.status, late.code], told: typeof late.requestId, rows: copy.rows.size, exact: proof.digest === copy.checkpoint.digest }`,
    ),
  ).toEqual({ name: 'Ada', refused: [412, 'version_mismatch'], told: 'string', rows: 1, exact: true })
})

test('every header that a page needs can be read, on answers and on refusals of every sort', async () => {
  const { id } = await makeCustomer(service.api)
  const page = await pageOf(listed.url)
  const read = (path: string, authorization: string) =>
    page.evaluate(
      async ([address = '', key = '']) => {
        const answer = await fetch(address, { headers: { authorization: key } })
        return { status: answer.status, names: [...answer.headers.keys()] }
      },
      [service.url + path, authorization],
    )
  const key = `Bearer ${service.api.token}`
  const one = await read(`/v1/customers/${id}`, key)
  expect(one.status).toBe(200)
  for (const name of ['etag', 'x-request-id', 'ratelimit', 'ratelimit-policy'])
    expect(one.names).toContain(name)
  for (const [path, authorization, status] of [
    ['/v1/nothing', key, 404],
    ['/v1/customers/%zz', key, 400],
    ['/v1/customers', 'Bearer nothing', 401],
  ] as const) {
    const refused = await read(path, authorization)
    expect([path, refused.status]).toEqual([path, status])
    expect(refused.names).toContain('x-request-id')
  }
})

test('a page of any other origin is kept out by the browser', async () => {
  const page = await pageOf(stranger.url)
  const outcome = await inPage(
    page,
    `return client.customers.create({ name: 'Mallory' }).then(() => 'made', (error) => error.name + ': ' + error.message)`,
  )
  const { host } = new URL(service.url)
  expect(outcome).toBe(
    `ConnectionFailedError: 0 connection_failed: ${host} answers, and the browser keeps that from pages of ${stranger.url}. The operator of the service allows them by DESKWIRE_CORS_ORIGINS.`,
  )
  expect(
    await inPage(
      page,
      `const nowhere = sdk.createClient({ baseUrl: 'http://127.0.0.1:9/v1', apiKey, retries: 0 })
       return nowhere.customers.list().page().catch((error) => error.detail)`,
    ),
  ).toMatch(/^127\.0\.0\.1:9 cannot be reached from this page: /)
  // Not even what needs no preflight can be read.
  expect(
    await page.evaluate(
      (url) =>
        fetch(url).then(
          () => 'read',
          () => 'kept out',
        ),
      `${service.url}/healthz`,
    ),
  ).toBe('kept out')
  expect((await service.api.get('/v1/customers?q=Mallory')).json.data).toEqual([])
})
