/**
 * Connections belong to an organization: what a receiver says over one that an organization's endpoint opened is never taken for the
 * answer to another organization's delivery, though both have the same host.
 */
import { afterAll, expect, test } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import { answer, type Behaviour, type Receiver } from '../../../testbed/receiver.ts'
import { createBench, post } from '../../../testbed/sending.ts'
import type { SendOutcome } from '../../src/delivery/verdict.ts'

const bench = createBench()
afterAll(() => bench.close())

const over = (receiver: Receiver) => receiver.requests.map(({ connection }) => connection)
const statusOf = (outcome: SendOutcome) => (outcome.kind === 'answered' ? outcome.status : outcome.code)
const secondAnswer = 'HTTP/1.1 200 Again\r\ncontent-length: 0\r\n\r\n'

/** `/a` is answered 200, and then again, as `again` says; everything else 500. */
function answersTwice(again: (socket: Parameters<Behaviour>[0]) => void): Behaviour {
  return (socket, request, below) => {
    if (request.path !== '/a') return answer(500)(socket, request, below)
    answer(200)(socket, request, below)
    again(socket)
  }
}

test('a second answer that comes with the next request over its connection is not that of another organization', async () => {
  const [sender, receiver] = [bench.sender(), await bench.receiver()]
  receiver.will(
    // Before the receiver reads that request, so before it answers it.
    answersTwice((socket) => socket.prependOnceListener('data', () => socket.write(secondAnswer))),
  )
  for (let round = 0; round < 10; round++) {
    expect(statusOf(await post(sender, receiver, { organizationId: 'a', path: '/a' }))).toBe(200)
    expect(statusOf(await post(sender, receiver, { organizationId: 'b', path: '/b' }))).toBe(500)
  }
  // Each has its own, which it keeps: A's answers are A's to spoil.
  const ofB = receiver.requests.filter(({ path }) => path === '/b').map(({ connection }) => connection)
  expect(new Set(ofB).size).toBe(1)
})

test("of 400 deliveries beside a receiver that answers twice at awkward moments, none is marked as another's", async () => {
  const [sender, receiver] = [bench.sender(), await bench.receiver()]
  let late = 0
  receiver.will(
    answersTwice((socket) => {
      const write = () => socket.writable && socket.write(secondAnswer)
      const moments = [write, () => setImmediate(write), () => socket.prependOnceListener('data', write)]
      moments[late++ % moments.length]?.()
    }),
  )
  const statuses: unknown[] = []
  const some = async () => {
    for (let n = 0; n < 50; n++) {
      await post(sender, receiver, { organizationId: 'a', path: '/a' })
      statuses.push(statusOf(await post(sender, receiver, { organizationId: 'b', path: '/b' })))
    }
  }
  await Promise.all(Array.from({ length: 8 }, some))
  expect(statuses).toEqual(Array(400).fill(500))
})

test('an organization that keeps many connections to an origin takes none from another', async () => {
  const [sender, receiver] = [bench.sender({ maxIdlePerOrigin: 4 }), await bench.receiver()]
  const calls = (organizationId: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => post(sender, receiver, { organizationId })))
  await calls('a', 12)
  await eventually('4 connections are open', () => receiver.open === 4)
  await calls('b', 12)
  await eventually('8 connections are open', () => receiver.open === 8)
  const before = receiver.accepted
  await Promise.all([calls('a', 4), calls('b', 4)])
  expect(receiver.accepted).toBe(before)
})

test('a connection that brings bytes while it waits is closed at once, and not when it is wanted', async () => {
  const [sender, receiver] = [bench.sender(), await bench.receiver()]
  const { promise: spoilt, resolve } = Promise.withResolvers<void>()
  receiver.will((socket, request, below) => {
    answer(200)(socket, request, below)
    setTimeout(() => socket.write('H', () => resolve()), 5)
  }, answer(201))
  await post(sender, receiver)
  await spoilt
  await eventually('its connections are closed', () => receiver.open === 0)
  expect(statusOf(await post(sender, receiver))).toBe(201)
  expect(over(receiver)).toEqual([1, 2])
})
