/** How much of bodies is read before anything else has its turn, and how soon. Without a server. */
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { expect, test } from 'vitest'
import { bodyTooLarge, ReadingPace, readBody } from '../../src/http/read-body.ts'

const piece = Buffer.alloc(64 * 1024, 'x')
const pieces = 64
const length = pieces * piece.length

/** A sender that has all of it ready. */
function eager() {
  let left = pieces
  return new Readable({
    read() {
      this.push(left-- > 0 ? piece : null)
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
        readBody(body, { length, limit: length, pace }, (error, bytes) =>
          error === null ? resolve(bytes.length) : reject(error),
        )
        body.on('data', (chunk: Buffer) => {
          inTurn += chunk.length
        })
      }),
  )
  expect(await Promise.all(read)).toEqual([length, length, length])
  // Another that goes on has a piece beyond that.
  const turns = (bodies.length * length) / (256 * 1024 + piece.length)
  expect(performance.now() - began).toBeGreaterThan((turns - 2) * 4 * 0.9)
  expect(most).toBeLessThanOrEqual(512 * 1024)
})

test('what comes in one piece is held up by nothing', async () => {
  const pace = new ReadingPace()
  pace.read = () => {
    throw new Error('it was counted')
  }
  const got = await new Promise<Error | Buffer>((resolve) =>
    readBody(Readable.from([piece]), { length: piece.length, limit: length, pace }, (error, bytes) =>
      resolve(error ?? bytes),
    ),
  )
  expect(got).toEqual(piece)
})

test('of what is too long all is read, at the same pace and to no end without one', async () => {
  const refusal = (body: Readable, announced: number | null) =>
    new Promise<Error | null>((resolve) =>
      readBody(body, { length: announced, limit: piece.length, pace: new ReadingPace() }, resolve),
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
