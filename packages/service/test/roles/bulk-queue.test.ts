/** Which large request goes next: how many at once, in whose turn, and what others leave. Time is moved by hand. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { BulkQueue, type BulkRequest, bulkAtOnce } from '../../src/roles/bulk-queue.ts'

const mebibyte = 1024 * 1024

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => vi.useRealTimers())

interface Named extends BulkRequest {
  readonly name: string
}

/** `rest`: what an organization rests after each, in milliseconds; null where nobody else is there. */
function queueWith(rest: { after: number | null }) {
  const begun: Named[] = []
  const worked: number[] = []
  const room = {
    leavesRoom: () => rest.after !== null,
    restAfter(_organizationId: string | null, milliseconds: number) {
      worked.push(milliseconds)
      return rest.after ?? 0
    },
  }
  const queue = new BulkQueue<Named>(room, (request) => begun.push(request))
  return {
    worked,
    add(organizationId: string, name: string, bytes = mebibyte) {
      queue.add({ organizationId, name, bytes })
    },
    end(name: string) {
      const at = begun.findIndex((one) => one.name === name)
      const [request] = begun.splice(at, 1)
      if (request === undefined) throw new Error(`${name} is not under way`)
      queue.end(request)
    },
    get underWay() {
      return begun.map(({ name }) => name)
    },
    queue,
  }
}

test('one that is alone has two at once, and its next one begins when one of them ends', () => {
  const bulk = queueWith({ after: null })
  for (const name of ['a1', 'a2', 'a3', 'a4']) bulk.add('a', name)
  expect(bulk.underWay).toEqual(['a1', 'a2'])
  bulk.end('a1')
  expect(bulk.underWay).toEqual(['a2', 'a3'])
  bulk.end('a2')
  bulk.end('a3')
  bulk.end('a4')
  expect(bulk.queue.isIdle).toBe(true)
})

test('beside others it has one at a time, and rests after each for as long as it is told; nobody else waits for that', () => {
  const rest = { after: 200 as number | null }
  const bulk = queueWith(rest)
  for (const name of ['a1', 'a2', 'a3']) bulk.add('a', name)
  expect(bulk.underWay).toEqual(['a1'])
  vi.advanceTimersByTime(70)
  bulk.end('a1')
  expect(bulk.worked).toEqual([70])
  expect(bulk.underWay).toEqual([])
  bulk.add('b', 'b1')
  expect(bulk.underWay).toEqual(['b1'])
  vi.advanceTimersByTime(199)
  expect(bulk.underWay).toEqual(['b1'])
  vi.advanceTimersByTime(1)
  expect(bulk.underWay).toEqual(['b1', 'a2'])
  // Once the others have gone, all is as if they had not been there.
  rest.after = null
  bulk.end('a2')
  expect(bulk.underWay).toEqual(['b1', 'a3'])
})

test('organizations have their turns, as many at once as there are places, and bodies as their bytes allow', () => {
  const bulk = queueWith({ after: null })
  for (let n = 0; n < 4; n++) for (const of of ['a', 'b', 'c', 'd']) bulk.add(of, `${of}${n}`)
  expect(bulk.underWay).toEqual(['a0', 'b0', 'c0', 'd0', 'a1', 'b1'])
  expect(bulk.underWay).toHaveLength(bulkAtOnce)
  bulk.end('c0')
  expect(bulk.underWay.at(-1)).toBe('c1')
})

test('a body that does not fit beside others waits, and what is small goes past it', () => {
  const bulk = queueWith({ after: null })
  bulk.add('a', 'a1', 16 * mebibyte)
  bulk.add('b', 'b1', 16 * mebibyte)
  bulk.add('c', 'c1', 2 * mebibyte)
  bulk.add('d', 'd1', mebibyte)
  // Nothing large goes past the one that is next.
  expect(bulk.underWay).toEqual(['a1', 'd1'])
  bulk.add('e', 'e1', 2 * mebibyte)
  bulk.end('a1')
  expect(bulk.underWay).toEqual(['d1', 'b1', 'c1', 'e1'])
})
