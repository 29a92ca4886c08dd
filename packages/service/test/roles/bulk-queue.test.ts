/** Which large request goes next: how many at once, and in whose turn. */
import { expect, test } from 'vitest'
import { BulkQueue, type BulkRequest, bulkAtOnce } from '../../src/roles/bulk-queue.ts'

const mebibyte = 1024 * 1024

interface Named extends BulkRequest {
  readonly name: string
}

function queueOfNamed() {
  const begun: Named[] = []
  const queue = new BulkQueue<Named>((request) => begun.push(request))
  return {
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
  const bulk = queueOfNamed()
  for (const name of ['a1', 'a2', 'a3', 'a4']) bulk.add('a', name)
  expect(bulk.underWay).toEqual(['a1', 'a2'])
  bulk.end('a1')
  expect(bulk.underWay).toEqual(['a2', 'a3'])
  bulk.end('a2')
  bulk.end('a3')
  bulk.end('a4')
  expect(bulk.queue.isIdle).toBe(true)
})

test('organizations have their turns, as many at once as there are places, and bodies as their bytes allow', () => {
  const bulk = queueOfNamed()
  for (let n = 0; n < 4; n++) for (const of of ['a', 'b', 'c', 'd']) bulk.add(of, `${of}${n}`)
  expect(bulk.underWay).toEqual(['a0', 'b0', 'c0', 'd0', 'a1', 'b1'])
  expect(bulk.underWay).toHaveLength(bulkAtOnce)
  bulk.end('c0')
  expect(bulk.underWay.at(-1)).toBe('c1')
})

test('a body that does not fit beside others waits, and what is small goes past it', () => {
  const bulk = queueOfNamed()
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
