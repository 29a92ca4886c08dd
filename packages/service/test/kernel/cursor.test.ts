import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Cursor, decodeCursor, encodeCursor, highestId } from '../../src/kernel/cursor.ts'
import { nilUuid } from '../../src/kernel/ids.ts'

const time = fc.integer({
  min: Date.parse('0001-01-01T00:00:00Z'),
  max: Date.parse('9999-12-31T23:59:59.999Z'),
})
const id = fc.oneof(fc.uuid(), fc.constantFrom(nilUuid, highestId))
const cursors: fc.Arbitrary<Cursor> = fc.record({
  resource: fc.constantFrom('customer', 'ticket', 'teammate'),
  organizationId: fc.uuid(),
  epoch: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
  position: fc.record({ at: time, id }),
  removalsAfter: fc.option(time),
})
const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

describe('a cursor', () => {
  test('is read back as what it was written from', () => {
    fc.assert(
      fc.property(cursors, (cursor) => {
        const text = encodeCursor(cursor)
        expect(decodeCursor(text, cursor.resource, cursor.organizationId)).toEqual(cursor)
      }),
    )
  })

  test('can stand in a query as it is', () => {
    fc.assert(
      fc.property(cursors, (cursor) => {
        expect(encodeCursor(cursor)).toMatch(/^[\w-]{92}$/)
      }),
    )
  })

  test('with any single character changed is not a cursor', () => {
    fc.assert(
      fc.property(
        cursors,
        fc.nat(91),
        fc.constantFrom(...base64url, '=', '+', '/', ' ', 'é'),
        (cursor, at, to) => {
          const text = encodeCursor(cursor)
          fc.pre(text[at] !== to)
          const changed = text.slice(0, at) + to + text.slice(at + 1)
          expect(decodeCursor(changed, cursor.resource, cursor.organizationId)).toBeNull()
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('cut short, lengthened or padded is not a cursor', () => {
    fc.assert(
      fc.property(cursors, fc.nat(91), (cursor, length) => {
        const text = encodeCursor(cursor)
        for (const other of [
          text.slice(0, length),
          text.slice(91 - length),
          `${text}A`,
          `${text}=`,
          ` ${text}`,
        ]) {
          if (other === text) continue
          expect(decodeCursor(other, cursor.resource, cursor.organizationId)).toBeNull()
        }
      }),
    )
  })

  test('of another resource or another organization is not one of this list', () => {
    fc.assert(
      fc.property(cursors, fc.uuid(), (cursor, other) => {
        fc.pre(other !== cursor.organizationId)
        const text = encodeCursor(cursor)
        expect(decodeCursor(text, `${cursor.resource}s`, cursor.organizationId)).toBeNull()
        expect(decodeCursor(text, cursor.resource, other)).toBeNull()
      }),
    )
  })

  test('is never thrown at: any text gives a cursor or null', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
        expect(decodeCursor(text, 'customer', nilUuid)).toBeNull()
      }),
    )
  })

  test('that someone made with a right checksum and a time that no clock shows is not a cursor', () => {
    const cursor: Cursor = {
      resource: 'customer',
      organizationId: highestId,
      epoch: 1,
      position: { at: 0, id: nilUuid },
      removalsAfter: 0,
    }
    const latest = Date.parse('9999-12-31T23:59:59.999Z')
    const forged = (offset: number, value: bigint) => {
      const bytes = Buffer.from(encodeCursor(cursor), 'base64url')
      bytes.writeBigInt64BE(value, offset)
      createHash('sha256').update(bytes.subarray(0, 61)).digest().copy(bytes, 61, 0, 8)
      return decodeCursor(bytes.toString('base64url'), 'customer', highestId)
    }
    for (const offset of [29, 53]) {
      expect(forged(offset, BigInt(latest))).not.toBeNull()
      expect(forged(offset, BigInt(latest) + 1n)).toBeNull()
      expect(forged(offset, 2n ** 63n - 1n)).toBeNull()
      expect(forged(offset, -(2n ** 62n))).toBeNull()
    }
  })
})
