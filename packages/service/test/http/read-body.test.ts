/** Bodies of requests, and their memory. No database. */
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { bodyTooLarge, discardBody, readBody } from '../../src/http/read-body.ts'
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

test('a body that comes in one piece is not copied', async () => {
  const got = await new Promise<Error | Buffer>((resolve) =>
    readBody(Readable.from([piece]), { length: piece.length, limit: length }, (error, bytes) =>
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
    const limits = { length: announced, limit: 4 * length }
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
      readBody(body, { length: null, limit: refused ? length / 2 : length }, (...got) => resolve(got)),
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

test('of what is too long all is read, up to a limit', async () => {
  const refusal = (body: Readable, announced: number | null) =>
    new Promise<Error | null>((resolve) =>
      readBody(body, { length: announced, limit: piece.length }, (error) => {
        discardBody(body)
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

test('the body of a refused request is read, so that the connection serves the next', async () => {
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
  // Nowhere, and an address that cannot be decoded, which no hook sees.
  for (const path of ['/nowhere', '/%zz']) {
    socket.write(`POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-length: ${length}\r\n\r\n`)
    for (let n = 0; n < pieces; n++) socket.write(piece)
  }
  socket.write('GET /nowhere HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  await finished(socket, { writable: false })
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 400', 'HTTP/1.1 404'])
})
