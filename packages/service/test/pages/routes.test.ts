/** The addresses of pages, built and not built: what is sent, under which policy, and for how long it may be kept. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FastifyInstance } from 'fastify'
import pino from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { registerPages } from '../../src/pages/routes.ts'

const addresses = [
  '/console',
  '/console/deliveries',
  '/console/deliveries/01980000-0000-7000-8000-000000000003',
]
let built: FastifyInstance
let unbuilt: FastifyInstance
let embedded: FastifyInstance

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'pages-'))
  unbuilt = served(join(directory, 'nothing'))
  for (const [path, content] of Object.entries({
    'console/index.html': '<!doctype html><title>Deskwire</title>',
    'console/assets/index-1a2b.js': 'export {}',
    'docs/docs/guides/index.md': '# Guides',
    'docs/docs/guides/index.html': '<h1>Guides</h1>',
    'docs/docs/guides/sync.md': '# Sync',
    'docs/docs/guides/sync.md.html': '<h1>Sync</h1>',
    'docs/docs/guides/program.py': 'pass',
    'docs/unknown-error.html': '<p>No {code}</p>',
  })) {
    await mkdir(join(directory, path, '..'), { recursive: true })
    await writeFile(join(directory, path), content)
  }
  built = served(directory)
  embedded = served(directory, ['https://app.example', 'http://localhost:5173'])
})

afterAll(async () => {
  for (const server of [built, unbuilt, embedded]) await server.close()
})

function served(directory: string, frameAncestors: readonly string[] = []): FastifyInstance {
  const server = createServer(pino({ level: 'silent' }), { corsOrigins: [], telemetry: null, inside: false })
  const [docs, console] = ['docs/', 'console/'].map((name) => pathToFileURL(`${directory}/${name}`)) as [
    URL,
    URL,
  ]
  registerPages(server, { docs, console, frameAncestors })
  return server
}

test.each([
  ['/docs/guides', 'text/markdown; charset=utf-8', '# Guides', '<h1>Guides</h1>'],
  ['/docs/guides/', 'text/markdown; charset=utf-8', '# Guides', '<h1>Guides</h1>'],
  ['/docs/guides/sync.md', 'text/markdown; charset=utf-8', '# Sync', '<h1>Sync</h1>'],
  ['/docs/guides/program.py', 'text/plain; charset=utf-8', 'pass', 'pass'],
])('%s is the file, or the page for a browser', async (url, type, text, page) => {
  const file = await built.inject({ url })
  expect([file.statusCode, file.headers['content-type'], file.body]).toEqual([200, type, text])
  expect((await built.inject({ url, headers: { accept: 'text/html' } })).body).toBe(page)
})

test.each([
  ['*/*', '# Guides'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', '<h1>Guides</h1>'],
  ['text/*;q=0.3, text/html;q=0.2', '# Guides'],
  ['text/html;charset=utf-8', '<h1>Guides</h1>'],
  ['application/json', '# Guides'],
])('of Markdown and HTML, Accept: %s gets %j', async (accept, content) => {
  expect((await built.inject({ url: '/docs/guides', headers: { accept } })).body).toBe(content)
})

test.each(['/docs/guides/sync.md.html', '/docs/guides/index.md', '/docs/unknown-error', '/unknown-error'])(
  '%s is the name of a file, and no address',
  async (url) => {
    expect((await built.inject({ url })).statusCode).toBe(404)
  },
)

test('a guide without .md redirects to its file', async () => {
  const answer = await built.inject('/docs/guides/sync')
  expect(answer.statusCode).toBe(308)
  expect(answer.headers.location).toBe('/docs/guides/sync.md')
  expect((await built.inject('/docs/guides/absent')).statusCode).toBe(404)
})

test('a code that there is not is named as text', async () => {
  const page = await built.inject({ url: '/docs/errors/%3Cb%3E$&' })
  expect([page.statusCode, page.body]).toEqual([404, '<p>No &#60;b&#62;$&#38;</p>'])
})

test.each(addresses)(
  '%s is the page, under a strict policy, and not sent again while it is the same',
  async (url) => {
    const page = await built.inject({ url })
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('<title>Deskwire</title>')
    expect(page.headers['cache-control']).toBe('no-cache')
    expect(page.headers['cross-origin-opener-policy']).toBe('same-origin')
    const policy = String(page.headers['content-security-policy'])
    expect(policy).toMatch(/^default-src 'none'; style-src 'self'; /)
    expect(policy).toContain("; script-src 'self'; ")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|\*|data:/)
    const again = await built.inject({ url, headers: { 'if-none-match': String(page.headers.etag) } })
    expect(again.statusCode).toBe(304)
  },
)

test.each(addresses)('%s may be shown in frames of those that are named, and of nobody else', async (url) => {
  const page = await embedded.inject({ url })
  const policy = String(page.headers['content-security-policy']).split('; ')
  expect(policy).toContain('frame-ancestors https://app.example http://localhost:5173')
  expect(policy).toContain("default-src 'none'")
})

test('what it loads may be kept for good', async () => {
  const script = await built.inject({ url: '/console/assets/index-1a2b.js' })
  expect(script.body).toBe('export {}')
  expect(script.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
  })
  const gone = await built.inject({ url: '/console/assets/index-0000.js' })
  expect(gone.json()).toMatchObject({ status: 404, code: 'not_found' })
})

test.each([...addresses, '/', '/docs', '/docs/errors/not_found'])(
  '%s says what to run where nothing is built',
  async (url) => {
    const page = await unbuilt.inject({ url })
    expect(page.statusCode).toBe(503)
    expect(page.body).toContain('run npm run build:pages')
  },
)
