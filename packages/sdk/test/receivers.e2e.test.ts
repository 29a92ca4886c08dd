/**
 * The receivers of docs/guides/receivers, run as a reader would run them: over the published vectors, and as
 * servers. A language that this machine lacks fails the run where CI is set; elsewhere its source alone is read.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { testDelivery } from '../src/testing.ts'
import type { Vector } from './signature-vectors.ts'
import { receiverSecrets, wrongAnswers } from './standard-receiver.ts'

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const published = readFileSync(pathOf('../vectors/signature.json'), 'utf8')
const vectors: Vector[] = JSON.parse(published)
const folder = pathOf('../../../docs/guides/receivers')
const scratch = mkdtempSync(join(tmpdir(), 'deskwire-receivers-'))
afterAll(() => rmSync(scratch, { recursive: true }))

type Command = [string, ...string[]]

interface Receiver {
  file: string
  /** Prints its version; fails where the language is not installed. */
  version: Command
  run: (source: string) => Command
  build?: (source: string) => Command
  /** What compares in constant time. */
  compares: RegExp
  /** What a reader replaces: the work, here slow, and failing the first time; and the time for an answer, here short. */
  slow: [from: string, to: string][]
}

const python = process.platform === 'win32' ? 'python' : 'python3'
/** A file whose appearance lets slow work end. */
const gate = join(scratch, 'gate')
/** As a literal of all three languages. */
const quoted = (text: string) => JSON.stringify(text)
const builtFrom = (source: string) => join(scratch, `${basename(source)}.exe`)
const receivers: Receiver[] = [
  {
    file: 'receiver.ts',
    version: [process.execPath, '--version'],
    run: (source) => [process.execPath, source],
    compares: /verify\(body, /,
    slow: [
      ['async function handle(', 'let calls = 0\nasync function handle('],
      [
        '  console.log(event.type, event.id)',
        `  if (calls++ === 0) throw new Error('not today')
  while (!process.getBuiltinModule('node:fs').existsSync(${quoted(gate)})) await setTimeout(20)
  console.log(event.type, event.id)`,
      ],
      ['answerWithinMs = 8_000', 'answerWithinMs = 200'],
      // A copy elsewhere does not find the package beside it.
      ["'@deskwire/sdk'", `'${new URL('../src/index.ts', import.meta.url)}'`],
    ],
  },
  {
    file: 'receiver.py',
    version: [python, '--version'],
    run: (source) => [python, source],
    compares: /hmac\.compare_digest\(/,
    slow: [
      ['def handle(', 'calls = []\n\n\ndef handle('],
      [
        '    print(event["type"], event["id"], flush=True)',
        `    calls.append(event)
    if len(calls) == 1:
        raise RuntimeError("not today")
    while not os.path.exists(${quoted(gate)}):
        time.sleep(0.02)
    print(event["type"], event["id"], flush=True)`,
      ],
      ['ANSWER_WITHIN = 8', 'ANSWER_WITHIN = 0.2'],
    ],
  },
  {
    file: 'receiver.go',
    version: ['go', 'version'],
    // One package at a time, and not optimized: a first build compiles much of the standard library, beside other tests.
    build: (source) => ['go', 'build', '-p=1', '-gcflags=all=-N -l', '-o', builtFrom(source), source],
    run: (source) => [builtFrom(source)],
    compares: /hmac\.Equal\(/,
    slow: [
      ['func handle(', 'var calls int\n\nfunc handle('],
      [
        '	fmt.Println(e.Type, e.ID)',
        `	if calls++; calls == 1 {
		return fmt.Errorf("not today")
	}
	for _, err := os.Stat(${quoted(gate)}); err != nil; _, err = os.Stat(${quoted(gate)}) {
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Println(e.Type, e.ID)`,
      ],
      ['8 * time.Second', '200 * time.Millisecond'],
    ],
  },
]

const secrets = ['whsec_new', 'whsec_old']
const environment = { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'local' }

/** Starts a receiver as a server, for as long as the test lasts. */
const start = async (
  [command, ...args]: Command,
  {
    complaints = 'inherit',
    known = secrets.join(','),
  }: { complaints?: 'inherit' | 'ignore'; known?: string } = {},
) => {
  const child = spawn(command, args, {
    env: { ...environment, PORT: '0', DESKWIRE_WEBHOOK_SECRET: known },
    stdio: ['ignore', 'pipe', complaints],
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

describe.each(receivers)('$file', ({ file, version, build, run: runOf, compares, slow }) => {
  const inTheGuide = join(folder, file)
  const run = runOf(inTheGuide)
  const [tool, ...toVersion] = version
  const installed = spawnSync(tool, toVersion).status === 0

  test('compares in constant time', () => {
    const source = readFileSync(inTheGuide, 'utf8')
    expect(source).toMatch(compares)
    expect(source).not.toMatch(/signature === |signature == expected/)
  })

  if (!installed) {
    test(`is only read here: ${tool} is not installed`, () => {
      expect(process.env.CI, `install ${tool}: ${file} has to be run where CI is set`).toBeFalsy()
    })
    return
  }

  const compile = (source: string) => {
    const [compiler, ...args] = build?.(source) ?? []
    if (compiler !== undefined) execFileSync(compiler, args, { env: environment })
  }
  beforeAll(() => compile(inTheGuide), 300_000)

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

  test('refuses a body of negative length without waiting for it: nobody has signed anything yet', async () => {
    const { url } = await start(run)
    const { hostname, port, pathname } = new URL(url)
    const socket = connect(Number(port), hostname)
    onTestFinished(() => void socket.destroy())
    // The connection stays open: what reads until its end never answers.
    socket.write(`POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: -1\r\n\r\nunsigned`)
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.\d 4\d\d /)
  })

  test('answers in time while the work goes on, does it once, and begins anew what failed', async () => {
    const given = readFileSync(inTheGuide, 'utf8')
    expect(slow.filter(([from]) => given.split(from).length !== 2)).toEqual([])
    const source = join(scratch, `slow-${file}`)
    writeFileSync(
      source,
      slow.reduce((text, [from, to]) => text.replace(from, () => to), given),
    )
    compile(source)
    rmSync(gate, { force: true })

    const { url, next } = await start(runOf(source), { complaints: 'ignore' })
    const [first, second] = [
      await testDelivery({ type: 'ticket.created' }, secrets),
      await testDelivery({ type: 'ping' }, secrets),
    ]
    const statusOf = async (delivery: RequestInit) => (await fetch(url, delivery)).status
    expect(await statusOf(first)).toBe(500)
    expect(await Promise.all([first, first, first].map(statusOf))).toEqual([503, 503, 503])
    writeFileSync(gate, '')
    expect(await next()).toBe(`ticket.created ${first.headers['x-service-event-id']}`)
    expect(await statusOf(first)).toBe(204)
    expect(await statusOf(second)).toBe(204)
    // Nothing of the first came in between.
    expect(await next()).toBe(`ping ${second.headers['x-service-event-id']}`)
  }, 300_000)

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

test('standard.ts, with the package of npm, accepts what is signed and refuses the rest', async () => {
  const { url } = await start([process.execPath, join(folder, 'standard.ts')], { known: receiverSecrets })
  expect(await wrongAnswers(url)).toEqual([])
})
