/** Answers that no well-meaning server gives: each ends as one outcome, soon, and with little of it in memory. */
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import { answer, type Behaviour, endless, raw } from '../../../testbed/receiver.ts'
import { createBench, post, ways } from '../../../testbed/sending.ts'

describe.each(ways)('%s', (_way, way) => {
  const bench = createBench(way)
  const sender = bench.sender()
  afterAll(() => bench.close())

  const ok = 'HTTP/1.1 200 OK\r\n'
  const header = (length: number) => `x-filler: ${'y'.repeat(length - 'x-filler: \r\n'.length)}\r\n`

  /** These bytes, and the end of the connection. */
  const cut =
    (text: string): Behaviour =>
    (socket) =>
      socket.end(text)

  async function outcomeOf(behaviour: Behaviour, body?: Buffer) {
    const receiver = await bench.receiver()
    receiver.will(behaviour, answer(200))
    const outcome = await post(sender, receiver, body === undefined ? {} : { body })
    return { receiver, outcome }
  }

  describe('no answer that can be understood', () => {
    const noHttp = 'did not answer with HTTP/1.1 that can be understood'
    const longHead = 'sent more than 16 KiB of response headers'
    const longBeginning = 'sent more than 64 KiB of interim responses and headers'
    test.each<[string, Behaviour, string]>([
      ['a malformed header, and headers without end', endless(`${ok}banana\r\n`, header(1024), 1), longHead],
      [
        'a line feed alone, and headers without end',
        endless('HTTP/1.1 200 OK\n', 'x: y\n'.repeat(999), 1),
        longHead,
      ],
      ['HTTP/0.9', raw('<html>hello</html>'), noHttp],
      ['HTTP/2 without being asked', raw('\0\0\u0006\u0004\0\0\0\0\0\0\u0003\0\0\0d'), noHttp],
      ['one line without end', endless('HTTP/1.1 200 ', 'O'.repeat(16_384), 1), longHead],
      [
        'interim answers without end',
        endless('', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(400), 1),
        longBeginning,
      ],
      [
        'a hundred interim answers of 10 KiB',
        raw(`HTTP/1.1 103 Hints\r\n${header(10_240)}\r\n`.repeat(100)),
        longBeginning,
      ],
      ['one header of 17 KiB', raw(`${ok}${header(17 * 1024)}content-length: 0\r\n\r\n`), longHead],
      ['headers without end', endless(ok, header(1024), 1), longHead],
      [
        'an upgrade',
        raw('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
        'answered 101 Switching Protocols, which nobody asked for',
      ],
    ])('%s', async (_what, behaviour, fault) => {
      const { receiver, outcome } = await outcomeOf(behaviour)
      expect(outcome).toEqual({
        kind: 'failed',
        code: 'connection_failed',
        message: `127.0.0.1:${receiver.port} ${fault}`,
        durationMs: expect.any(Number),
        handshake: true,
      })
      expect(receiver.requests.length).toBe(1)
      await eventually('its connections are closed', () => receiver.open === 0)
    })
  })

  describe('a status all the same, and the end of the connection', () => {
    test.each<[string, Behaviour]>([
      ['a header without a colon', raw(`${ok}banana\r\n\r\n`)],
      ['a length that is no number', raw(`${ok}content-length: banana\r\n\r\n`)],
      ['a length and chunks', raw(`${ok}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`)],
      ['a line feed for every end of a line', raw('HTTP/1.1 200 OK\nx-a: b\n\n')],
      ['a second answer behind a malformed header', raw(`${ok}banana\r\n\r\nHTTP/1.1 500 Later\r\n\r\n`)],
    ])('%s', async (_what, behaviour) => {
      const { receiver, outcome } = await outcomeOf(behaviour)
      expect(outcome).toEqual({
        kind: 'answered',
        status: 200,
        responseBody: '',
        durationMs: expect.any(Number),
      })
      await eventually('its connections are closed', () => receiver.open === 0)
      expect(await post(sender, receiver)).toMatchObject({ status: 200, responseBody: '' })
      expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 2])
    })
  })

  describe('an answer all the same', () => {
    test.each<[string, Behaviour, number, string]>([
      ['headers of 15 KiB', raw(`${ok}${header(1024).repeat(15)}content-length: 2\r\n\r\nok`), 200, 'ok'],
      [
        'four interim answers of 10 KiB',
        raw(`${`HTTP/1.1 103 Hints\r\n${header(10_240)}\r\n`.repeat(4)}${ok}content-length: 0\r\n\r\n`),
        200,
        '',
      ],
      ['HTTP/1.0', cut('HTTP/1.0 202 Accepted\r\n\r\nok'), 202, 'ok'],
      ['a body where there is none', raw('HTTP/1.1 204 No Content\r\n\r\nsurprise'), 204, ''],
      ['chunks that say nonsense', raw(`${ok}transfer-encoding: chunked\r\n\r\nzz\r\n`), 200, ''],
      ['a chunk of 16 EiB', cut(`${ok}transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\nab`), 200, 'ab'],
      [
        'trailers without end',
        endless(`${ok}transfer-encoding: chunked\r\n\r\n0\r\n`, header(1024), 1),
        200,
        '',
      ],
      [
        'a coding that nobody knows',
        raw(`${ok}content-encoding: br, x\r\ncontent-length: 2\r\n\r\nok`),
        200,
        'ok',
      ],
    ])('%s', async (_what, behaviour, status, responseBody) => {
      const { receiver, outcome } = await outcomeOf(behaviour)
      expect(outcome).toEqual({ kind: 'answered', status, responseBody, durationMs: expect.any(Number) })
      // Whatever came after it is nobody's answer.
      expect(await post(sender, receiver)).toMatchObject({ status: 200, responseBody: '' })
    })

    test('a second answer to one request is not taken for that to the next', async () => {
      const twice = `${ok}content-length: 0\r\n\r\nHTTP/1.1 500 Later\r\ncontent-length: 0\r\n\r\n`
      const { receiver, outcome } = await outcomeOf(raw(twice))
      expect(outcome).toMatchObject({ status: 200 })
      expect(await post(sender, receiver)).toMatchObject({ status: 200 })
      expect(receiver.requests.map(({ connection }) => connection)).toEqual([1, 2])
    })

    test('before the request was read to its end', async () => {
      const receiver = await bench.receiver()
      receiver.greet((socket) => {
        socket.removeAllListeners('data')
        socket.once('data', () => {
          socket.pause()
          socket.write('HTTP/1.1 413 Content Too Large\r\nconnection: close\r\ncontent-length: 2\r\n\r\nno')
        })
      })
      const outcome = await post(sender, receiver, { body: Buffer.alloc(32 * 1024 * 1024) })
      expect(outcome).toMatchObject({ kind: 'answered', status: 413 })
    })

    test('a gzip bomb is not unpacked, and not read past 16 KiB', async () => {
      const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
      expect(bomb.length).toBeGreaterThan(32 * 1024)
      const { receiver, outcome } = await outcomeOf((socket) => {
        socket.write(`${ok}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`)
        socket.write(bomb)
      })
      expect(outcome).toMatchObject({ kind: 'answered', status: 200 })
      expect(outcome.kind === 'answered' && Buffer.byteLength(outcome.responseBody)).toBeLessThan(4 * 1024)
      await eventually('its connections are closed', () => receiver.open === 0)
    })
  })
})
