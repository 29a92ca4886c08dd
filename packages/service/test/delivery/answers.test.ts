import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import {
  answer,
  type Behaviour,
  endless,
  hangUp,
  type Receiver,
  raw,
  reset,
} from '../../../testbed/receiver.ts'
import { createBench, post, shortDeadline } from '../../../testbed/sending.ts'
import type { Sender } from '../../src/delivery/send/send.ts'

const bench = createBench()
let receiver: Receiver
let sender: Sender

beforeAll(async () => {
  receiver = await bench.receiver()
  sender = bench.sender()
})
beforeEach(() => receiver.will(answer(200)))
afterAll(() => bench.close())

test('the request arrives as it was given', async () => {
  const body = Buffer.from('{"name":"Zoë"}')
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Deskwire/1',
    'X-Service-Event-Id': 'abc',
  }
  await post(sender, receiver, { path: '/a/b?c=d', headers, body })
  expect(receiver.requests.at(-1)).toMatchObject({
    method: 'POST',
    path: '/a/b?c=d',
    body,
    headers: {
      host: `localhost:${receiver.port}`,
      'content-type': 'application/json',
      'user-agent': 'Deskwire/1',
      'x-service-event-id': 'abc',
      'content-length': String(body.length),
    },
  })
})

describe('the status decides', () => {
  test.each([200, 201, 202, 204, 299, 301, 302, 307, 308, 304, 400, 404, 410, 429, 500, 503, 599])(
    '%i',
    async (status) => {
      receiver.will(answer(status, '', { location: 'https://localhost:1/' }))
      const before = receiver.requests.length
      expect(await post(sender, receiver)).toEqual({
        kind: 'answered',
        status,
        responseBody: '',
        durationMs: expect.any(Number),
      })
      // A redirect is not followed.
      expect(receiver.requests.length).toBe(before + 1)
    },
  )

  test.each([
    ['a 100 that nobody asked for', 'HTTP/1.1 100 Continue\r\n\r\n'],
    [
      'several interim answers',
      'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n',
    ],
  ])('after %s', async (_what, interim) => {
    receiver.will(raw(`${interim}HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok`))
    expect(await post(sender, receiver)).toMatchObject({ status: 201, responseBody: 'ok' })
  })

  test('though the body is cut short', async () => {
    receiver.will((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart'))
    expect(await post(sender, receiver)).toMatchObject({ status: 200, responseBody: 'part' })
  })

  test('though the body never ends: at most until the deadline', async () => {
    const impatient = bench.sender({ answerTimeoutMs: shortDeadline })
    await post(impatient, receiver)
    receiver.will(raw('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart'))
    expect(await post(impatient, receiver)).toMatchObject({ status: 200, responseBody: 'part' })
    expect(receiver.requests.at(-1)?.connection).toBe(receiver.requests.at(-2)?.connection)
    // What was left open with an answer half read is not used again.
    receiver.will(answer(200))
    await post(impatient, receiver)
    expect(receiver.requests.at(-1)?.connection).not.toBe(receiver.requests.at(-2)?.connection)
  })
})

describe('the body', () => {
  test.each<[string, Behaviour, string]>([
    ['is text', answer(200, 'thanks, Zoë'), 'thanks, Zoë'],
    ['is kept up to 1 KiB', answer(200, 'x'.repeat(5000)), 'x'.repeat(1024)],
    ['is cut between characters', answer(200, `x${'ë'.repeat(600)}`), `x${'ë'.repeat(511)}`],
    ['has no zero characters', answer(200, 'a\0b'), 'a\ufffdb'],
    [
      'may be chunked',
      raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n'),
      'abcde',
    ],
    ['may end with the connection', (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'), 'all of it'],
  ])('%s', async (_what, behaviour, responseBody) => {
    receiver.will(behaviour)
    expect(await post(sender, receiver)).toMatchObject({ status: 200, responseBody })
  })

  test('need not be text at all', async () => {
    receiver.will((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 40\r\n\r\n')
      socket.write(Buffer.concat([gzipSync('hello'), Buffer.alloc(40)]).subarray(0, 40))
    })
    const outcome = await post(sender, receiver)
    expect(outcome).toMatchObject({ kind: 'answered', responseBody: expect.any(String) })
    expect(outcome.kind === 'answered' && outcome.responseBody).not.toContain('\0')
  })

  test('is read up to 16 KiB, then the connection ends', async () => {
    receiver.will(endless('HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n', 'x'.repeat(4096), 1))
    const own = await bench.receiver()
    own.will(endless('HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n', 'x'.repeat(4096), 1))
    expect(await post(sender, own)).toMatchObject({ status: 200, responseBody: 'x'.repeat(1024) })
    await eventually('its connections are closed', () => own.open === 0)
  })

  test('of up to 16 KiB keeps the connection', async () => {
    receiver.will(answer(200, 'x'.repeat(16 * 1024)))
    await post(sender, receiver)
    await post(sender, receiver)
    expect(receiver.requests.at(-1)?.connection).toBe(receiver.requests.at(-2)?.connection)
  })
})

describe('no answer', () => {
  const failed = (code: string, part: string) => ({
    kind: 'failed',
    code,
    message: expect.stringContaining(part),
    durationMs: expect.any(Number),
  })

  test.each<[string, Behaviour, string]>([
    ['the connection ends', hangUp, 'closed the connection before it answered'],
    ['the connection is reset', reset, 'the connection'],
    ['half a status line', (socket) => socket.end('HTTP/1.1 20'), 'closed the connection'],
  ])('%s', async (_what, behaviour, part) => {
    const own = await bench.receiver()
    own.will(behaviour)
    const outcome = await post(sender, own)
    expect(outcome).toEqual({ ...failed('connection_failed', part), handshake: true })
    expect(outcome.kind === 'failed' && outcome.message).toContain(`127.0.0.1:${own.port}`)
    // On a connection that had never served, it is not sent again.
    expect(own.requests.length).toBe(1)
  })

  test('nobody listens', async () => {
    const gone = await bench.receiver()
    await gone.close()
    expect(await post(sender, gone)).toEqual({
      ...failed('connection_failed', `127.0.0.1:${gone.port} refused the connection`),
      handshake: false,
    })
  })

  test('a header that no request can carry is a surprise, not an outcome', async () => {
    await expect(post(sender, receiver, { headers: { 'x-bad': 'a\r\nb: c' } })).rejects.toThrow('header')
  })
})
