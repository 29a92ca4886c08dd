import { describe, expect, test } from 'vitest'
import { deliverySettings } from '../../../testbed/delivery-settings.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { hour, minute, retry } from '../../../testbed/hooks.ts'
import { deskWithEndpoint } from './desk.fixture.ts'

test('a failing endpoint gets six attempts, to the letter of the schedule, and then the delivery failed', async () => {
  await using it = await deskWithEndpoint()
  const { clock, service } = it
  const { engine, sent, answer } = testEngine(service, clock)
  answer(500)
  await makeCustomer(it.api)
  const began = clock.now()
  await engine.runDue()
  for (const delay of [minute, 5 * minute, 30 * minute, 2 * hour, 8 * hour]) {
    clock.advance(delay - 1)
    expect(await engine.runDue()).toBe(0)
    clock.advance(1)
    expect(await engine.runDue()).toBe(1)
  }
  const times = [0, 1, 6, 36, 156, 636].map((minutes) => began + minutes * minute)
  expect(sent.map(({ at }) => at)).toEqual(times)
  expect(new Set(sent.map(({ headers }) => headers['x-service-event-id'])).size).toBe(1)
  const [row] = await it.log()
  expect(row).toMatchObject({
    status: 'failed',
    attemptCount: 6,
    maxAttempts: 6,
    lastError: { code: 'non_2xx' },
    nextAttemptAt: null,
  })
  clock.advance(100 * hour)
  expect(await engine.runDue()).toBe(0)
})

test('retries after an outage come apart: each at its delay or up to 5 % later', async () => {
  await using it = await deskWithEndpoint()
  const { clock, service } = it
  const shares = [0, 0.5, 1]
  const { engine, answer } = testEngine(service, clock, { random: () => shares.shift() ?? 0 })
  answer(503)
  for (const name of ['Ada', 'Grace', 'Joan']) await makeCustomer(it.api, { name })
  await engine.runDue()
  const next = (await it.log()).map((row) => row.nextAttemptAt)
  const later = next.map((at: string) => (Date.parse(at) - clock.now()) / 1_000)
  expect(later.sort()).toEqual([60, 61.5, 63])
})

test('four days of a dead endpoint: when it is tried, warned of and disabled', async () => {
  await using it = await deskWithEndpoint()
  const { clock, service } = it
  const { engine, sent, answer } = testEngine(service, clock)
  answer(503)
  const { id, read } = it
  const said = () => service.logged.filter(({ webhookId }) => webhookId === id).map(({ msg }) => msg)
  const began = clock.now()
  const at = (minutes: number) => began + minutes * minute
  /** Every so many minutes, up to then. */
  const tickUntil = async (minutes: number, every: number) => {
    while (clock.now() < at(minutes)) {
      clock.advance(Math.min(every * minute, at(minutes) - clock.now()))
      await engine.runDue()
    }
  }
  const changeNow = async () => {
    await makeCustomer(it.api)
    await engine.runDue()
  }
  const failing = async (failureCount: number) =>
    expect(await read()).toMatchObject({
      status: 'active',
      failureCount,
      failingSince: new Date(began).toISOString(),
    })
  const schedule = [0, 1, 6, 36, 156, 636]

  // One change: six attempts at their minutes, and silence.
  await changeNow()
  await tickUntil(6, 1)
  await tickUntil(12 * 60, 30)
  expect(sent.map((request) => request.at)).toEqual(schedule.map(at))
  await failing(6)
  // A second one after two and a half days: one warning, as the worker has heard nothing in between.
  await tickUntil(60 * 60, 60)
  expect(said()).toEqual([])
  await changeNow()
  await tickUntil(60 * 60 + 6, 1)
  await tickUntil(71 * 60, 30)
  const later = schedule.map((minutes) => at(60 * 60 + minutes))
  expect(sent.slice(6).map((request) => request.at)).toEqual(later)
  expect(said()).toEqual(['an endpoint keeps failing and is about to be disabled'])
  await failing(12)
  // The 72 hours pass, and nothing is tried: time alone disables nothing.
  await tickUntil(80 * 60, 30)
  expect(sent).toHaveLength(12)
  await failing(12)
  // The next attempt that fails does, and is the last.
  await changeNow()
  expect(await read()).toMatchObject({
    status: 'disabled',
    disabledReason: 'failing',
    disabledAt: new Date(clock.now()).toISOString(),
    failureCount: 13,
    failingSince: new Date(began).toISOString(),
  })
  expect(said().slice(1)).toEqual(['an endpoint was disabled'])
  await changeNow()
  await tickUntil(96 * 60, 30)
  expect(sent).toHaveLength(13)
  expect((await it.log()).map((row) => row.attemptCount)).toEqual([1, 6, 6])
  // Enabled again it has all of its time.
  await it.api.patch(it.path, { status: 'active' })
  expect(await read()).toMatchObject({ status: 'active', failureCount: 0, failingSince: null })
  await changeNow()
  expect(await read()).toMatchObject({
    status: 'active',
    failureCount: 1,
    failingSince: new Date(clock.now()).toISOString(),
  })
})

describe('fewer delays than a delivery was made with', () => {
  const shorter = { ...deliverySettings.schedule, retryDelays: [minute, 5 * minute] }

  test('send nothing earlier than the log says, and then wait for the last of them, as often as it was to be tried', async () => {
    await using it = await deskWithEndpoint()
    const { clock, service } = it
    const before = testEngine(service, clock)
    before.answer(500)
    await makeCustomer(it.api)
    for (const wait of [0, minute, 5 * minute]) {
      clock.advance(wait)
      await before.engine.runDue()
    }
    // Three attempts are left: as many as a delivery has that is made now.
    const [{ nextAttemptAt }] = await it.log()
    expect(nextAttemptAt).toBe(new Date(clock.now() + 30 * minute).toISOString())

    const { engine, sent, answer } = testEngine(service, clock, { schedule: shorter })
    answer(500)
    await engine.runDue()
    expect(sent).toEqual([])
    expect(await it.log()).toMatchObject([{ nextAttemptAt }])
    const began = clock.now()
    for (const wait of [30, 5, 5]) {
      clock.advance(wait * minute)
      expect(await engine.runDue()).toBe(1)
    }
    expect(sent.map(({ at }) => (at - began) / minute)).toEqual([30, 35, 40])
    expect(await it.log()).toMatchObject([
      { status: 'failed', attemptCount: 6, maxAttempts: 6, nextAttemptAt: null },
    ])
  })

  test('are those of a schedule begun anew by hand, from the first', async () => {
    await using it = await deskWithEndpoint({}, { settings: { schedule: shorter } })
    const { clock, service } = it
    const before = testEngine(service, clock)
    before.answer(500)
    await makeCustomer(it.api)
    for (let attempt = 0; attempt < 6; attempt++) {
      await before.engine.runDue()
      clock.advance(8 * hour)
    }
    const [failed] = await it.log()
    expect((await retry(it.api, failed)).json).toMatchObject({
      status: 'pending',
      maxAttempts: failed.attemptCount + 3,
    })
    const { engine, sent, answer } = testEngine(service, clock, { schedule: shorter })
    answer(500)
    const began = clock.now()
    for (const wait of [0, minute, 5 * minute]) {
      clock.advance(wait)
      await engine.runDue()
    }
    expect(sent.map(({ at }) => (at - began) / minute)).toEqual([0, 1, 6])
    expect(await it.log()).toMatchObject([{ status: 'failed' }])
  })
})

test('more delays than a delivery was made with: it has its own number of attempts, after the first of them', async () => {
  const retryDelays = [minute, 5 * minute]
  const schedule = { ...deliverySettings.schedule, retryDelays }
  await using it = await deskWithEndpoint({}, { settings: { schedule } })
  const { clock, service } = it
  await makeCustomer(it.api)
  const { engine, sent, answer } = testEngine(service, clock)
  answer(500)
  const began = clock.now()
  for (const wait of [0, minute, 5 * minute, 30 * minute]) {
    clock.advance(wait)
    await engine.runDue()
  }
  expect(sent.map(({ at }) => (at - began) / minute)).toEqual([0, 1, 6])
  expect(await it.log()).toMatchObject([{ status: 'failed', attemptCount: 3, maxAttempts: 3 }])
})
