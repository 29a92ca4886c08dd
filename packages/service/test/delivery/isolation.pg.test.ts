/** An endpoint that is slow, dead or odd delays nobody else, and no delivery spoils the others of its endpoint. */
import { expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { answered, testEngine } from '../../../testbed/engine.ts'
import { eventually } from '../../../testbed/eventually.ts'
import { heldSend } from '../../../testbed/held-send.ts'
import { deliveriesOf, makeWebhook, minute } from '../../../testbed/hooks.ts'
import { type Api, testService } from '../../../testbed/service.ts'
import type { Send } from '../../src/delivery/queue/attempt.ts'

const statuses = async (api: Api, id: string) => (await deliveriesOf(api, id)).map(({ status }) => status)

test('a slow endpoint delays no other, neither of its own organization nor of another', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  const stranger = await service.newOrganization()
  const slowUrl = 'https://127.0.0.1:1/slow'
  const slow = await makeWebhook(api, { url: slowUrl })
  const quick = await makeWebhook(api)
  const theirs = await makeWebhook(stranger)
  const held = heldSend()
  const send: Send = (request) =>
    request.url === slowUrl ? held.send(request) : Promise.resolve(answered(200))
  const { engine } = testEngine(service, clock, { send })
  for (let n = 0; n < 20; n++) await makeCustomer(api, { name: `number ${n}` })
  engine.wake()
  await held.made(16)
  for (let more = 0; more < 3; more++) {
    await makeCustomer(api, { name: 'one more' })
    await makeCustomer(stranger)
    engine.wake()
    for (const [owner, id, count] of [
      [api, quick.id, 21 + more],
      [stranger, theirs.id, 1 + more],
    ] as const) {
      const arrived = Array(count).fill('succeeded')
      await eventually('the others to arrive', async () => {
        const now = await statuses(owner, id)
        return now.length === count && now.every((status, n) => status === arrived[n])
      })
    }
  }
  expect(held.inFlight()).toHaveLength(16)
  expect(new Set(await statuses(api, slow.id))).toEqual(new Set(['pending']))
  const stopped = engine.stop()
  // What is under way is finished and completed before the engine has stopped.
  while (held.inFlight().length > 0) {
    for (const attempt of held.inFlight()) attempt.answer(200)
    await Promise.race([stopped, new Promise(setImmediate)])
  }
  await stopped
  expect((await statuses(api, slow.id)).filter((status) => status === 'succeeded')).toHaveLength(16)
})

test('what did not answer leaves the connections of its host to those that do', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api } = service
  await makeWebhook(api)
  const outcomes = ['timeout', 200, 200] as const
  const own: boolean[] = []
  const send: Send = async ({ ownConnection }) => {
    const outcome = outcomes[own.length] ?? 200
    own.push(ownConnection)
    return typeof outcome === 'number'
      ? answered(outcome)
      : { kind: 'failed', code: outcome, message: outcome, durationMs: 1 }
  }
  const { engine } = testEngine(service, clock, { send })
  await makeCustomer(api)
  await engine.runDue()
  clock.advance(minute)
  await engine.runDue()
  await makeCustomer(api)
  await engine.runDue()
  expect(own).toEqual([false, true, false])
})

test('a delivery that cannot even be sent fails like any other, and leaves its neighbours alone', async () => {
  const clock = testClock()
  await using service = await testService({ clock })
  const { api, logged } = service
  const webhook = await makeWebhook(api)
  const sent: string[] = []
  const send: Send = async ({ body }) => {
    const { name } = JSON.parse(body).data
    sent.push(name)
    if (name === 'odd') throw new TypeError('invalid request')
    return answered(200)
  }
  const { engine } = testEngine(service, clock, { send })
  for (const name of ['one', 'odd', 'two']) await makeCustomer(api, { name })
  expect(await engine.runDue()).toBe(1)
  expect((await statuses(api, webhook.id)).sort()).toEqual(['pending', 'succeeded', 'succeeded'])
  expect(logged.filter(({ level }) => level === 'error')).toHaveLength(1)
  clock.advance(minute)
  expect(await engine.runDue()).toBe(1)
  expect(sent.sort()).toEqual(['odd', 'odd', 'one', 'two'])
  expect((await deliveriesOf(api, webhook.id)).find(({ status }) => status === 'pending')).toMatchObject({
    attemptCount: 2,
    lastError: { code: 'connection_failed', message: "It could not be sent; the service's log says why" },
  })
})
