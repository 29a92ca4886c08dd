/** `deskwire listen` and `deskwire trigger` at a real service, as whole processes. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createClient } from '@deskwire/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventTypes } from '../src/triggers.ts'
import {
  type Background,
  type DataDir,
  deskwire,
  npmStart,
  type Service,
  startDeskwire,
  temporaryDataDir,
  until,
} from './harness.ts'

const key = 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22'
let dataDir: DataDir
let service: Service
/** Where the authority is, made before the service starts. */
let dir = ''

beforeAll(async () => {
  dataDir = await temporaryDataDir()
  dir = join(dataDir.parent, 'listen')
  const made = await deskwire(['listen', '--ca', '--dir', dir])
  expect(made).toEqual({ code: 0, stdout: `${join(dir, 'ca.pem')}\n`, stderr: '' })
  service = await npmStart({
    DESKWIRE_DATA_DIR: dataDir.path,
    DESKWIRE_BOOTSTRAP_KEY: key,
    DESKWIRE_TRUSTED_TARGETS: '127.0.0.0/8',
    DESKWIRE_TARGET_CA: made.stdout.trim(),
  })
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await dataDir[Symbol.asyncDispose]()
})

const at = () => ['--url', service.url, '--key', key]
const client = () => createClient({ baseUrl: `${service.url}/v1`, apiKey: key })
const listen = (...words: string[]): Background => startDeskwire(['listen', '--dir', dir, ...words])

/** The lines of JSON so far. */
// biome-ignore lint/suspicious/noExplicitAny: whatever the command printed; a wrong guess fails the test
const records = ({ output }: Background): any[] =>
  output.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

async function webhooksLeft(): Promise<number> {
  return (await client().webhooks.list()).pagination.total
}

test('it registers itself, verifies and prints what comes, and deletes the endpoint on Ctrl-C', async () => {
  const before = readFileSync(join(dir, 'authority.pem'), 'utf8')
  await using listening = listen('--events', 'customer.created,customer.deleted', ...at())
  await until('the ping', () => listening.output.stdout.includes('ping'))
  const ran = await deskwire(['trigger', 'customer.deleted', ...at()])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  const [, id] = /^created customer (\S+): customer\.created\ndeleted customer \1: customer\.deleted\n$/.exec(
    ran.stdout,
  ) as RegExpExecArray
  await until('the removal', () => / removed at /.test(listening.output.stdout))
  expect(await webhooksLeft()).toBe(1)

  const ended = await listening.stop('SIGINT')
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

test('each trigger causes the events that it says it causes', async () => {
  await using listening = listen('--json', ...at())
  await until('the ping', () => records(listening).length === 2)
  const [ready, ping] = records(listening)
  expect(ready).toMatchObject({ listening: expect.stringMatching(/^https:/), ca: join(dir, 'ca.pem') })
  expect(ping).toMatchObject({ eventType: 'ping', verified: true, repeat: false, event: { data: {} } })

  const caused: string[] = []
  for (const type of eventTypes) {
    const ran = await deskwire(['trigger', type, '--json', ...at()])
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    const steps = ran.stdout.trimEnd().split('\n')
    const [last] = steps.slice(-1).map((line) => JSON.parse(line))
    expect(last.events).toContain(type)
    for (const line of steps) {
      const { id, events } = JSON.parse(line)
      for (const event of events) caused.push(`${event} ${id}`)
    }
  }
  const arrived = () =>
    records(listening)
      .slice(2)
      .map(({ event }) => `${event.type} ${event.data.id}`)
  // What is pending has arrived at last; a read at delivery may find a subject gone, and then nothing is sent.
  const ofGone = (line: string) => caused.includes(line.replace(/created|updated/, 'deleted'))
  await until('the events', () => caused.every((line) => arrived().includes(line) || ofGone(line)))
  expect(arrived().filter((line) => !caused.includes(line))).toEqual([])
  expect(
    records(listening)
      .slice(1)
      .every(({ verified }) => verified),
  ).toBe(true)
  expect((await listening.stop('SIGTERM')).code).toBe(0)
  expect(await webhooksLeft()).toBe(0)
})

test('a wrong secret, no secret, and what no service sent are shown as such', async () => {
  await using wrong = listen('--json', '--port', '0', '--secret', 'whsec_of-another-endpoint')
  await using none = listen('--port', '0')
  await until('both listen', () => [wrong, none].every(({ output }) => output.stdout.includes('listening')))
  expect(none.output.stdout).toContain('no secret is given, so nothing can be verified')
  expect(none.output.stdout).toContain(`DESKWIRE_TARGET_CA=${join(dir, 'ca.pem')}\n`)

  const { webhooks } = client()
  for (const { output } of [wrong, none]) {
    const [url = ''] = /https:\/\/127\.0\.0\.1:\d+\//.exec(output.stdout) ?? []
    const { id } = await webhooks.create({ url, events: ['ticket.created'] })
    const ping = await webhooks.ping(id)
    // It is answered with 204 all the same: this is a place to look, not to refuse.
    await until('it is delivered', async () => (await webhooks.delivery(id, ping.id)).status === 'succeeded')
    await webhooks.remove(id)
  }
  expect(records(wrong)[1]).toMatchObject({
    eventType: 'ping',
    verified: false,
    reason: 'signature_mismatch',
    body: expect.stringContaining('"type":"ping"'),
  })
  expect(none.output.stdout).toMatch(/ping +\S{36} {2}NOT VERIFIED, no_secret: Give --secret/)
  for (const listening of [wrong, none])
    expect(await listening.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' })
})

test('a service that does not trust the receiver is named the settings that it needs', async () => {
  const other = join(dataDir.parent, 'other')
  const distrusted = await deskwire(['listen', '--dir', other, ...at()])
  expect(distrusted.code).toBe(1)
  expect(distrusted.stderr).toMatch(/^deskwire: the service cannot deliver here \(tls_error, [^\n]+\n$/)
  const settings = `DESKWIRE_TRUSTED_TARGETS=127.0.0.0/8 DESKWIRE_TARGET_CA=${join(other, 'ca.pem')}\n`
  expect(distrusted.stderr.endsWith(`: restart the service with ${settings}`)).toBe(true)
  expect(await webhooksLeft()).toBe(0)

  // What a service without trusted targets answers.
  const refusal = { type: 't', title: 't', status: 422, code: 'url_not_public', detail: 'd' }
  const strict = createServer((_request, response) =>
    response.writeHead(422, { 'content-type': 'application/problem+json' }).end(JSON.stringify(refusal)),
  )
  await new Promise<void>((settle) => strict.listen(0, '127.0.0.1', settle))
  const url = `http://127.0.0.1:${(strict.address() as AddressInfo).port}`
  const refused = await deskwire(['listen', '--dir', other, '--url', url, '--key', key])
  strict.closeAllConnections()
  await new Promise((settle) => strict.close(settle))
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toBe(
    `deskwire: the service refuses receivers on this machine: restart it with ${settings}`,
  )
})

test('an authority that is no longer one is not replaced', async () => {
  const broken = join(dataDir.parent, 'broken')
  mkdirSync(broken)
  writeFileSync(join(broken, 'authority.pem'), 'nothing')
  const ran = await deskwire(['listen', '--ca', '--dir', broken])
  expect(ran).toMatchObject({ code: 1, stdout: '' })
  expect(ran.stderr).toMatch(/authority\.pem does not hold a certificate authority: delete the file/)
  expect(readFileSync(join(broken, 'authority.pem'), 'utf8')).toBe('nothing')
})
