import { afterAll, describe, expect, test } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import { answer, neverAnswer, type Receiver } from '../../../testbed/receiver.ts'
import { createBench, post, shortDeadline } from '../../../testbed/sending.ts'

const bench = createBench()
afterAll(() => bench.close())

const over = (receiver: Receiver) => receiver.requests.map(({ connection }) => connection)

describe('a connection is kept', () => {
  test('for the next request, whatever its path', async () => {
    const [sender, receiver] = [bench.sender(), await bench.receiver()]
    for (const path of ['/a', '/b', '/c']) await post(sender, receiver, { path })
    expect(over(receiver)).toEqual([1, 1, 1])
  })

  test.each([
    ['says that it closes', { connection: 'close' }],
    ['keeps it for hardly any time', { 'keep-alive': 'timeout=1' }],
  ])('unless the receiver %s', async (_what, headers) => {
    const [sender, receiver] = [bench.sender(), await bench.receiver()]
    receiver.will(answer(200, 'ok', headers))
    for (const _ of [1, 2, 3])
      expect(await post(sender, receiver)).toMatchObject({ status: 200, responseBody: 'ok' })
    expect(over(receiver)).toEqual([1, 2, 3])
    await eventually('its connections are closed', () => receiver.open === 0)
  })

  test('while it idles: some seconds, and longer where the receiver says so', async () => {
    const sender = bench.sender()
    const [silent, telling] = [await bench.receiver(), await bench.receiver()]
    telling.will(answer(200, '', { 'keep-alive': 'timeout=60' }))
    await Promise.all([post(sender, silent), post(sender, telling)])
    const from = performance.now()
    await new Promise<void>((resolve) => silent.whenClosed(resolve))
    // Two seconds before the earliest close of common servers, which is after five.
    expect(performance.now() - from).toBeGreaterThan(3000)
    expect(telling.open).toBe(1)
    await post(sender, telling)
    expect(over(telling)).toEqual([1, 1])
  })

  test('after errors too', async () => {
    const [sender, receiver] = [bench.sender(), await bench.receiver()]
    receiver.will(answer(500, 'no'), answer(404), answer(200))
    for (const status of [500, 404, 200]) expect(await post(sender, receiver)).toMatchObject({ status })
    expect(over(receiver)).toEqual([1, 1, 1])
  })

  test('from those who may not be answered: what hangs takes none away from others of its host', async () => {
    const [sender, receiver] = [bench.sender({ answerTimeoutMs: shortDeadline }), await bench.receiver()]
    receiver.will(answer(200), neverAnswer, answer(200))
    await post(sender, receiver, { path: '/well' })
    const hanging = post(sender, receiver, { path: '/hang', ownConnection: true })
    await eventually('2 requests have come', () => receiver.requests.length === 2)
    await post(sender, receiver, { path: '/well' })
    expect(await hanging).toMatchObject({ code: 'timeout' })
    await post(sender, receiver, { path: '/hang', ownConnection: true })
    expect(over(receiver)).toEqual([1, 2, 1, 3])
  })
})

describe('so many connections at once', () => {
  test('as many kept to one origin as allowed', async () => {
    const [sender, receiver] = [bench.sender({ maxIdlePerOrigin: 16 }), await bench.receiver()]
    await Promise.all(Array.from({ length: 40 }, (_, n) => post(sender, receiver, { path: `/${n}` })))
    expect(receiver.accepted).toBeGreaterThan(16)
    await eventually('16 connections are open', () => receiver.open === 16)
  })

  test('and no more than allowed in all: the one that idled longest makes room', async () => {
    const sender = bench.sender({ maxSockets: 2 })
    const receivers = [await bench.receiver(), await bench.receiver(), await bench.receiver()]
    for (const receiver of receivers) {
      expect(await post(sender, receiver)).toMatchObject({ status: 200 })
    }
    await eventually('the oldest is closed', () => receivers.map(({ open }) => open).join() === '0,1,1')
    // As many at once as there may be; whoever sends begins no more.
    const left = receivers.flatMap((receiver) => Array.from({ length: 20 }, () => receiver)).values()
    const flood = async () => {
      for (const receiver of left) expect(await post(sender, receiver)).toMatchObject({ status: 200 })
    }
    await Promise.all([flood(), flood()])
    await eventually('two are kept', () => receivers.reduce((sum, { open }) => sum + open, 0) <= 2)
  })
})
