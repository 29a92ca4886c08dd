import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { atMost, periodic } from '../../src/kernel/periodic.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A loop whose runs end when they are told to. */
function scripted(options: { ignoresSignal?: boolean } = {}) {
  const runs: PromiseWithResolvers<void>[] = []
  const failures: string[] = []
  const loop = periodic({
    every: 1_000,
    stopWithin: 5_000,
    run(signal) {
      const run = Promise.withResolvers<void>()
      if (!options.ignoresSignal) signal.addEventListener('abort', () => run.reject(signal.reason))
      runs.push(run)
      return run.promise
    },
    onFailure: (error) => failures.push(error.message),
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
