/** The landing page and the served documents: media types, and links that work. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { version } from '../../service/src/kernel/version.ts'
import { linksOf, root } from '../../testbed/repository.ts'
import type { Answer } from '../../testbed/service.ts'
import { sharedService } from '../../testbed/shared-service.ts'

const service = sharedService()

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const get = (path: string, accept?: string) =>
  service()
    .withToken(null)
    .get(path, accept === undefined ? {} : { accept })
const guides = readdirSync(join(root, 'docs/guides')).filter((name) => name.endsWith('.md'))

const hrefsOf = (page: string) => [...page.matchAll(/ href="([^"]+)"/g)].map(([, target = '']) => target)

const pages = new Map<string, ReturnType<typeof get>>()

/** Each page is requested once, as clients without a key are limited. */
function pageAt(path: string): ReturnType<typeof get> {
  const known = pages.get(path)
  if (known !== undefined) return known
  const asked = get(path, browser)
  pages.set(path, asked)
  return asked
}

/** Dead links among these, from the page at `path`, including headings. */
async function deadLinks(path: string, targets: readonly string[]): Promise<string[]> {
  const dead: string[] = []
  for (const target of new Set(targets)) {
    const { pathname, hash, origin } = new URL(target, service().url + path)
    if (origin !== service().url) continue
    const { status, text } = await pageAt(pathname)
    if (status !== 200 || !text.includes(hash === '' ? '' : ` id="${hash.slice(1)}"`)) dead.push(target)
  }
  return dead
}

function contentType({ headers }: Answer): string | null {
  return headers.get('content-type')
}

describe('/', () => {
  test('is a page that leads to all there is, under a policy that lets it load nothing from elsewhere', async () => {
    for (const accept of [undefined, '*/*', browser]) {
      const page = await get('/', accept)
      expect([page.status, contentType(page)]).toEqual([200, 'text/html; charset=utf-8'])
      expect(page.headers.get('vary')).toContain('Accept')
      expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self'; /)
      const targets = hrefsOf(page.text)
      for (const name of guides) expect(targets).toContain(`/docs/guides/${name}`)
      expect(targets).toEqual(expect.arrayContaining(['/docs', '/openapi.json', '/docs/errors', '/llms.txt']))
      expect(await deadLinks('/', targets)).toEqual([])
    }
  })

  test('is JSON for who asks for that, with paths that lead somewhere', async () => {
    const { json, headers } = await get('/', 'application/json')
    expect(json).toMatchObject({ service: 'deskwire', version, api: '/v1' })
    expect(headers.get('vary')).toContain('Accept')
    expect(await deadLinks('/', Object.values(json.documentation))).toEqual([])
  })
})

test('/llms.txt begins with what this is, and links to what there is', async () => {
  const llms = await get('/llms.txt')
  expect(contentType(llms)).toBe('text/plain; charset=utf-8')
  expect(llms.text).toMatch(/^# Deskwire\n\n> \S/)
  const targets = linksOf(llms.text).map(({ target }) => target)
  expect(targets.length).toBeGreaterThan(15)
  for (const name of guides) expect(targets).toContain(`/docs/guides/${name}`)
  expect(await deadLinks('/llms.txt', targets)).toEqual([])
})

test('the guides are listed, as Markdown or as a page', async () => {
  const list = await get('/docs/guides')
  expect(contentType(list)).toBe('text/markdown; charset=utf-8')
  const targets = linksOf(list.text).map(({ target }) => target)
  expect(targets).toEqual(expect.arrayContaining(guides.map((name) => `/docs/guides/${name}`)))
  expect(await deadLinks('/docs/guides', targets)).toEqual([])
  expect((await get('/docs/guides/')).text).toBe(list.text)
  const page = await get('/docs/guides', browser)
  expect(contentType(page)).toBe('text/html; charset=utf-8')
  expect(await deadLinks('/docs/guides', hrefsOf(page.text))).toEqual([])
})

const documents = [
  ...guides.map((name) => `/docs/guides/${name}`),
  ...readdirSync(join(root, 'docs/reference')).map((name) => `/docs/reference/${name}`),
  '/docs/specification.md',
  '/docs/glossary.md',
]

test.each(documents)(
  '%s is Markdown, or a page for a browser, and its links lead somewhere',
  async (path) => {
    const markdown = await get(path)
    expect([markdown.status, contentType(markdown)]).toEqual([200, 'text/markdown; charset=utf-8'])
    expect(markdown.text).toMatch(/^# \S/)
    const page = await get(path, browser)
    expect(contentType(page)).toBe('text/html; charset=utf-8')
    expect(page.text).toContain('<h1')
    for (const { headers } of [markdown, page]) expect(headers.get('vary')).toContain('Accept')
    // Both media types have the same links, apart from the frame.
    const targets = linksOf(markdown.text).map(({ target }) => target)
    expect(hrefsOf(page.text)).toEqual(expect.arrayContaining(targets))
    expect(await deadLinks(path, targets)).toEqual([])
  },
)

test('a link to what is not served keeps its words', async () => {
  const { text } = await get('/docs/guides/sync.md')
  expect(text).not.toContain('packages/sdk/README.md')
  expect(text).toContain('`follow()`')
})

test('programs are served as what they are', async () => {
  const receivers = ['receiver.ts', 'receiver.py', 'receiver.go'].map((name) => `receivers/${name}`)
  for (const path of [...receivers, 'consumers/airbyte.yaml']) {
    const program = await get(`/docs/guides/${path}`, browser)
    expect([program.status, contentType(program)]).toEqual([200, 'text/plain; charset=utf-8'])
  }
})

test('each is not sent again while it is the same; another form is', async () => {
  for (const path of [
    '/',
    '/llms.txt',
    '/docs/guides',
    '/docs/guides/sync.md',
    '/docs/guides/receivers/receiver.py',
    '/docs/reference/fields.md',
    '/docs/specification.md',
  ]) {
    const first = await get(path)
    expect(first.headers.get('cache-control')).toBe('no-cache')
    const kept = { 'if-none-match': first.headers.get('etag') ?? '' }
    const again = await service().withToken(null).get(path, kept)
    expect({ path, status: again.status, text: again.text }).toEqual({ path, status: 304, text: '' })
    expect(again.headers.get('content-encoding')).toBeNull()
    const accept = path === '/' ? 'application/json' : browser
    const other = await service()
      .withToken(null)
      .get(path, { ...kept, accept })
    expect({ path, status: other.status }).toEqual({ path, status: other.text === '' ? 304 : 200 })
    expect(other.text === '').toBe(path === '/llms.txt' || path.endsWith('.py'))
  }
})

test('what is not there is a problem that says what is', async () => {
  for (const path of [
    '/docs/guides/nothing.md',
    '/docs/guides/receivers/sync.md',
    '/docs/guides/consumers/sync.md',
    '/docs/reference/..%2Fspecification.md',
    '/docs/guides/..%2F..%2Fpackage.json',
    '/docs/decisions',
    '/docs/reference/',
    '/docs/__proto__',
  ]) {
    expect(await get(path, browser)).toMatchObject({ status: 404, json: { code: 'not_found' } })
  }
})
