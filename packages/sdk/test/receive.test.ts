/** A receiver without its HTTP: what it answers, and how often it does the work. */
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  createReceiver,
  type EventOf,
  once,
  type ReceiverOptions,
  SeenInMemory,
  type WebhookEvent,
} from '../src/index.ts'
import { testDelivery } from '../src/testing.ts'

const secret = 'whsec_of_the_tests'

/** Delivers an event to a receiver, as often as it is called. */
const deliverTo = async (
  {
    handle = () => {},
    ...options
  }: Partial<ReceiverOptions> & { handle?: (event: WebhookEvent) => Promise<void> | void },
  signedWith = secret,
) => {
  const errors: unknown[] = []
  const receiver = createReceiver({
    secrets: secret,
    onError: (error) => errors.push(error),
    ...options,
  }).on('*', handle)
  const { body, headers } = await testDelivery(
    { type: 'ticket.created', data: { subject: 'Zoë ☕' } },
    signedWith,
  )
  return { errors, deliver: () => receiver.receive(body, headers) }
}

test('the work is done once: the next delivery is answered alike, and nothing is done', async () => {
  const subjects: unknown[] = []
  const { deliver } = await deliverTo({
    handle: (event) => void (event.type === 'ticket.created' && subjects.push(event.data.subject)),
  })
  expect([await deliver(), await deliver()]).toEqual(Array(2).fill({ status: 204, body: '' }))
  expect(subjects).toEqual(['Zoë ☕'])
})

test('what is signed by nobody is refused, with the reason, and nothing is done', async () => {
  let calls = 0
  const { deliver } = await deliverTo({ handle: () => void calls++ }, 'whsec_another')
  expect(await deliver()).toEqual({ status: 400, body: expect.stringContaining('No signature fits') })
  const receiver = createReceiver({ secrets: secret }).on('*', () => void calls++)
  expect(await receiver.receive('{}', {})).toMatchObject({ status: 400 })
  expect(calls).toBe(0)
})

test('work that fails is told of and begun anew', async () => {
  let calls = 0
  const failure = new Error('not today')
  const handle = async () => {
    if (calls++ === 0) throw failure
  }
  const { deliver, errors } = await deliverTo({ handle })
  expect((await deliver()).status).toBe(500)
  expect(errors).toEqual([failure])
  expect([(await deliver()).status, (await deliver()).status, calls]).toEqual([204, 204, 2])
})

test('while it goes on, it is answered in time, and begun by nobody else', async () => {
  let finish = () => {}
  let calls = 0
  const work = new Promise<void>((resolve) => {
    finish = resolve
  })
  const handle = async () => {
    calls++
    await work
  }
  const { deliver } = await deliverTo({ handle, answerWithinMs: 20 })
  expect(await Promise.all([deliver(), deliver()])).toEqual(
    Array(2).fill({ status: 503, body: expect.any(String) }),
  )
  finish()
  await work
  expect([await deliver(), calls]).toEqual([{ status: 204, body: '' }, 1])
})

test('several secrets are known while a rotation lasts; none, or an empty one, is refused at once', async () => {
  const { deliver } = await deliverTo({ secrets: ['whsec_new', secret] })
  expect((await deliver()).status).toBe(204)
  for (const secrets of ['', [], ['whsec_new', '']]) {
    expect(() => createReceiver({ secrets })).toThrow(TypeError)
  }
})

test('a memory that fails is told of, and the event comes again', async () => {
  const down = new Error('the database is down')
  const seen = Object.assign(new SeenInMemory(), { begin: () => Promise.reject(down) })
  const { deliver, errors } = await deliverTo({ seen })
  expect((await deliver()).status).toBe(500)
  expect(errors).toEqual([down])
})

test('handlers get the events of their type, in the order in which they were added, and * gets all', async () => {
  const did: string[] = []
  const receiver = createReceiver({ secrets: secret, onError: () => {} })
    .on('ticket.created', (event) => {
      expectTypeOf(event).toEqualTypeOf<EventOf<'ticket.created'>>()
      did.push(event.data.subject)
    })
    .on('*', ({ type }) => void did.push(type))
    .on('ticket.deleted', () => Promise.reject(new Error('not today')))
  const deliver = async (type: 'ticket.created' | 'ticket.deleted' | 'ping') => {
    const { body, headers } = await testDelivery({ type, data: { subject: 'Hello' } }, secret)
    return (await receiver.receive(body, headers)).status
  }
  expect([await deliver('ticket.created'), await deliver('ping'), await deliver('ticket.deleted')]).toEqual([
    204, 204, 500,
  ])
  expect(did).toEqual(['Hello', 'ticket.created', 'ping', 'ticket.deleted'])
  // @ts-expect-error there is no such type
  receiver.on('ticket.creatd', () => {})
})

describe('what was seen', () => {
  test('is done, under way, or lost after a while', async () => {
    const seen = new SeenInMemory()
    expect(await seen.begin('a', 0, 100)).toBe('begun')
    expect(await seen.begin('a', 99, 199)).toBe('under_way')
    expect(await seen.begin('a', 100, 200)).toBe('begun')
    await seen.release('a')
    expect(await seen.begin('a', 101, 201)).toBe('begun')
    await seen.finish('a')
    expect(await seen.begin('a', 1_000_000, 1_000_100)).toBe('done')
  })

  test('is as much as it may be: the first is forgotten', async () => {
    const seen = new SeenInMemory(2)
    for (const id of ['a', 'b', 'c']) await once(seen, id, () => {})
    const again: string[] = []
    for (const id of ['b', 'c', 'a']) await once(seen, id, () => void again.push(id))
    expect(again).toEqual(['a'])
  })
})
