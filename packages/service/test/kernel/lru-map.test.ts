import { expect, test } from 'vitest'
import { LruMap } from '../../src/kernel/lru-map.ts'

test('forgets the entry that was read or set longest ago', () => {
  const map = new LruMap<string, number>(3)
  for (const key of ['a', 'b', 'c']) map.set(key, 0)
  map.get('a')
  map.set('b', 1)
  map.set('d', 0)
  expect([...map]).toEqual([
    ['a', 0],
    ['b', 1],
    ['d', 0],
  ])
})

test('keeps its order when the newest entry is set, read or deleted', () => {
  const map = new LruMap<string, number>(3)
  for (const key of ['a', 'b', 'c']) map.set(key, 0)
  map.set('c', 1)
  map.get('c')
  map.delete('c')
  map.get('a')
  map.set('c', 2)
  expect([...map]).toEqual([
    ['b', 0],
    ['a', 0],
    ['c', 2],
  ])
})

test('has room for one more after an entry was deleted', () => {
  const map = new LruMap<string, number>(2).set('a', 0).set('b', 0)
  map.delete('b')
  expect([...map.set('c', 0).keys()]).toEqual(['a', 'c'])
  expect(map.get('b')).toBeUndefined()
})
