/** `deskwire chaos-receiver`, as a process, at the hands of a sender that looks at what it is answered byte by byte. */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { testDelivery } from '@deskwire/sdk/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import { startHttpServer } from '../../../testbed/loopback.ts'
import type { Program } from '../../../testbed/program.ts'
import { startDeskwire } from '../../../testbed/services.ts'
import { chaosReceiver } from '../../src/commands/chaos-receiver.ts'

const secret = 'whsec_dGhlIHNlY3JldCBvZiB0aGUgdmVjdG9ycywgbi4gMS4='
let dir = ''

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'deskwire-chaos-'))
})

afterAll(async () => {
  await rm(dir, { recursive: true })
})

/** What a connection brought, and how it ended: `open` when nothing more came and the sender left. */
interface Answered {
  readonly bytes: string
  readonly end: 'ended' | 'reset' | 'open'
}

async function started(...words: string[]): Promise<{ chaos: Program; port: number }> {
  const chaos = startDeskwire([
    'chaos-receiver',
    '--dir',
    dir,
    '--port',
    '0',
    '--secret',
    secret,
    '--json',
    ...words,
  ])
  await eventually('it listens', () => chaos.output.stdout.includes('\n'))
  const { listening } = JSON.parse(chaos.output.stdout)
  return { chaos, port: Number(new URL(listening).port) }
}

/** Sends a delivery over a connection of its own; leaves once `enough` of an answer has come, or when told to. */
async function send(
  port: number,
  id: string,
  {
    enough = /\r\n\r\n$/,
    path = '/',
    leave,
    onSent = () => {},
  }: { enough?: RegExp; path?: string; leave?: AbortSignal; onSent?: () => void } = {},
): Promise<Answered> {
  const { headers, body } = await testDelivery({ id, type: 'ticket.created' }, secret)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const ca = readFileSync(join(dir, 'ca.pem'))
  return await new Promise((settle) => {
    let bytes = ''
    const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' }, () => {
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${lines.join('')}\r\n${body}`,
        onSent,
      )
    })
    leave?.addEventListener('abort', () => socket.destroy())
    socket.setEncoding('latin1').on('data', (text: string) => {
      bytes += text
      if (!enough.test(bytes)) return
      settle({ bytes, end: 'open' })
      socket.destroy()
    })
    socket.on('error', ({ code }: NodeJS.ErrnoException) =>
      settle({ bytes, end: code === 'ECONNRESET' ? 'reset' : 'ended' }),
    )
    socket.on('end', () => settle({ bytes, end: 'ended' }))
    socket.on('close', () => settle({ bytes, end: 'open' }))
  })
}

const statusOf = ({ bytes }: Answered) => Number(bytes.split(' ')[1])

// biome-ignore lint/suspicious/noExplicitAny: whatever the command printed; a wrong guess fails the test
const records = ({ output }: Program): any[] =>
  output.stdout
    .split('\n')
    .slice(1, -1)
    .map((line) => JSON.parse(line))

test('each way to misbehave is what it says, is told, and is counted in the end', async () => {
  const { chaos, port } = await started(
    '--schedule',
    '503,redirect,reset,duplicate,slow,timeout,ok',
    '--slow',
    '0',
    '--requests',
    '8',
  )
  await using _ = chaos
  expect(statusOf(await send(port, 'e-1'))).toBe(503)
  const redirected = await send(port, 'e-1')
  expect(redirected.bytes).toMatch(/^HTTP\/1\.1 307 [\s\S]*\r\nlocation: \/followed\r\n/i)
  expect(await send(port, 'e-2')).toEqual({ bytes: '', end: 'reset' })
  const twice = await send(port, 'e-3', { enough: /500 [\s\S]*\r\n\r\n$/ })
  expect(twice.bytes.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 204', 'HTTP/1.1 500'])
  expect(statusOf(await send(port, 'e-4'))).toBe(204)
  // What never answers is left by whoever waits: once it has surely been read, before those that are answered after it.
  const waiting = new AbortController()
  const { promise: sent, resolve: onSent } = Promise.withResolvers<void>()
  const unanswered = send(port, 'e-5', { leave: waiting.signal, onSent })
  await sent
  expect(statusOf(await send(port, 'e-2'))).toBe(204)
  // Whoever follows a redirect is found out.
  expect(statusOf(await send(port, 'e-1', { path: '/followed' }))).toBe(204)
  waiting.abort()
  expect(await unanswered).toEqual({ bytes: '', end: 'open' })

  expect(await chaos.ended).toMatchObject({ code: 0, stderr: '' })
  const told = records(chaos)
  const { summary } = told.pop()
  expect(
    told
      .sort((a, b) => a.n - b.n)
      .map(({ eventId, time, answered, outcome }) => [eventId, time, answered, outcome]),
  ).toEqual([
    ['e-1', 1, '503', 'complete'],
    ['e-1', 2, 'redirect', 'complete'],
    ['e-2', 1, 'reset', 'complete'],
    ['e-3', 1, 'duplicate', 'complete'],
    ['e-4', 1, 'slow', 'complete'],
    ['e-5', 1, 'timeout', 'gave_up'],
    ['e-2', 2, '204', 'complete'],
    ['e-1', 3, 'followed', 'complete'],
  ])
  expect(told.every(({ verified, eventType }) => verified && eventType === 'ticket.created')).toBe(true)
  expect(summary).toMatchObject({ requests: 8, events: 5, repeated: 2, unacknowledged: ['e-5'] })
})

test('an application gets what is then refused, and again: it is what it answers where all is well', async () => {
  const got: string[] = []
  await using application = await startHttpServer((request, response) => {
    got.push(String(request.headers['x-service-event-id']))
    response.writeHead(202).end()
  })
  const { chaos, port } = await started('--schedule', '500,ok', '--forward-to', application.url)
  await using _ = chaos
  expect([await send(port, 'e-1'), await send(port, 'e-1')].map(statusOf)).toEqual([500, 202])
  await eventually('both are told', () => records(chaos).length === 2)
  const ended = await chaos.end('SIGINT')
  expect(got).toEqual(['e-1', 'e-1'])
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  expect(records(chaos).at(-1)).toEqual({
    summary: { requests: 2, answered: { 202: 1, 500: 1 }, events: 1, repeated: 1, unacknowledged: [] },
  })
})

test.each([
  [['--schedule', 'okay'], '"okay" is not accepted; there are ok, redirect, timeout,'],
  [['--schedule', 'ok', '--seed', '1'], '--schedule and --seed do not go together'],
  [['--failing', '101'], 'it must be a whole number from 0 to 100'],
  [['--requests', '0'], 'it must be a whole number from 1 to'],
  [['--answers', 'reset,well'], '--answers: "well" is not accepted'],
])('%j is refused before anything listens', async (words, why) => {
  await expect(chaosReceiver.run(['--dir', dir, ...words])).rejects.toThrow(why)
})
