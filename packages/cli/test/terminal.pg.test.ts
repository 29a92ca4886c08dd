/** What a hostile server sends, and a hostile file, on its way to a terminal. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@deskwire/sdk'
import { expect, onTestFinished, test } from 'vitest'
import { startHttpServer } from '../../testbed/loopback.ts'
import type { Ran } from '../../testbed/program.ts'
import { root } from '../../testbed/repository.ts'
import { deskwire } from '../../testbed/services.ts'
import { sharedService } from '../../testbed/shared-service.ts'
import { humanLine } from '../src/listen/lines.ts'
import { table } from '../src/table.ts'
import { plain, visible } from '../src/terminal.ts'
import { fileOf } from './import/files.ts'

const shared = sharedService()

/** Sets a title, clears the screen, turns the text around, begins a line; by C0, C1 and otherwise. */
const hostile = 'a\u001b]0;owned\u0007\u009b2J\u007f\u202eb\r\n\u2028forged'
const shown = 'a\\u001b]0;owned\\u0007\\u009b2J\\u007f\\u202eb\\u000d\\u000a\\u2028forged'

const unsafe = /[^\P{Cc}\n\t]|[\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u
function expectSafe({ stdout, stderr }: Pick<Ran, 'stdout' | 'stderr'>): void {
  expect(stdout + stderr).not.toMatch(unsafe)
  expect(stdout + stderr).not.toMatch(/^forged/m)
}

async function hostileServer(answer: (path: string) => { status: number; body: object }): Promise<string> {
  const server = await startHttpServer((request, response) => {
    const { status, body } = answer(request.url ?? '')
    const type = status < 400 ? 'application/json' : 'application/problem+json'
    response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body))
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server.url
}

test('errors of a server show their control characters, whichever command meets them', async () => {
  const problem = { type: 'about:blank', title: hostile, status: 403, detail: hostile, code: hostile }
  const url = await hostileServer(() => ({ status: 403, body: problem }))
  const at = ['--url', url, '--key', 'dwk_x']
  const file = fileOf('name\nAda\n')
  const commands = [
    ['tail', '--once', ...at],
    ['export', 'customers', ...at],
    ['import', file, ...at],
    ['trigger', 'customer.created', ...at],
    ['listen', '--dir', join(file, '..', 'listen'), ...at],
    ['mirror', 'run', '--to', join(file, '..', 'copy.db'), '--once', ...at],
    ['conform', url, '--key', 'dwk_x'],
  ]
  for (const ran of await Promise.all(commands.map((words) => deskwire(words)))) {
    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expectSafe(ran)
    expect(ran.stderr).toContain(shown)
  }
})

test('names and ids of rows are shown so, and JSON keeps their values', async () => {
  const row = { object: hostile, id: hostile, name: hostile, status: hostile, updatedAt: hostile }
  const removed = { object: 'removed', id: hostile, resource: hostile, removedAt: hostile }
  const checkpoint = { count: 0, digest: '0'.repeat(64), contentDigest: '0'.repeat(64) }
  const pagination = { total: 2, limit: 100, hasMore: false, nextCursor: 'c', checkpoint }
  const url = await hostileServer(() => ({ status: 200, body: { data: [row, removed], pagination } }))
  const at = ['customers', '--once', '--from-start', '--url', url, '--key', 'dwk_x']
  const [text, json] = await Promise.all([deskwire(['tail', ...at]), deskwire(['tail', '--json', ...at])])
  expect([text.code, json.code]).toEqual([0, 0])
  expectSafe(text)
  expect(text.stdout).toContain(shown)
  expectSafe(json)
  const [first] = json.stdout.split('\n')
  expect(JSON.parse(first ?? '')).toEqual(row)
})

test('a value of a file that is rejected is shown so, and is as it was in the file of rejects', async () => {
  const { token } = await shared().newOrganization()
  const path = fileOf(`name,customAttributes.a:number\n"${hostile}","${hostile}"\n`)
  const [ran, exported] = await Promise.all([
    deskwire(['import', path, '--url', shared().url, '--key', token]),
    (async () => {
      const organization = await shared().newOrganization()
      const client = createClient({ baseUrl: `${shared().url}/v1`, apiKey: organization.token })
      const made = await client.customers.create({ name: hostile })
      const at = ['--url', shared().url, '--key', organization.token]
      return { made, ...(await deskwire(['export', 'customers', ...at])) }
    })(),
  ])
  expect(ran.code).toBe(3)
  expectSafe(ran)
  expect(ran.stderr).toContain('customAttributes.a: must be a number')
  expect(readFileSync(path.replace('.csv', '.rejects.csv'), 'utf8')).toContain(`"${hostile}"`)
  // What goes into a file or another program is what the service serves, byte for byte.
  expect(exported.stdout.split('\n')[0]).toBe(JSON.stringify(exported.made))
})

test('deliveries and tables are shown so', () => {
  const received = {
    at: new Date(0),
    eventId: hostile,
    eventType: hostile,
    path: '/',
    headers: {},
    body: Buffer.from(hostile),
    verdict: { ok: false, reason: 'no_secret', detail: hostile },
  } as const
  const forwarded = { url: hostile, error: hostile, durationMs: 1 }
  const text = humanLine(received, false, forwarded) + table([['NAME'], [hostile]])
  expectSafe({ stdout: text, stderr: '' })
  expect(text).toContain(shown)
})

test('letters of every script pass as they are, joiners included', () => {
  for (const text of ['می‌خواهم', '👩‍👩‍👧', 'क्‍ष', 'naïve — “quoted” …'])
    expect([plain(text), visible(text)]).toEqual([text, text])
  expect(visible('a\n\tb')).toBe('a\n\tb')
  expect(JSON.parse(visible(JSON.stringify('\u{e0001}\u009b')))).toBe('\u{e0001}\u009b')
})

test('nothing writes to a terminal but one file', () => {
  const sources = join(root, 'packages/cli/src')
  const writes = /process\.std(out|err)\.write|console\.\w/
  const found = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && writes.test(readFileSync(join(sources, name), 'utf8')),
  )
  expect(found).toEqual(['terminal.ts'])
})
