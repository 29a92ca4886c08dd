/** The console's addresses, built and not built: what is sent, under which policy, and for how long it may be kept. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FastifyInstance } from 'fastify'
import pino from 'pino'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { consoleRoutes, createConsole } from '../../src/console/routes.ts'
import { registerRoutes } from '../../src/http/route.ts'
import { createServer } from '../../src/http/server.ts'
import { keepSeen, type SeenAnswers, watchAnswers } from '../harness/answers.ts'

const addresses = [
  '/console',
  '/console/deliveries',
  '/console/deliveries/01980000-0000-7000-8000-000000000003',
]
let built: Served
let unbuilt: Served
let embedded: Served

interface Served {
  readonly server: FastifyInstance
  readonly seen: SeenAnswers
}

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'console-'))
  unbuilt = served(join(directory, 'nothing'))
  await mkdir(join(directory, 'assets'))
  await writeFile(join(directory, 'index.html'), '<!doctype html><title>Deskwire</title>')
  await writeFile(join(directory, 'assets', 'index-1a2b.js'), 'export {}')
  built = served(directory)
  embedded = served(directory, ['https://app.example', 'http://localhost:5173'])
})

afterAll(async () => {
  for (const { server, seen } of [built, unbuilt, embedded]) {
    await server.close()
    keepSeen(inject('answers'), seen)
    expect([...seen.undeclared]).toEqual([])
  }
})

function served(directory: string, frameAncestors: readonly string[] = []): Served {
  const server = createServer(pino({ level: 'silent' }), { corsOrigins: [], telemetry: null, inside: false })
  const seen = watchAnswers(server)
  const console = createConsole({ directory: pathToFileURL(`${directory}/`), frameAncestors })
  registerRoutes(server, consoleRoutes, console, null)
  return { server, seen }
}

test.each(addresses)(
  '%s is the page, under a strict policy, and not sent again while it is the same',
  async (url) => {
    const page = await built.server.inject({ url })
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('<title>Deskwire</title>')
    expect(page.headers['cache-control']).toBe('no-cache')
    expect(page.headers['cross-origin-opener-policy']).toBe('same-origin')
    const policy = String(page.headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|\*|data:/)
    const again = await built.server.inject({ url, headers: { 'if-none-match': String(page.headers.etag) } })
    expect(again.statusCode).toBe(304)
  },
)

test.each(addresses)('%s may be shown in frames of those that are named, and of nobody else', async (url) => {
  const page = await embedded.server.inject({ url })
  const policy = String(page.headers['content-security-policy']).split('; ')
  expect(policy).toContain('frame-ancestors https://app.example http://localhost:5173')
  expect(policy).toContain("default-src 'none'")
})

test('what it loads may be kept for good', async () => {
  const script = await built.server.inject({ url: '/console/assets/index-1a2b.js' })
  expect(script.body).toBe('export {}')
  expect(script.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
  })
  const gone = await built.server.inject({ url: '/console/assets/index-0000.js' })
  expect(gone.json()).toMatchObject({ status: 404, code: 'not_found' })
})

test.each(addresses)('%s says what to run where nothing is built', async (url) => {
  const page = await unbuilt.server.inject({ url })
  expect(page.statusCode).toBe(503)
  expect(page.body).toContain('run npm run build:console')
})
