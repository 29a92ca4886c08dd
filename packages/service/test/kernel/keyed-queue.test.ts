import { describe, expect, test } from 'vitest'
import { createKeyedQueue } from '../../src/kernel/shared-work.ts'

describe('a keyed queue', () => {
  test('runs tasks of one key one after another, in the order they came', async () => {
    const queue = createKeyedQueue()
    const log: string[] = []
    const gates = [0, 1, 2].map(() => Promise.withResolvers<void>())
    const runs = gates.map((gate, n) =>
      queue.run('a', async () => {
        log.push(`start ${n}`)
        await gate.promise
        log.push(`end ${n}`)
        return n
      }),
    )
    // The last may finish first, and still has to wait for its turn.
    for (const gate of gates.toReversed()) gate.resolve()
    expect(await Promise.all(runs)).toEqual([0, 1, 2])
    expect(log).toEqual(['start 0', 'end 0', 'start 1', 'end 1', 'start 2', 'end 2'])
  })

  test('runs tasks of different keys at once', async () => {
    const queue = createKeyedQueue()
    const held = Promise.withResolvers<void>()
    const first = queue.run('a', () => held.promise)
    expect(await queue.run('b', async () => 'done')).toBe('done')
    held.resolve()
    await first
  })

  test('a task that fails fails its own caller alone, and the next one starts', async () => {
    const queue = createKeyedQueue()
    const gate = Promise.withResolvers<void>()
    const failing = queue.run('a', async () => {
      await gate.promise
      throw new Error('no')
    })
    const following = queue.run('a', async () => 'yes')
    gate.resolve()
    await expect(failing).rejects.toThrow('no')
    expect(await following).toBe('yes')
  })

  test('a key that was idle for a while starts at once', async () => {
    const queue = createKeyedQueue()
    await queue.run('a', async () => 1)
    let started = false
    const run = queue.run('a', async () => {
      started = true
    })
    expect(started).toBe(true)
    await run
  })
})

test('a task whose signal has aborted by its turn is not run, and the next one is', async () => {
  const queue = createKeyedQueue()
  const first = Promise.withResolvers<void>()
  const gone = new AbortController()
  const ran: string[] = []
  const running = queue.run('a', () => first.promise)
  const refused = expect(queue.run('a', async () => ran.push('gone'), gone.signal)).rejects.toThrow('left')
  const next = queue.run('a', async () => ran.push('next'))
  gone.abort(new Error('left'))
  first.resolve()
  await Promise.all([running, refused, next])
  expect(ran).toEqual(['next'])
})
