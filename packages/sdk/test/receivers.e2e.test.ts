/**
 * The receivers of docs/guides/receivers, run as a reader would run them: over the published vectors, and as
 * servers. A language that this machine lacks fails the run where CI is set; elsewhere its source alone is read.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { testDelivery } from '../src/testing.ts'
import type { Vector } from './signature-vectors.ts'

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const published = readFileSync(pathOf('../vectors/signature.json'), 'utf8')
const vectors: Vector[] = JSON.parse(published)
const folder = pathOf('../../../docs/guides/receivers')
const scratch = mkdtempSync(join(tmpdir(), 'deskwire-receivers-'))
afterAll(() => rmSync(scratch, { recursive: true }))

interface Receiver {
  file: string
  /** Prints its version; fails where the language is not installed. */
  version: [string, ...string[]]
  run: [string, ...string[]]
  build?: [string, ...string[]]
  /** What compares in constant time. */
  compares: RegExp
}

const python = process.platform === 'win32' ? 'python' : 'python3'
const built = join(scratch, 'receiver.exe')
const receivers: Receiver[] = [
  {
    file: 'receiver.ts',
    version: [process.execPath, '--version'],
    run: [process.execPath, join(folder, 'receiver.ts')],
    compares: /verifyWebhook\(body, /,
  },
  {
    file: 'receiver.py',
    version: [python, '--version'],
    run: [python, join(folder, 'receiver.py')],
    compares: /hmac\.compare_digest\(/,
  },
  {
    file: 'receiver.go',
    version: ['go', 'version'],
    // One package at a time: a first build compiles much of the standard library, beside other tests.
    build: ['go', 'build', '-p=1', '-o', built, join(folder, 'receiver.go')],
    run: [built],
    compares: /hmac\.Equal\(/,
  },
]

const secrets = ['whsec_new', 'whsec_old']
const environment = { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local' }

/** Starts a receiver as a server, for as long as the test lasts. */
const start = async ([command, ...args]: Receiver['run']) => {
  const child = spawn(command, args, {
    env: { ...environment, PORT: '0', DESKWIRE_WEBHOOK_SECRET: secrets.join(',') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  onTestFinished(async () => {
    child.kill()
    await ended
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => String((await lines.next()).value)
  const url = /^listening on (http:\/\/\S+)$/.exec(await next())?.[1]
  return { url: `${url}/hook`, next }
}

describe.each(receivers)('$file', ({ file, version, build, run, compares }) => {
  const [tool, ...toVersion] = version
  const installed = spawnSync(tool, toVersion).status === 0

  test('compares in constant time', () => {
    const source = readFileSync(join(folder, file), 'utf8')
    expect(source).toMatch(compares)
    expect(source).not.toMatch(/signature === |signature == expected/)
  })

  if (!installed) {
    test(`is only read here: ${tool} is not installed`, () => {
      expect(process.env.CI, `install ${tool}: ${file} has to be run where CI is set`).toBeFalsy()
    })
    return
  }

  beforeAll(() => {
    if (build !== undefined) execFileSync(build[0], build.slice(1), { env: environment })
  }, 300_000)

  test('judges the published vectors', () => {
    const [command, ...args] = run
    const output = execFileSync(command, [...args, 'check'], { input: published, encoding: 'utf8' })
    const verdicts = output.trim().split(/\r?\n/)
    expect(vectors.map(({ name }, n) => `${name}: ${verdicts[n]}`)).toEqual(
      vectors.map(({ name, expected }) => `${name}: ${expected}`),
    )
    expect(verdicts).toHaveLength(vectors.length)
  })

  test('receives: once what is repeated, nothing that is forged, altered, late or unsigned', async () => {
    const { url, next } = await start(run)
    const first = await testDelivery({ type: 'ticket.created', data: { subject: 'Zoë ☕' } }, 'whsec_old')
    const second = await testDelivery({ type: 'ping' }, secrets)
    const { 'x-service-signature': _, ...unsigned } = first.headers
    const refused = [
      await testDelivery({ type: 'ping' }, 'whsec_other'),
      await testDelivery({ type: 'ping' }, secrets, { timestamp: Math.floor(Date.now() / 1000) - 400 }),
      { ...first, body: first.body.replace('Zoë', 'Zoe') },
      { ...first, headers: unsigned },
    ]
    const statusOf = async (delivery: RequestInit) => (await fetch(url, delivery)).status
    for (const delivery of refused) expect(await statusOf(delivery)).toBe(400)
    for (const delivery of [first, first, second]) expect(await statusOf(delivery)).toBe(204)
    expect(await next()).toBe(`ticket.created ${first.headers['x-service-event-id']}`)
    expect(await next()).toBe(`ping ${second.headers['x-service-event-id']}`)
  })

  test('does not start without a secret: an empty key is one that everybody has', () => {
    const [command, ...args] = run
    for (const none of ['', ',']) {
      const env = { ...environment, PORT: '0', DESKWIRE_WEBHOOK_SECRET: none }
      const { status, stderr } = spawnSync(command, args, { env, encoding: 'utf8', timeout: 30_000 })
      expect(status).toBe(1)
      expect(stderr).toContain('Set DESKWIRE_WEBHOOK_SECRET')
    }
  })
})
