/** Whose large work is done when: one piece of an organization at a time beside others, and a rest after it. Time is moved by hand. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ShareExceeded } from '../../src/kernel/budget.ts'
import { LargeWork } from '../../src/kernel/large-work.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** `rest.after`: what an organization rests after each piece, in milliseconds; null where nobody else is there. */
function workWith(rest: { after: number | null }) {
  const worked: number[] = []
  const largeWork = new LargeWork({
    leavesRoom: () => rest.after !== null,
    restAfterLarge(_organizationId, milliseconds) {
      worked.push(milliseconds)
      return rest.after ?? 0
    },
  })
  const underWay = new Map<string, (how?: Error) => void>()
  const ended: string[] = []
  return {
    largeWork,
    worked,
    ended,
    begin(organizationId: string, name: string) {
      const work = () => {
        const { promise, resolve, reject } = Promise.withResolvers<string>()
        underWay.set(name, (how) => (how === undefined ? resolve(name) : reject(how)))
        return promise
      }
      void largeWork.run(organizationId, work).then(
        (what) => ended.push(what),
        (error: Error) => ended.push(`${name}: ${error.message}`),
      )
    },
    async end(name: string, how?: Error) {
      const end = underWay.get(name)
      if (end === undefined) throw new Error(`${name} is not under way`)
      underWay.delete(name)
      end(how)
      await vi.advanceTimersByTimeAsync(0)
    },
    get underWay() {
      return [...underWay.keys()]
    },
  }
}

test('whoever is alone has all of it under way at once, and no rest', async () => {
  const work = workWith({ after: null })
  for (const name of ['search', 'batch', 'page']) work.begin('a', name)
  expect(work.underWay).toEqual(['search', 'batch', 'page'])
  await work.end('batch')
  work.begin('a', 'removal')
  expect([work.underWay, work.ended]).toEqual([['search', 'page', 'removal'], ['batch']])
})

test('beside others one piece at a time, and a rest after each, also after one that failed; nobody else waits for that', async () => {
  const rest = { after: 200 as number | null }
  const work = workWith(rest)
  for (const name of ['search', 'batch', 'page']) work.begin('a', name)
  expect(work.underWay).toEqual(['search'])
  await vi.advanceTimersByTimeAsync(70)
  await work.end('search', new Error('too long'))
  expect([work.worked, work.ended]).toEqual([[70], ['search: too long']])
  work.begin('b', 'of another')
  expect(work.underWay).toEqual(['of another'])
  await vi.advanceTimersByTimeAsync(199)
  expect(work.underWay).toEqual(['of another'])
  await vi.advanceTimersByTimeAsync(1)
  expect(work.underWay).toEqual(['of another', 'batch'])
  // Nothing that comes later goes past what waits.
  rest.after = null
  work.begin('a', 'removal')
  expect(work.underWay).toEqual(['of another', 'batch'])
  // Once the others have gone, all is as if they had not been there.
  await work.end('batch')
  expect(work.underWay).toEqual(['of another', 'page', 'removal'])
})

test('what has begun while it was alone is waited for beside others', async () => {
  const rest = { after: null as number | null }
  const work = workWith(rest)
  for (const name of ['search', 'batch']) work.begin('a', name)
  rest.after = 10
  work.begin('a', 'page')
  await work.end('search')
  await vi.advanceTimersByTimeAsync(10)
  expect(work.underWay).toEqual(['batch'])
  await work.end('batch')
  await vi.advanceTimersByTimeAsync(10)
  expect(work.underWay).toEqual(['page'])
})

test('of several that end together each rest is over before the next begins', async () => {
  const rest = { after: null as number | null }
  const work = workWith(rest)
  for (const name of ['search', 'batch']) work.begin('a', name)
  rest.after = 100
  work.begin('a', 'page')
  await work.end('search')
  await vi.advanceTimersByTimeAsync(60)
  await work.end('batch')
  await vi.advanceTimersByTimeAsync(99)
  expect(work.underWay).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(work.underWay).toEqual(['page'])
})

test('what has waited for as long as it may is refused for its own organization’s share, and never done', async () => {
  const work = workWith({ after: 0 })
  work.begin('a', 'batch')
  const asked = { done: 0 }
  const search = work.largeWork.run('a', async () => asked.done++, { waitAtMost: 1_000 })
  const refused = expect(search).rejects.toEqual(new ShareExceeded('own_share', 'database_time'))
  work.begin('a', 'page')
  await vi.advanceTimersByTimeAsync(1_000)
  await refused
  await work.end('batch')
  expect([work.underWay, asked.done]).toEqual([['page'], 0])
})

test('once stopped, what is under way ends, and nothing that waits begins', async () => {
  const work = workWith({ after: 10 })
  for (const name of ['search', 'batch']) work.begin('a', name)
  work.largeWork.stop()
  await work.end('search')
  await vi.advanceTimersByTimeAsync(1_000)
  expect([work.underWay, work.ended]).toEqual([[], ['search']])
})
