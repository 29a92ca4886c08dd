/**
 * A receiver closes a connection that was kept from an earlier request, at awkward instants. A request that it certainly
 * has not processed is sent again within the attempt; any other is a failed attempt.
 */
import { afterAll, describe, expect, test } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import {
  answer,
  answerThen,
  type Behaviour,
  hangUp,
  neverAnswer,
  type Receiver,
  reset,
} from '../../../testbed/receiver.ts'
import { createBench, post, shortDeadline } from '../../../testbed/sending.ts'

const bench = createBench()
afterAll(() => bench.close())

const over = (receiver: Receiver) => receiver.requests.map(({ connection }) => connection)
/** More than all buffers between two processes hold. */
const huge = Buffer.alloc(32 * 1024 * 1024, 'x')
const failed = { kind: 'failed', code: 'connection_failed' }

/** A sender with one kept connection to a receiver that did `first` with it. */
async function kept(first: Behaviour = answer(200), options: { answerTimeoutMs?: number } = {}) {
  const [sender, receiver] = [bench.sender(options), await bench.receiver()]
  receiver.will(first, answer(200))
  expect(await post(sender, receiver)).toMatchObject({ status: 200 })
  return { sender, receiver }
}

describe('before any byte of the request was written: sent again', () => {
  test.each([
    ['small', Buffer.from('x')],
    ['large', Buffer.alloc(1_000_000, 'x')],
  ])('the close is seen late, or long before; a %s body', async (_what, body) => {
    const { sender, receiver } = await kept()
    receiver.hangUpAll()
    // The same turn: the connection is taken before its close is seen.
    expect(await post(sender, receiver, { body })).toMatchObject({ status: 200 })
    await eventually('a connection is open', () => receiver.open === 1)
    receiver.hangUpAll()
    await eventually('its connections are closed', () => receiver.open === 0)
    expect(await post(sender, receiver, { body })).toMatchObject({ status: 200 })
    expect(over(receiver)).toEqual([1, 2, 3])
    expect(receiver.requests.at(-1)?.body.equals(body)).toBe(true)
  })

  test.each<[string, (receiver: Receiver) => void]>([
    ['an end', (receiver) => receiver.hangUpAll()],
    ['a reset', (receiver) => receiver.resetAll()],
  ])('%s had reached this machine, and nobody had looked, sixteen times at once', async (_what, close) => {
    const { sender, receiver } = await kept()
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 16 }, () => post(sender, receiver)))
      const before = receiver.requests.length
      close(receiver)
      const outcomes = await Promise.all(Array.from({ length: 16 }, () => post(sender, receiver)))
      expect(outcomes.map((outcome) => outcome.kind === 'answered' && outcome.status)).toEqual(
        Array(16).fill(200),
      )
      expect(receiver.requests.length).toBe(before + 16)
    }
  })

  test.each(['write', 'end'] as const)('an answer to nothing had come: %s', async (how) => {
    const late = 'HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'
    const { promise: said, resolve } = Promise.withResolvers<void>()
    const { sender, receiver } = await kept(answerThen((socket) => socket[how](late, () => resolve())))
    await said
    expect(await post(sender, receiver)).toMatchObject({ status: 200 })
    expect(over(receiver)).toEqual([1, 2])
  })

  test('over a fresh connection, though others are kept', async () => {
    const { sender, receiver } = await kept()
    await Promise.all([post(sender, receiver), post(sender, receiver), post(sender, receiver)])
    expect(receiver.accepted).toBe(3)
    receiver.hangUpAll()
    expect(await post(sender, receiver)).toMatchObject({ status: 200 })
    expect(over(receiver).at(-1)).toBe(4)
  })

  test('within the deadline of the attempt, which does not begin anew', async () => {
    const { sender, receiver } = await kept(answer(200), { answerTimeoutMs: 6 * shortDeadline })
    receiver.will(neverAnswer)
    receiver.hangUpAll()
    const from = performance.now()
    expect(await post(sender, receiver)).toMatchObject({ code: 'timeout' })
    expect(performance.now() - from).toBeLessThan(10 * shortDeadline)
    expect(over(receiver)).toEqual([1, 2])
  })
})

describe('after a part of it: sent again', () => {
  test.each<[string, Behaviour]>([
    ['reset', reset],
    ['ended', hangUp],
  ])('%s by a receiver that had read some of it', async (_what, close) => {
    const first = answerThen((socket, below) => {
      let read = 0
      socket.removeAllListeners('data')
      socket.on('data', (chunk: Buffer) => {
        read += chunk.length
        if (read < 100_000) return
        socket.pause()
        close(socket, { method: '', path: '', headers: {}, body: huge, connection: 1, earlier: 1 }, below)
      })
    })
    const { sender, receiver } = await kept(first)
    expect(await post(sender, receiver, { body: huge })).toMatchObject({ status: 200 })
    expect(over(receiver)).toEqual([1, 2])
    expect(receiver.requests.at(-1)?.body.equals(huge)).toBe(true)
  })
})

describe('an answer before the request was sent, which answers something before it: sent again', () => {
  test('over a kept connection, with a request of which some is still here', async () => {
    const first = answerThen((socket) => {
      socket.removeAllListeners('data')
      socket.once('data', () => {
        socket.pause()
        answer(204)(
          socket,
          { method: '', path: '', headers: {}, body: huge, connection: 1, earlier: 1 },
          socket,
        )
      })
    })
    const { sender, receiver } = await kept(first)
    expect(await post(sender, receiver, { body: huge })).toMatchObject({ status: 200 })
    expect(over(receiver)).toEqual([1, 2])
    expect(receiver.requests.at(-1)?.body.equals(huge)).toBe(true)
    await eventually('a connection is open', () => receiver.open === 1)
  })
})

describe('after all of it: a failed attempt, sent once', () => {
  test.each<[string, Behaviour]>([
    ['ended', hangUp],
    ['reset', reset],
  ])('%s by a receiver that had read it', async (_what, behaviour) => {
    const { sender, receiver } = await kept()
    receiver.will(behaviour, answer(200))
    expect(await post(sender, receiver)).toMatchObject({
      ...failed,
      message: `127.0.0.1:${receiver.port} closed a kept connection after the request, unanswered`,
    })
    expect(over(receiver)).toEqual([1, 1])
    expect(receiver.accepted).toBe(1)
  })

  test('reset by a receiver that had not read it, which nobody can tell from here', async () => {
    const first = answerThen((socket, below) => {
      socket.removeAllListeners('data')
      // Some of the request is here, so all of it was written.
      socket.once('data', () => below.resetAndDestroy())
    })
    const { sender, receiver } = await kept(first)
    expect(await post(sender, receiver)).toMatchObject(failed)
    expect(receiver.accepted).toBe(1)
  })

  test('with the beginning of an answer', async () => {
    const { sender, receiver } = await kept()
    receiver.will((socket) => socket.end('H'))
    expect(await post(sender, receiver)).toMatchObject(failed)
    expect(over(receiver)).toEqual([1, 1])
  })

  test('and the next attempt goes over a fresh one', async () => {
    const { sender, receiver } = await kept()
    receiver.will(hangUp, answer(201))
    await post(sender, receiver)
    expect(await post(sender, receiver)).toMatchObject({ status: 201 })
    expect(over(receiver)).toEqual([1, 1, 2])
  })
})

test('a fresh connection that ends before it carried anything is a failed attempt', async () => {
  const [sender, receiver] = [bench.sender(), await bench.receiver()]
  receiver.greet((socket) => socket.destroy())
  expect(await post(sender, receiver)).toMatchObject(failed)
  expect(receiver.accepted).toBe(1)
})

test('a large body arrives whole, over fresh and kept connections', async () => {
  const { sender, receiver } = await kept()
  for (const length of [64 * 1024, 64 * 1024 + 1, 1_000_000]) {
    const body = Buffer.alloc(length, 'ä')
    expect(await post(sender, receiver, { body })).toMatchObject({ status: 200 })
    expect(receiver.requests.at(-1)?.headers['content-length']).toBe(String(length))
    expect(receiver.requests.at(-1)?.body.equals(body)).toBe(true)
  }
  expect(over(receiver)).toEqual([1, 1, 1, 1])
})
