/** Memory that is given back without a collection. */
import { expect, test } from 'vitest'
import { freeBytes } from '../../src/http/read-body.ts'

const held = () => process.memoryUsage().arrayBuffers

test('bytes are given back at once, and once', () => {
  const bytes = Buffer.alloc(16 * 2 ** 20)
  const before = held()
  freeBytes(bytes)
  expect(before - held()).toBe(16 * 2 ** 20)
  expect(bytes.length).toBe(0)
  freeBytes(bytes)
  expect(before - held()).toBe(16 * 2 ** 20)
})

test('bytes that share their memory with others keep it', () => {
  const pooled = Buffer.from('pooled')
  const part = Buffer.from(new ArrayBuffer(8), 0, 4)
  const shared = new Uint8Array(new SharedArrayBuffer(4))
  for (const bytes of [pooled, part, shared]) freeBytes(bytes)
  expect([String(pooled), part.length, shared.length]).toEqual(['pooled', 4, 4])
})
