/** The delay of the event loop: remembered for a minute at least, whoever asks and how often. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { eventually } from '../../../testbed/eventually.ts'
import { createRegistry, DelayWatch, watchEventLoop } from '../../src/metrics/registry.ts'

test('the largest of a minute stays for another one, and asking takes nothing away', () => {
  let now = 0
  const delays = {
    p99: 0,
    max: 0,
    percentile: () => delays.p99,
    reset: () => Object.assign(delays, { p99: 0, max: 0 }),
  }
  const watch = new DelayWatch(delays, () => now)
  // With the ten milliseconds between two looks.
  Object.assign(delays, { p99: 30e6, max: 210e6 })
  for (const at of [0, 30_000, 60_000, 60_001, 119_000]) {
    now = at
    const { p99, max } = watch.read()
    expect([p99.toFixed(3), max.toFixed(3)]).toEqual(['0.020', '0.200'])
  }
  Object.assign(delays, { p99: 20e6, max: 60e6 })
  now = 120_000
  expect(watch.read().max).toBeCloseTo(0.2)
  expect(watch.read().max).toBeCloseTo(0.05)
  now = 240_000
  watch.read()
  expect(watch.read()).toEqual({ p99: 0, max: 0 })
})

test('what holds the loop is told in seconds', async () => {
  const register = new Registry()
  watchEventLoop(register)
  const held = 120
  const measured = async () =>
    (await register.getSingleMetric('deskwire_event_loop_delay_max_seconds')!.get()).values[0]!.value
  // A delay is seen by a look that is late for one that was on time: on a busy machine none may have been.
  await eventually('the delay is seen', async () => {
    for (const began = performance.now(); performance.now() - began < held; );
    for (const began = performance.now(); performance.now() - began < 30; ) await nextTurn()
    return (await measured()) >= (held - 20) / 1_000
  })
  expect(await measured()).toBeLessThan(60)
})

test('a thread is watched once for each part, however many services it runs', () => {
  // An observer that never ends kept each registry, and with it all of a service that had been closed.
  const watched = (register: Registry) =>
    ['nodejs_gc_duration_seconds', 'deskwire_event_loop_delay_max_seconds'].map((name) =>
      register.getSingleMetric(name),
    )
  const [first, second] = [createRegistry('api'), createRegistry('api')]
  expect(first).not.toBe(second)
  expect(watched(first)).not.toContain(undefined)
  for (const [n, metric] of watched(second).entries()) expect(metric).toBe(watched(first)[n])
  expect(watched(createRegistry('worker'))[0]).not.toBe(watched(first)[0])
})
