import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { coalesce } from '../../src/kernel/shared-work.ts'

/** A load that answers when it is told to, and remembers what it was asked. */
function scripted() {
  const queries: { keys: readonly number[]; answer: PromiseWithResolvers<readonly string[]> }[] = []
  return {
    queries,
    load(keys: readonly number[]) {
      const answer = Promise.withResolvers<readonly string[]>()
      queries.push({ keys, answer })
      return answer.promise
    },
    answer(n: number, version = '') {
      const query = queries[n]
      query?.answer.resolve(query.keys.map((key) => `${key}${version}`))
    },
    asked: () => queries.map(({ keys }) => keys),
  }
}

describe('coalesce', () => {
  test('look-ups of one turn go together, each gets the value of its own key', async () => {
    const { load, answer, asked } = scripted()
    const find = coalesce(load)
    const values = [find(3), find(1), find(3)]
    await turn()
    expect(asked()).toEqual([[3, 1, 3]])
    answer(0)
    expect(await Promise.all(values)).toEqual(['3', '1', '3'])
  })

  test('a look-up never joins a query that was already sent', async () => {
    const { load, answer, asked } = scripted()
    const find = coalesce(load, { keys: 100, queries: 2 })
    const before = find(1)
    await turn()
    const after = find(1)
    await turn()
    expect(asked()).toEqual([[1], [1]])
    answer(0, ' old')
    answer(1, ' new')
    expect(await Promise.all([before, after])).toEqual(['1 old', '1 new'])
  })

  test('no more queries are under way than allowed; what waits goes together in the next', async () => {
    const { load, answer, asked } = scripted()
    const find = coalesce(load, { keys: 100, queries: 1 })
    const first = find(1)
    await turn()
    const waiting = [find(2), find(3)]
    await turn()
    expect(asked()).toEqual([[1]])
    answer(0)
    await first
    await turn()
    expect(asked()).toEqual([[1], [2, 3]])
    answer(1)
    expect(await Promise.all(waiting)).toEqual(['2', '3'])
  })

  test('no query asks for more keys than allowed', async () => {
    const { load, answer, asked } = scripted()
    const find = coalesce(load, { keys: 2, queries: 2 })
    const values = [1, 2, 3, 4, 5].map(find)
    await turn()
    expect(asked()).toEqual([
      [1, 2],
      [3, 4],
    ])
    answer(0)
    await values[1]
    await turn()
    expect(asked()[2]).toEqual([5])
    answer(1)
    answer(2)
    expect(await Promise.all(values)).toEqual(['1', '2', '3', '4', '5'])
  })

  test('an error reaches everyone of its batch, and nobody else', async () => {
    const { load, queries, answer } = scripted()
    const find = coalesce(load)
    const failing = [find(1), find(2)]
    await turn()
    const following = find(3)
    await turn()
    queries[0]?.answer.reject(new Error('the database is gone'))
    answer(1)
    const outcomes = await Promise.allSettled(failing)
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.message)).toEqual([
      'the database is gone',
      'the database is gone',
    ])
    expect(await following).toBe('3')
  })
})
