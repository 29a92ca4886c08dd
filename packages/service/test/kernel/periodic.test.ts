import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { atMost, type PeriodicOptions, periodic } from '../../src/kernel/periodic.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A loop whose runs end when they are told to. */
function scripted({
  ignoresSignal = false,
  ...options
}: { ignoresSignal?: boolean } & Partial<
  Pick<PeriodicOptions, 'every' | 'everyAfterFailure' | 'apart'>
> = {}) {
  const runs: PromiseWithResolvers<void>[] = []
  const failures: string[] = []
  const loop = periodic({
    every: 1_000,
    stopWithin: 5_000,
    run(signal) {
      const run = Promise.withResolvers<void>()
      if (!ignoresSignal) signal.addEventListener('abort', () => run.reject(signal.reason))
      runs.push(run)
      return run.promise
    },
    onFailure: (error) => failures.push(error.message),
    ...options,
  })
  /** Ends the nth run, and lets what follows from it happen. */
  const end = async (n: number, error?: Error) => {
    if (error === undefined) runs[n]?.resolve()
    else runs[n]?.reject(error)
    await vi.advanceTimersByTimeAsync(0)
  }
  return { loop, runs, failures, end }
}

test('runs do not overlap: the next one comes its period after the end of the last', async () => {
  const { loop, runs, end } = scripted()
  loop.start()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(runs).toHaveLength(1)
  await end(0)
  await vi.advanceTimersByTimeAsync(999)
  expect(runs).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(runs).toHaveLength(2)
})

test('woken, it runs at once; woken while it runs, however often, once more right after', async () => {
  const { loop, runs, end } = scripted()
  loop.start()
  for (let n = 0; n < 3; n++) loop.wake()
  expect(runs).toHaveLength(1)
  await end(0)
  expect(runs).toHaveLength(2)
  await end(1)
  await vi.advanceTimersByTimeAsync(500)
  expect(runs).toHaveLength(2)
  loop.wake()
  expect(runs).toHaveLength(3)
  await end(2)
  await vi.advanceTimersByTimeAsync(999)
  expect(runs).toHaveLength(3)
})

test('a run that fails is told of, and the next one comes', async () => {
  const { loop, runs, failures, end } = scripted()
  loop.start()
  await end(0, new Error('scripted'))
  expect(failures).toEqual(['scripted'])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(runs).toHaveLength(2)
})

test('one that fails before it has begun to wait is no different', async () => {
  let runs = 0
  const failures: string[] = []
  const loop = periodic({
    every: 1_000,
    stopWithin: 5_000,
    run() {
      throw new Error(`scripted ${++runs}`)
    },
    onFailure: (error) => failures.push(error.message),
  })
  loop.start()
  await vi.advanceTimersByTimeAsync(1_000)
  await loop.stop()
  expect(failures).toEqual(['scripted 1', 'scripted 2'])
})

test('woken before it is started it runs once, and then for whoever wakes it', async () => {
  const { loop, runs, end } = scripted()
  loop.wake()
  await end(0)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(runs).toHaveLength(1)
  loop.start()
  await end(1)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(runs).toHaveLength(3)
})

test('paused, it ends what is under way and begins none by itself; started again, it does', async () => {
  const { loop, runs, end } = scripted()
  loop.start()
  loop.pause()
  await end(0)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(runs).toHaveLength(1)
  loop.start()
  await end(1)
  loop.pause()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(runs).toHaveLength(2)
  expect(vi.getTimerCount()).toBe(0)
})

test('without a period it runs for whoever wakes it, and for nobody else', async () => {
  const { loop, runs, end } = scripted({ every: null })
  loop.start()
  await end(0)
  await vi.advanceTimersByTimeAsync(100_000)
  expect(runs).toHaveLength(1)
  loop.wake()
  expect(runs).toHaveLength(2)
})

test('beginnings are as far apart as they must be: who is woken too early runs when it is time, once', async () => {
  const { loop, runs, end } = scripted({ apart: 50 })
  loop.start()
  await vi.advanceTimersByTimeAsync(20)
  loop.wake()
  await end(0)
  for (let n = 0; n < 3; n++) loop.wake()
  await vi.advanceTimersByTimeAsync(29)
  expect(runs).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(runs).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(100)
  await end(1)
  loop.wake()
  expect(runs).toHaveLength(3)
})

test('after a failure the next run may come sooner', async () => {
  const { loop, runs, end } = scripted({ everyAfterFailure: 10 })
  loop.start()
  await end(0, new Error('scripted'))
  await vi.advanceTimersByTimeAsync(10)
  expect(runs).toHaveLength(2)
  await end(1)
  await vi.advanceTimersByTimeAsync(999)
  expect(runs).toHaveLength(2)
})

test('it says what it does', async () => {
  const { loop, end } = scripted()
  const told = [loop.status]
  loop.start()
  told.push(loop.status)
  await end(0)
  told.push(loop.status)
  await loop.stop()
  told.push(loop.status)
  expect(told).toEqual(['idle', 'running', 'waiting', 'stopped'])
})

test('stopped, it tells the run under way to end, waits for it, and begins none', async () => {
  const { loop, runs, failures } = scripted()
  loop.start()
  loop.wake()
  await loop.stop()
  loop.wake()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(runs).toHaveLength(1)
  expect(failures).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test('a run that does not end is waited for no longer than is allowed', async () => {
  const { loop } = scripted({ ignoresSignal: true })
  loop.start()
  const stopped = vi.fn()
  void loop.stop().then(stopped)
  await vi.advanceTimersByTimeAsync(4_999)
  expect(stopped).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(stopped).toHaveBeenCalledOnce()
})

test('stopped between two runs, or before the first, it is over at once', async () => {
  const { loop, runs, end } = scripted()
  loop.start()
  await end(0)
  await loop.stop()
  expect(vi.getTimerCount()).toBe(0)
  expect(runs).toHaveLength(1)
  const never = scripted()
  await never.loop.stop()
  never.loop.start()
  expect(never.runs).toHaveLength(0)
})

test('what ends in time is waited for, and fails as it does', async () => {
  await atMost(1_000, Promise.resolve())
  await atMost(1_000, null)
  await expect(atMost(1_000, Promise.reject(new Error('scripted')))).rejects.toThrow('scripted')
  expect(vi.getTimerCount()).toBe(0)
})
