/** How much of bodies is read before anything else has its turn, and how soon. No database. */
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import pino from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  bodyTooLarge,
  discardBody,
  discardedInTurn,
  nextBytesInTurn,
  ReadingPace,
  readBody,
} from '../../src/http/read-body.ts'
import { createServer } from '../../src/http/server.ts'

const piece = Buffer.alloc(64 * 1024, 'x')
const pieces = 64
const length = pieces * piece.length

/** A sender that has all of it ready. */
function eager(sent: Buffer[] = []) {
  let left = pieces
  return new Readable({
    read() {
      if (left-- <= 0) return void this.push(null)
      const next = Buffer.from(piece)
      sent.push(next)
      this.push(next)
    },
  })
}

test('large bodies are read piece by piece, a quarter of a mebibyte in four milliseconds', async () => {
  const pace = new ReadingPace()
  let inTurn = 0
  let most = 0
  const bodies = [eager(), eager(), eager()]
  const count = () => {
    most = Math.max(most, inTurn)
    inTurn = 0
    if (bodies.some((body) => !body.readableEnded)) setImmediate(count)
  }
  setImmediate(count)
  const began = performance.now()
  const read = bodies.map(
    (body) =>
      new Promise<number>((resolve, reject) => {
        body.on('data', (chunk: Buffer) => {
          inTurn += chunk.length
        })
        readBody(body, { length, limit: length, pace }, (error, bytes) =>
          error === null ? resolve(bytes.length) : reject(error),
        )
      }),
  )
  expect(await Promise.all(read)).toEqual([length, length, length])
  // Another that goes on has a piece beyond that.
  const turns = (bodies.length * length) / (256 * 1024 + piece.length)
  expect(performance.now() - began).toBeGreaterThan((turns - 2) * 4 * 0.9)
  expect(most).toBeLessThanOrEqual(512 * 1024)
})

test('turns that end late have less in them, down to an eighth, and prompt ones more', () => {
  let bytes = 256 * 1024
  expect(nextBytesInTurn(bytes, 1.5)).toBe(bytes)
  const after = (turns: number, late: number) => {
    for (let n = 0; n < turns; n++) bytes = nextBytesInTurn(bytes, late)
    return bytes
  }
  expect(after(1, 2)).toBeCloseTo(256 * 1024 * 0.7)
  expect(after(100, 20)).toBe(32 * 1024)
  expect(after(1, 0)).toBeGreaterThan(32 * 1024)
  expect(after(110, 0)).toBe(256 * 1024)
})

test('a pace begins with the least, gets to the most within half a second, and after a rest of ten begins again', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const pace = new ReadingPace()
  let isPaused = false
  const body = {
    pause() {
      isPaused = true
    },
    resume() {
      isPaused = false
    },
  } as unknown as Readable
  const inTurn = () => {
    let bytes = 0
    while (!isPaused) {
      pace.read(body, 1_024)
      bytes += 1_024
    }
    vi.advanceTimersByTime(4)
    return bytes
  }
  expect(inTurn()).toBe(32 * 1024)
  for (let past = 0; past < 500; past += 4) inTurn()
  expect(inTurn()).toBe(256 * 1024)
  vi.advanceTimersByTime(9_999)
  expect(inTurn()).toBe(256 * 1024)
  vi.advanceTimersByTime(10_000)
  expect(inTurn()).toBe(32 * 1024)
})

test('what comes in one piece is held up by nothing, and not copied', async () => {
  const pace = new ReadingPace()
  pace.read = () => {
    throw new Error('it was counted')
  }
  const got = await new Promise<Error | Buffer>((resolve) =>
    readBody(Readable.from([piece]), { length: piece.length, limit: length, pace }, (error, bytes) =>
      resolve(error ?? bytes),
    ),
  )
  expect(got).toBe(piece)
})

const arrayBuffers = () => process.memoryUsage().arrayBuffers

test('pieces of a body are freed as they are read, and its own memory has its length, whatever was expected', async () => {
  for (const announced of [length, null]) {
    const sent: Buffer[] = []
    const before = arrayBuffers()
    const limits = { length: announced, limit: 4 * length, pace: new ReadingPace() }
    const got = await new Promise<Buffer>((resolve) =>
      readBody(eager(sent), limits, (_error, bytes) => resolve(bytes)),
    )
    expect(arrayBuffers() - before).toBeLessThan(length + 2 ** 20)
    expect(new Set(sent.map((each) => each.length))).toEqual(new Set([0]))
    expect(got.equals(Buffer.alloc(length, 'x'))).toBe(true)
    expect(got.buffer.byteLength).toBe(length)
  }
})

test('what was read of a body that is cut, or refused, is free at once', async () => {
  const before = arrayBuffers()
  for (const refused of [false, true]) {
    const body = eager()
    const failed = new Promise<[Error | null, Buffer]>((resolve) =>
      readBody(
        body,
        { length: null, limit: refused ? length / 2 : length, pace: new ReadingPace() },
        (...got) => resolve(got),
      ),
    )
    if (!refused) body.once('data', () => body.destroy(new Error('gone')))
    const [error, bytes] = await failed
    expect([(error as NodeJS.ErrnoException).code, bytes.length]).toEqual([
      refused ? bodyTooLarge : 'BODY_CUT',
      0,
    ])
    expect(arrayBuffers() - before).toBeLessThan(2 ** 20)
  }
})

test('of what is too long all is read, at the same pace and to no end without one', async () => {
  const pace = new ReadingPace()
  const refusal = (body: Readable, announced: number | null) =>
    new Promise<Error | null>((resolve) =>
      readBody(body, { length: announced, limit: piece.length, pace }, (error) => {
        discardBody(body, pace)
        resolve(error)
      }),
    )
  for (const announced of [length, null]) {
    const body = eager()
    expect(await refusal(body, announced)).toMatchObject({ code: bodyTooLarge })
    await finished(body)
  }
  const endless = new Readable({
    read() {
      this.push(Buffer.alloc(8 * 2 ** 20))
    },
  })
  await refusal(endless, null)
  await expect(finished(endless)).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' })
})

test('a body that came with what is refused is read at a pace, however fast it is sent', async () => {
  const server = createServer(pino({ level: 'silent' }))
  await server.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => server.close())
  const { port } = server.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let answers = ''
  socket.setEncoding('latin1').on('data', (text) => {
    answers += text
  })
  const began = performance.now()
  // Nowhere, and an address that cannot be decoded, which no hook sees.
  for (const path of ['/nowhere', '/%zz']) {
    socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: ${length}\r\n\r\n`)
    for (let n = 0; n < pieces; n++) socket.write(piece)
  }
  socket.write('GET /nowhere HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  await finished(socket, { writable: false })
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 400', 'HTTP/1.1 404'])
  // What the first piece and the system's buffers hold beyond a turn's share may come with it.
  expect(performance.now() - began).toBeGreaterThan(((2 * length) / discardedInTurn) * 4 * 0.8)
})
