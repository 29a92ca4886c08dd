/**
 * One request and its answer, over a connection whose room and whose end the test decides: what is written when, and what it
 * means when the connection is lost, the time is up, or an answer comes too early. Each ends once.
 */
import { once } from 'node:events'
import { Writable } from 'node:stream'
import { setImmediate as immediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { Exchange, type ExchangeEnd } from '../../src/delivery/send/exchange.ts'

const peer = '192.0.2.7:443'
const pieces = ['head', 'middle', 'last'] as const
const answer = 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=5\r\ncontent-length: 2\r\n\r\nok'

/** What is written to it is taken when the test says so; it has room for `room` bytes. */
class Line extends Writable {
  readonly peer = peer
  readonly socket = this
  readonly reused: boolean
  readonly taken: string[] = []
  #take: (() => void) | null = null

  constructor(reused: boolean, room: number) {
    super({ highWaterMark: room })
    this.reused = reused
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.taken.push(chunk.toString())
    this.#take = done
  }

  /** Takes the piece that was written, and has room again. */
  async drain(): Promise<void> {
    const drained = once(this, 'drain')
    this.#take?.()
    await drained
  }
}

interface Setting {
  readonly kept?: boolean
  /** Pieces that have been handed over. */
  readonly handedOver?: number
}

/** An exchange that has come so far, and what it has ended with. */
async function exchangeAt({ kept = false, handedOver = pieces.length }: Setting = {}) {
  const line = new Line(kept, 1)
  const clock = testClock(1000)
  const ends: ExchangeEnd[] = []
  const exchange = new Exchange(pieces, line, clock, (end) => ends.push(end))
  for (let piece = 0; piece < handedOver; piece++) {
    exchange.write()
    if (piece + 1 < handedOver) await line.drain()
  }
  const read = (text: string) => exchange.read(Buffer.from(text, 'latin1'))
  return { exchange, line, clock, ends, read }
}

const answered = (status: number, responseBody: string, answeredAt = 1000) => ({
  kind: 'answered',
  status,
  responseBody,
  retryAfter: null,
  answeredAt,
})
const failed = (code: string, what: string) => ({ kind: 'failed', code, message: `${peer} ${what}` })
const broken = (code: string) => Object.assign(new Error('it broke'), { code })

describe('the request', () => {
  test('is handed over at once where there is room', () => {
    const line = new Line(false, 1024)
    const ends: ExchangeEnd[] = []
    new Exchange(pieces, line, testClock(), (end) => ends.push(end)).write()
    expect(line.writableLength).toBe(pieces.join('').length)
    expect(ends).toEqual([])
  })

  test('is handed over a piece at a time, each when there is room', async () => {
    const { exchange, line, ends } = await exchangeAt({ handedOver: 0 })
    expect(line.writableLength).toBe(0)
    for (const [index, piece] of pieces.entries()) {
      exchange.write()
      expect(line.writableLength).toBe(piece.length)
      await line.drain()
      expect(line.taken).toEqual(pieces.slice(0, index + 1))
    }
    exchange.write()
    expect(line.writableLength).toBe(0)
    expect(ends).toEqual([])
  })
})

describe('the answer', () => {
  test('leaves the connection to the next request', async () => {
    const { ends, read, clock, line } = await exchangeAt()
    await line.drain()
    read('HTTP/1.1 103 Hints\r\n\r\n')
    clock.advance(1)
    read('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n')
    clock.advance(1)
    read('o')
    expect(ends).toEqual([])
    read('k')
    expect(ends).toEqual([{ outcome: answered(200, 'ok', 1001), reusable: true, keepAliveMs: null }])
  })

  test.each(['connection: close\r\ncontent-length: 2\r\n\r\nok', 'content-length: 2\r\n\r\nokHTTP/1.1 500'])(
    'does not with %j',
    async (rest) => {
      const { ends, read, line } = await exchangeAt()
      await line.drain()
      read(`HTTP/1.1 200 OK\r\n${rest}`)
      expect(ends).toEqual([{ outcome: answered(200, 'ok'), reusable: false, keepAliveMs: null }])
    },
  )

  test.each([0, 1, 2])('does not when only %i pieces were handed over', async (handedOver) => {
    const { ends, read } = await exchangeAt({ handedOver })
    read(answer)
    expect(ends).toEqual([{ outcome: answered(200, 'ok'), reusable: false, keepAliveMs: 5000 }])
  })

  test('does not when the system has not taken the last piece', async () => {
    const { ends, read, line } = await exchangeAt({ kept: true })
    expect(line.writableLength).toBe(pieces[2].length)
    read(answer)
    await immediate()
    expect(ends).toEqual([{ outcome: answered(200, 'ok'), reusable: false, keepAliveMs: 5000 }])
  })

  test('does when the system had taken it, and the socket says so at the end of the turn', async () => {
    const { ends, read, line } = await exchangeAt({ kept: true })
    read(answer)
    expect(ends).toEqual([])
    await line.drain()
    await immediate()
    expect(ends).toEqual([{ outcome: answered(200, 'ok'), reusable: true, keepAliveMs: 5000 }])
  })

  test.each<[string, (it: Awaited<ReturnType<typeof exchangeAt>>) => void]>([
    ['more comes', ({ read }) => read('HTTP/1.1 200 OK\r\n')],
    ['the connection is lost', ({ exchange }) => exchange.lose(null)],
    ['the time is up', ({ exchange }) => exchange.expire()],
  ])('does not, and ends once, when %s before that', async (_what, happens) => {
    const it = await exchangeAt({ kept: true })
    it.read(answer)
    happens(it)
    const ended = [{ outcome: answered(200, 'ok'), reusable: false, keepAliveMs: 5000 }]
    expect(it.ends).toEqual(ended)
    await it.line.drain()
    await immediate()
    expect(it.ends).toEqual(ended)
  })

  test.each([0, 1, 2])(
    'over a kept connection is none of this request while %i pieces were handed over',
    async (handedOver) => {
      for (const text of ['H', 'HTTP/1.1 103 Hints\r\n\r\n', answer, 'nonsense']) {
        const { ends, read } = await exchangeAt({ kept: true, handedOver })
        read(text)
        expect(ends).toEqual([{ outcome: { kind: 'stale' }, reusable: false, keepAliveMs: null }])
      }
    },
  )

  test('that is none fails', async () => {
    const { ends, read } = await exchangeAt({ kept: true })
    read('HTTP/1.1 OK\r\n')
    const outcome = failed('connection_failed', 'did not answer with HTTP/1.1 that can be understood')
    expect(ends).toEqual([{ outcome, reusable: false, keepAliveMs: null }])
  })
})

describe('the time is up', () => {
  test.each([
    ['nothing', ''],
    ['half a head', 'HTTP/1.1 200 OK\r\nx: '],
    ['an interim answer', 'HTTP/1.1 103 Hints\r\n\r\n'],
  ])('after %s: a failure', async (_what, text) => {
    const { exchange, ends, read } = await exchangeAt({ kept: true })
    if (text !== '') read(text)
    exchange.expire()
    expect(ends).toEqual([
      { outcome: failed('timeout', 'did not answer in time'), reusable: false, keepAliveMs: null },
    ])
  })

  test('before anything was handed over: a failure', async () => {
    const { exchange, ends } = await exchangeAt({ kept: true, handedOver: 0 })
    exchange.expire()
    expect(ends).toMatchObject([{ outcome: { code: 'timeout' }, reusable: false }])
  })

  test('after the head: an answer with what there is of its body', async () => {
    const { exchange, ends, read, clock } = await exchangeAt()
    read(answer.slice(0, -1))
    clock.advance(1)
    exchange.expire()
    expect(ends).toEqual([{ outcome: answered(200, 'o'), reusable: false, keepAliveMs: 5000 }])
  })
})

describe('the connection is lost after the head of the answer', () => {
  test.each([
    ['in its body', answer.slice(0, -1), 'o', null],
    ['with an error in its body', answer.slice(0, -1), 'o', broken('ECONNRESET')],
    ['with the end of its body', 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=5\r\n\r\nok', 'ok', null],
  ])('%s: an answer', async (_what, text, body, error) => {
    for (const kept of [false, true]) {
      const { exchange, ends, read } = await exchangeAt({ kept, handedOver: kept ? 3 : 1 })
      read(text)
      exchange.lose(error)
      expect(ends).toEqual([{ outcome: answered(200, body), reusable: false, keepAliveMs: 5000 }])
    }
  })
})

test('a connection that the system gives up had been accepted, and the log does not say otherwise', async () => {
  const { exchange, ends } = await exchangeAt({ kept: false, handedOver: 3 })
  exchange.lose(broken('ETIMEDOUT'))
  expect(ends).toMatchObject([
    { outcome: { kind: 'failed', code: 'timeout', message: `${peer} stopped responding` } },
  ])
})

describe('the connection is lost before', () => {
  const closes = ['an end', 'ECONNRESET', 'EPIPE']
  const errors = [...closes, 'ETIMEDOUT', 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED']
  const situations = [false, true].flatMap((kept) =>
    [0, 1, 2, 3].flatMap((handedOver) =>
      ['', 'HTTP/1.'].flatMap((received) => errors.map((error) => ({ kept, handedOver, received, error }))),
    ),
  )
  /** Only of what had served before, where the receiver has certainly not processed the request. */
  const stale = [
    ...errors.map((error) => [0, '', error]),
    // What came answers something before this request, however the connection ends after it.
    ...errors.flatMap((error) => [0, 1, 2].map((handedOver) => [handedOver, 'HTTP/1.', error])),
    ...closes.flatMap((error) => [1, 2].map((handedOver) => [handedOver, '', error])),
  ].map((one) => one.join())

  test.each(situations)(
    'kept: $kept, handed over: $handedOver, received: "$received", $error',
    async (situation) => {
      const { kept, handedOver, received, error } = situation
      const { exchange, ends, read } = await exchangeAt({ kept, handedOver })
      if (received !== '') read(received)
      if (ends.length === 0) exchange.lose(error === 'an end' ? null : broken(error))
      const isStale = kept && stale.includes([handedOver, received, error].join())
      const outcome = isStale
        ? { kind: 'stale' }
        : { kind: 'failed', code: expect.any(String), message: expect.stringContaining(peer) }
      expect(ends).toEqual([{ outcome, reusable: false, keepAliveMs: null }])
    },
  )

  test.each([
    [true, '', null, 'connection_failed', 'closed a kept connection after the request, unanswered'],
    [true, '', 'EPIPE', 'connection_failed', 'closed a kept connection after the request, unanswered'],
    [true, 'H', null, 'connection_failed', 'closed the connection before it answered'],
    [true, 'H', 'ECONNRESET', 'connection_failed', 'reset the connection'],
    [false, '', null, 'connection_failed', 'closed the connection before it answered'],
    [false, '', 'ECONNRESET', 'connection_failed', 'reset the connection'],
    [false, '', 'EPIPE', 'connection_failed', 'closed the connection before it answered'],
  ])('kept: %s, received: %j, %s: %s', async (kept, received, error, code, what) => {
    const { exchange, ends, read } = await exchangeAt({ kept })
    if (received !== '') read(received)
    exchange.lose(error === null ? null : broken(error))
    expect(ends).toEqual([{ outcome: failed(code, what), reusable: false, keepAliveMs: null }])
  })

  test('with an error of TLS: it is named', async () => {
    const { exchange, ends } = await exchangeAt({ kept: true })
    exchange.lose(broken('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'))
    const outcome = { kind: 'failed', code: 'tls_error', message: `No TLS with ${peer}: it broke` }
    expect(ends).toEqual([{ outcome, reusable: false, keepAliveMs: null }])
  })
})
