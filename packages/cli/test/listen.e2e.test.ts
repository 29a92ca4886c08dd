/** `deskwire listen`, as a whole process, and `deskwire trigger`, at a real service. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient, verify } from '@deskwire/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../testbed/eventually.ts'
import { type DataDir, temporaryDataDir } from '../../testbed/installation.ts'
import { forward, startHttpServer } from '../../testbed/loopback.ts'
import type { Program } from '../../testbed/program.ts'
import { deskwire, piped, type ServiceProcess, serve, startDeskwire } from '../../testbed/services.ts'
import { verdictOf } from '../../testbed/verdict.ts'
import { eventTypes, type Step, triggerOf } from '../src/triggers.ts'
import { runHere } from './run-here.ts'

const key = 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22'
let dataDir: DataDir
let service: ServiceProcess
/** Where the authority is, made before the service starts. */
let dir = ''

beforeAll(async () => {
  dataDir = await temporaryDataDir({ installed: true })
  dir = join(dataDir.parent, 'listen')
  const made = await runHere(['listen', '--ca', '--dir', dir])
  expect(made).toEqual({ code: 0, stdout: `${join(dir, 'ca.pem')}\n`, stderr: '' })
  service = await serve([], {
    settings: {
      DESKWIRE_DATA_DIR: dataDir.path,
      DESKWIRE_BOOTSTRAP_KEY: key,
      DESKWIRE_TRUSTED_TARGETS: '127.0.0.0/8',
      DESKWIRE_TARGET_CA: made.stdout.trim(),
    },
  })
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await dataDir[Symbol.asyncDispose]()
})

const at = () => ['--url', service.url, '--key', key]
const client = () => createClient({ baseUrl: `${service.url}/v1`, apiKey: key })
const listen = (...words: string[]): Program => startDeskwire(['listen', '--dir', dir, ...words])

/** The lines of JSON so far. */
// biome-ignore lint/suspicious/noExplicitAny: whatever the command printed; a wrong guess fails the test
const records = ({ output }: Program): any[] =>
  output.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

async function webhooksLeft(): Promise<number> {
  return (await client().webhooks.list().page()).pagination.total
}

test('it registers itself, verifies and prints what comes, and deletes the endpoint on Ctrl-C', async () => {
  const before = readFileSync(join(dir, 'authority.pem'), 'utf8')
  await using listening = listen('--events', 'customer.created,customer.deleted', ...at())
  await eventually('the ping', () => listening.output.stdout.includes('ping'))
  const ran = await runHere(['trigger', 'customer.deleted', ...at()])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  const [, id] = /^created customer (\S+): customer\.created\ndeleted customer \1: customer\.deleted\n$/.exec(
    ran.stdout,
  ) as RegExpExecArray
  await eventually('the removal', () => / removed at /.test(listening.output.stdout))
  expect(await webhooksLeft()).toBe(1)

  const ended = await listening.end('SIGINT')
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  expect(await webhooksLeft()).toBe(0)
  const lines = ended.stdout.trimEnd().split('\n')
  expect(lines[0]).toMatch(/^listening on https:\/\/127\.0\.0\.1:\d+\/ as webhook \S+, Ctrl-C deletes it$/)
  expect(lines[1]).toMatch(/^\d\d:\d\d:\d\d\.\d{3}Z {2}ping +\S{36} {2}verified {2}\{\}$/)
  const body = lines.slice(2, -1).join('\n')
  expect(body).toMatch(new RegExp(`customer\\.deleted +\\S{36}  verified  customer ${id} removed at \\S+Z`))
  expect(lines.at(-1)).toMatch(/^webhook \S+ deleted$/)

  // The service trusts every later receiver of the directory: the authority is kept, and closed to others.
  expect(readFileSync(join(dir, 'authority.pem'), 'utf8')).toBe(before)
  expect(statSync(join(dir, 'authority.pem')).mode & 0o777).toBe(0o600)
  expect(before).toContain(readFileSync(join(dir, 'ca.pem'), 'utf8'))
  expect(readFileSync(join(dir, 'ca.pem'), 'utf8')).not.toContain('PRIVATE')
})

test('it deletes its endpoint when nobody reads its output any more', async () => {
  const ended = await piped(['listen', '--json', '--dir', dir, ...at()], '| head -1')
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(ended.stdout)).toMatchObject({ listening: expect.stringMatching(/^https:/) })
  expect(await webhooksLeft()).toBe(0)
})

test('each trigger causes the events that it says it causes', async () => {
  await using listening = listen('--json', ...at())
  await eventually('the ping', () => records(listening).length === 2)
  const [ready, ping] = records(listening)
  expect(ready).toMatchObject({ listening: expect.stringMatching(/^https:/), ca: join(dir, 'ca.pem') })
  expect(ping).toMatchObject({ eventType: 'ping', verified: true, repeat: false, event: { data: {} } })

  const caused: string[] = []
  const cause = (steps: readonly Step[], type: string) => {
    expect(steps.at(-1)?.events).toContain(type)
    for (const { id, events } of steps) for (const event of events) caused.push(`${event} ${id}`)
  }
  const [first = '', ...others] = eventTypes
  const ran = await runHere(['trigger', first, '--json', ...at()])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  cause(
    ran.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
    first,
  )
  for (const type of others) {
    const steps: Step[] = []
    await triggerOf(type)?.(client(), (step) => void steps.push(step))
    cause(steps, type)
  }
  const arrived = () =>
    records(listening)
      .slice(2)
      .map(({ event }) => `${event.type} ${event.data.id}`)
  // What is pending has arrived at last; a read at delivery may find a subject gone, and then nothing is sent.
  const ofGone = (line: string) => caused.includes(line.replace(/created|updated/, 'deleted'))
  await eventually('the events', () => caused.every((line) => arrived().includes(line) || ofGone(line)))
  expect(arrived().filter((line) => !caused.includes(line))).toEqual([])
  expect(
    records(listening)
      .slice(1)
      .every(({ verified }) => verified),
  ).toBe(true)
  expect((await listening.end('SIGTERM')).code).toBe(0)
  expect(await webhooksLeft()).toBe(0)
})

describe('--forward-to', () => {
  /** An application that answers what it is told to, and keeps what it got. */
  async function application(answer: () => number) {
    const got: { type: string; verdict: Awaited<ReturnType<typeof verdictOf>> }[] = []
    let secret = ''
    const server = await startHttpServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray())
      got.push({
        type: String(request.headers['x-service-event-type']),
        verdict: await verdictOf(verify(body, request.headers, secret)),
      })
      response.writeHead(answer()).end('thanks')
    })
    return {
      got,
      url: `${server.url}/hook`,
      verifyWith(known: string) {
        secret = known
      },
      [Symbol.asyncDispose]: server[Symbol.asyncDispose],
    }
  }

  test('passes on what was subscribed to, which the application verifies, and answers what that answers', async () => {
    let status = 200
    await using app = await application(() => status)
    await using listening = listen(
      '--events',
      'customer.created,customer.deleted',
      '--forward-to',
      app.url,
      ...at(),
    )
    await eventually('the ping', () => listening.output.stdout.includes('ping'))
    const [, secret = ''] = /with the secret (whsec_\S+)$/m.exec(listening.output.stdout) ?? []
    app.verifyWith(secret)
    await runHere(['trigger', 'customer.created', ...at()])
    await eventually('one is passed on', () => app.got.length === 1)
    status = 418
    await runHere(['trigger', 'customer.updated', ...at()])
    await eventually('both are printed', () => listening.output.stdout.includes(' 418 from '))
    expect(app.got).toMatchObject([
      { type: 'customer.created', verdict: { ok: true, event: { type: 'customer.created' } } },
      { type: 'customer.created', verdict: { ok: true } },
    ])
    expect(listening.output.stdout).toMatch(
      /customer\.created +\S{36} {2}verified {2}200 from http:\S+\/hook in \d+ ms {2}customer /,
    )
    const [webhook] = (await client().webhooks.list().page()).data
    const log = async () =>
      (
        await client()
          .webhooks.deliveries(webhook?.id ?? '')
          .page()
      ).data
    await eventually('the service was answered alike', async () =>
      (await log()).some(({ responseStatus }) => responseStatus === 418),
    )
    expect((await log()).map(({ eventType, responseStatus }) => [eventType, responseStatus])).toEqual([
      ['customer.created', 418],
      ['customer.created', 200],
      ['ping', 204],
    ])
    expect(await listening.end('SIGINT')).toMatchObject({ code: 0, stderr: '' })
    expect(await webhooksLeft()).toBe(0)
  })

  test('tells of an application that does not answer, and registers again what somebody deleted', async () => {
    const { url, ...app } = await application(() => 200)
    await app[Symbol.asyncDispose]()
    await using listening = listen('--json', '--events', 'customer.created', '--forward-to', url, ...at())
    await eventually('the ping', () => records(listening).length === 2)
    const [ready] = records(listening)
    expect(ready).toMatchObject({ forwardTo: url, secret: expect.stringMatching(/^whsec_/) })
    await client().webhooks.delete(ready.webhookId)
    await eventually('it is registered again', () => records(listening).length === 3)
    const [, , anew] = records(listening)
    expect(anew).toMatchObject({ found: 'deleted', forwardTo: url })
    expect(anew.secret).toBe(ready.secret)
    await runHere(['trigger', 'customer.created', ...at()])
    await eventually('the event', () => records(listening).length === 4)
    expect(records(listening)[3]).toMatchObject({
      eventType: 'customer.created',
      verified: true,
      // Its port may be another's by then.
      forwarded: { url, error: expect.any(String) },
    })
    const log = async () => (await client().webhooks.deliveries(anew.webhookId).page()).data
    await eventually('the service is told', async () => (await log())[0]?.responseStatus === 502)
    expect((await listening.end('SIGTERM')).code).toBe(0)
    expect(await webhooksLeft()).toBe(0)
  })

  test('waits for a service that does not answer, and ends when the key may do nothing more', async () => {
    const { apiKeys } = client()
    const scopes = ['webhooks:read', 'webhooks:write', 'customers:read'] as const
    const made = await apiKeys.create({ name: 'listener', scopes: [...scopes] })
    // Between the two, to be told not to answer.
    let answers = true
    let looked = false
    await using proxy = await startHttpServer(async (request, response) => {
      if (!answers) return response.destroy()
      looked ||= /^\/v1\/webhooks\/[^/]+$/.test(request.url ?? '')
      const { status, type, text } = await forward(request, service.url)
      return response.writeHead(status, { 'content-type': type }).end(text)
    })
    await using listening = listen('--events', 'customer.created', '--url', proxy.url, '--key', made.token)
    await eventually('it is ready, and looks after its endpoint', () => looked)
    answers = false
    await eventually('it says so', () =>
      listening.output.stdout.includes('the service does not answer: waiting'),
    )
    answers = true
    await eventually('it says so', () => listening.output.stdout.includes('the service answers again'))
    await apiKeys.delete(made.id)
    const ended = await listening.ended
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(/^deskwire: /)
    const [left] = (await client().webhooks.list().page()).data
    if (left !== undefined) await client().webhooks.delete(left.id)
  })
})

test('a receiver that misbehaves: what it did is what the service says of it', async () => {
  const chaos = ['chaos-receiver', '--dir', dir, '--events', 'customer.created', '--json']
  await using receiving = startDeskwire([...chaos, '--schedule', '503,reset,ok', ...at()])
  await eventually('it listens', () => records(receiving).length === 1)
  const [{ webhookId }] = records(receiving)
  const log = async () =>
    (await client().webhooks.deliveries(webhookId, { eventType: 'customer.created' }).page()).data
  for (let n = 1; n <= 3; n++) {
    await client().customers.create({ name: `Customer ${n}` })
    await eventually(
      'it is in the log',
      async () => (await log())[0]?.attemptCount === 1 && (await log()).length === n,
    )
  }
  expect(await log()).toMatchObject([
    { status: 'succeeded', responseStatus: 204, lastError: null },
    { status: 'pending', responseStatus: null, lastError: { code: 'connection_failed' } },
    { status: 'pending', responseStatus: 503, lastError: { code: 'non_2xx' } },
  ])
  expect(await receiving.end('SIGINT')).toMatchObject({ code: 0, stderr: '' })
  const did = records(receiving).slice(1, -1)
  expect(did.map(({ n, answered, verified }) => [n, answered, verified])).toEqual([
    [1, '503', true],
    [2, 'reset', true],
    [3, '204', true],
  ])
  const { summary } = records(receiving).at(-1)
  expect(summary).toMatchObject({ requests: 3, events: 3, repeated: 0, unacknowledged: { length: 2 } })
  expect(await webhooksLeft()).toBe(0)
})

test('a wrong secret, no secret, and what no service sent are shown as such', async () => {
  await using wrong = listen('--json', '--port', '0', '--secret', 'whsec_of-another-endpoint')
  await using none = listen('--port', '0')
  await eventually('both listen', () =>
    [wrong, none].every(({ output }) => output.stdout.includes('listening')),
  )
  expect(none.output.stdout).toContain('no secret is given, so nothing can be verified')
  expect(none.output.stdout).toContain(`--dev (in a checkout: npm start -- --dev), or with`)
  expect(none.output.stdout).toContain(`DESKWIRE_TARGET_CA=${join(dir, 'ca.pem')}\n`)

  const { deliveries, webhooks } = client()
  for (const { output } of [wrong, none]) {
    const [url = ''] = /https:\/\/127\.0\.0\.1:\d+\//.exec(output.stdout) ?? []
    const { id } = await webhooks.create({ url, events: ['ticket.created'] })
    const ping = await webhooks.ping(id)
    // It is answered with 204 all the same: this is a place to look, not to refuse.
    await eventually(
      'it is delivered',
      async () => (await deliveries.get(id, ping.id)).status === 'succeeded',
    )
    await webhooks.delete(id)
  }
  expect(records(wrong)[1]).toMatchObject({
    eventType: 'ping',
    verified: false,
    reason: 'signature_mismatch',
    body: expect.stringContaining('"type":"ping"'),
  })
  expect(none.output.stdout).toMatch(/ping +\S{36} {2}NOT VERIFIED, no_secret: Give --secret/)
  for (const listening of [wrong, none])
    expect(await listening.end('SIGINT')).toMatchObject({ code: 0, stderr: '' })
})

test('a service that does not trust the receiver is named the settings that it needs', async () => {
  const other = join(dataDir.parent, 'other')
  const distrusted = await runHere(['listen', '--dir', other, ...at()])
  expect(distrusted.code).toBe(1)
  expect(distrusted.stderr).toMatch(/^deskwire: the service cannot deliver here \(tls_error, [^\n]+\n$/)
  const settings = `--dev (in a checkout: npm start -- --dev), or with DESKWIRE_TRUSTED_TARGETS=127.0.0.0/8 DESKWIRE_TARGET_CA=${join(other, 'ca.pem')}\n`
  expect(distrusted.stderr).toContain(
    'trusts the authority in the directory listen of its data, which --dir names; or',
  )
  expect(distrusted.stderr.endsWith(`or restart it with ${settings}`)).toBe(true)
  expect(await webhooksLeft()).toBe(0)

  // What a service without trusted targets answers.
  const refusal = { type: 't', title: 't', status: 422, code: 'url_not_public', detail: 'd' }
  await using strict = await startHttpServer((_request, response) =>
    response.writeHead(422, { 'content-type': 'application/problem+json' }).end(JSON.stringify(refusal)),
  )
  const refused = await runHere(['listen', '--dir', other, '--url', strict.url, '--key', key])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toBe(
    `deskwire: the service refuses receivers on this machine: restart it with ${settings}`,
  )
})

test('a service that was started with --dev delivers here, without another setting', async () => {
  await using own = await temporaryDataDir({ installed: true })
  const settings = { DESKWIRE_DATA_DIR: own.path, DESKWIRE_BOOTSTRAP_KEY: key }
  const refused = await deskwire(['serve', '--dev', '--host', '0.0.0.0'], { settings })
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toMatch(
    /^deskwire: --dev lets every key reach .* loopback --host, not "0\.0\.0\.0"\n$/,
  )
  await using dev = await serve(['--dev'], { settings })
  await using app = await startHttpServer((_request, response) => response.writeHead(204).end())
  const words = ['listen', '--url', dev.url, '--key', key, '--forward-to', app.url]
  const secrets: string[] = []
  for (let run = 1; run <= 2; run++) {
    await using listening = startDeskwire(words, { settings })
    await eventually('the ping', () => /ping .* verified/.test(listening.output.stdout))
    secrets.push(/with the secret (whsec_\S+)$/m.exec(listening.output.stdout)?.[1] ?? '')
    expect(await listening.end('SIGINT')).toMatchObject({ code: 0, stderr: '' })
  }
  expect(secrets[0]).toMatch(/^whsec_/)
  expect(secrets[1]).toBe(secrets[0])
  const kept = join(own.path, 'listen', 'secret')
  expect([readFileSync(kept, 'utf8').trim(), statSync(kept).mode & 0o777]).toEqual([secrets[0], 0o600])
})

/** An application that answers 204, and what it got, in its order. */
async function startApplication() {
  const got: { name: string; body: string; signature: string }[] = []
  let answersAfter = Promise.resolve()
  const server = await startHttpServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const { name, subject } = JSON.parse(body).data
    got.push({ name: name ?? subject, body, signature: String(request.headers['x-service-signature']) })
    await answersAfter
    response.writeHead(204).end()
  })
  return {
    got,
    names: () => got.map(({ name }) => name),
    url: server.url,
    hold(until: Promise<void>) {
      answersAfter = until
    },
    [Symbol.asyncDispose]: server[Symbol.asyncDispose],
  }
}

/** What the service is called through; `answer` may answer in its place. */
async function between(answer: (path: string) => number | 'drop' | null, to: () => string) {
  return startHttpServer(async (request, response) => {
    const status = answer(request.url ?? '')
    if (status === 'drop') return response.destroy()
    if (status !== null) return response.writeHead(status, { 'content-type': 'text/plain' }).end('busy')
    const passed = await forward(request, to()).catch(() => null)
    if (passed === null) return response.destroy()
    return response.writeHead(passed.status, { 'content-type': passed.type }).end(passed.text)
  })
}

const follows = (listening: Program) =>
  eventually('it follows', () => listening.output.stdout.includes('forwarding to'))
/** The names of the newest events, in the order of the service. */
const newest = async (count: number) => {
  const events = await client()
    .events.list({ types: ['customer.created', 'ticket.created'] })
    .toArray({ limit: 10_000 })
  return events.slice(-count).map(({ data }) => data?.name ?? data?.subject)
}
const create = async (names: readonly string[]) => {
  for (const name of names) await client().customers.create({ name })
}

describe('--log', () => {
  test('passes on the events since its start, signed, though the organization has no endpoint', async () => {
    await create(['Before'])
    await using app = await startApplication()
    await using listening = listen('--log', '--forward-to', app.url, ...at())
    await follows(listening)
    expect(listening.output.stdout).toMatch(/^following the events of \S+, Ctrl-C ends\n/)
    const [, secret = ''] = /with the secret (whsec_\S+)$/m.exec(listening.output.stdout) ?? []
    const made = await Promise.all(['One', 'Two'].map((name) => client().customers.create({ name })))
    await eventually('both are passed on', () => app.got.length === 2)
    for (const { body, signature } of app.got)
      expect(await verify(body, { 'x-service-signature': signature }, secret)).toEqual(JSON.parse(body))
    const ids = app.got.map(({ body }) => JSON.parse(body).data.id)
    expect(ids.sort()).toEqual(made.map(({ id }) => id).sort())
    const ended = await listening.end('SIGINT')
    expect(ended).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^to go on from here: --cursor \S+\n$/),
    })
    expect(ended.stdout).toMatch(/customer\.created +\S{36} {2}verified {2}204 from .*"One"/)
    expect(await webhooksLeft()).toBe(0)
  })

  test.each([429, 503, 'drop'] as const)('each comes once and in order through %s', async (failure) => {
    let calls = 0
    await using proxy = await between(
      (path) => (path.startsWith('/v1/events') && ++calls % 2 === 0 ? failure : null),
      () => service.url,
    )
    await using app = await startApplication()
    await using listening = listen('--log', '--forward-to', app.url, '--url', proxy.url, '--key', key)
    await follows(listening)
    for (const name of ['One', 'Two', 'Three']) {
      await create([name])
      await eventually('it is passed on', () => app.names().includes(name))
    }
    expect((await listening.end('SIGINT')).code).toBe(0)
    expect(app.names()).toEqual(['One', 'Two', 'Three'])
    expect(listening.output.stdout).toContain('the service does not answer: waiting')
    expect(listening.output.stdout).toContain('the service answers again')
  })

  test('each comes once and in order through a restart of the service', async () => {
    await using own = await temporaryDataDir({ installed: true })
    const settings = { DESKWIRE_DATA_DIR: own.path, DESKWIRE_BOOTSTRAP_KEY: key }
    let running = await serve([], { settings })
    await using proxy = await between(
      () => null,
      () => running.url,
    )
    await using app = await startApplication()
    const made = createClient({ baseUrl: proxy.url, apiKey: key })
    await using listening = listen('--log', '--forward-to', app.url, '--url', proxy.url, '--key', key)
    await follows(listening)
    await made.customers.create({ name: 'One' })
    await eventually('the first', () => app.got.length === 1)
    await running[Symbol.asyncDispose]()
    await eventually('it says so', () => listening.output.stdout.includes('the service does not answer'))
    running = await serve([], { settings })
    for (const name of ['Two', 'Three']) await made.customers.create({ name })
    await eventually('the others', () => app.got.length >= 3)
    expect((await listening.end('SIGINT')).code).toBe(0)
    await running[Symbol.asyncDispose]()
    expect(app.names()).toEqual(['One', 'Two', 'Three'])
  })

  test('each comes once and in order through a restart of the command, in the middle of a page too', async () => {
    await using app = await startApplication()
    await using first = listen('--log', '--json', '--forward-to', app.url, ...at())
    await eventually('it follows', () => records(first).length === 1)
    // One commit, so that one page has them; the signal comes while the application has not answered the first.
    const held = Promise.withResolvers<void>()
    app.hold(held.promise)
    await client().customers.batch(['One', 'Two', 'Three', 'Four'].map((name) => ({ name })))
    await eventually('the first', () => app.got.length > 0)
    const ended = first.end('SIGTERM')
    await create(['Five'])
    held.resolve()
    expect((await ended).code).toBe(0)
    const last = records(first).at(-1)
    expect(last).toEqual({ object: 'listen_end', nextCursor: expect.any(String) })
    expect(app.got.length).toBeLessThan(4)
    const words = ['--log', '--forward-to', app.url, '--cursor', last.nextCursor, ...at()]
    await using second = listen(...words)
    await eventually('the others', () => app.got.length >= 5)
    expect((await second.end('SIGINT')).code).toBe(0)
    expect(app.names()).toEqual(await newest(5))
    expect(app.names().toSorted()).toEqual(['Five', 'Four', 'One', 'Three', 'Two'])
  })

  test('each comes once and in order where more than 2,000 have happened, and where none of them is wanted', async () => {
    const names = Array.from({ length: 2_101 }, (_, n) => `Customer ${n}`)
    let answers = true
    await using proxy = await between(
      () => (answers ? null : 503),
      () => service.url,
    )
    await using app = await startApplication()
    await using other = await startApplication()
    const through = ['--url', proxy.url, '--key', key]
    await using listening = listen('--log', '--forward-to', app.url, ...through)
    await using picking = listen('--log', '--events', 'ticket.created', '--forward-to', other.url, ...through)
    await Promise.all([follows(listening), follows(picking)])
    answers = false
    const { customers, tickets } = client()
    for (let from = 0; from < 2_100; from += 100)
      await customers.batch(names.slice(from, from + 100).map((name) => ({ name })))
    const { id } = await customers.create({ name: names.at(-1) as string })
    await tickets.create({ customerId: id, subject: 'The last' })
    answers = true
    await eventually('the only one', () => other.got.length > 0)
    await eventually('all', () => app.got.length > names.length)
    for (const one of [listening, picking]) expect((await one.end('SIGINT')).code).toBe(0)
    expect(other.names()).toEqual(['The last'])
    expect(app.names()).toEqual(await newest(names.length + 1))
    expect(new Set(app.names())).toEqual(new Set([...names, 'The last']))
  })

  test('a cursor without --log is refused', async () => {
    const refused = await runHere(['listen', '--cursor', 'x', '--dir', dir, ...at()])
    expect(refused).toEqual({
      code: 2,
      stdout: '',
      stderr: 'deskwire: --cursor needs --log: deliveries have no cursor\n',
    })
  })
})

test('a secret of the environment does not keep it from registering, and it says so', async () => {
  const settings = {
    DESKWIRE_URL: service.url,
    DESKWIRE_API_KEY: key,
    DESKWIRE_WEBHOOK_SECRET: 'whsec_of-another-endpoint',
  }
  await using listening = startDeskwire(['listen', '--dir', dir, '--json'], { settings })
  await eventually('the ping', () => records(listening).length === 2)
  expect(records(listening)[1]).toMatchObject({ eventType: 'ping', verified: true })
  const { code, stderr } = await listening.end('SIGINT')
  expect(code).toBe(0)
  expect(stderr).toMatch(/^DESKWIRE_WEBHOOK_SECRET is not used: [^\n]+\n$/)
})

test('an authority that is no longer one is not replaced', async () => {
  const broken = join(dataDir.parent, 'broken')
  mkdirSync(broken)
  writeFileSync(join(broken, 'authority.pem'), 'nothing')
  const ran = await runHere(['listen', '--ca', '--dir', broken])
  expect(ran).toMatchObject({ code: 1, stdout: '' })
  expect(ran.stderr).toMatch(/authority\.pem does not hold a certificate authority: delete the file/)
  expect(readFileSync(join(broken, 'authority.pem'), 'utf8')).toBe('nothing')
})
