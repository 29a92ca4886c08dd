/** Cursors of the stream of all kinds: of these kinds, of this organization, and unaltered, or none at all. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { kinds } from '../../src/desk/index.ts'
import { encodeCursor, highestId } from '../../src/kernel/cursor.ts'
import { nilUuid } from '../../src/kernel/ids.ts'
import { createStreamCursors, streamResource } from '../../src/kinds/http/stream-routes.ts'

const names = kinds.map(({ name }) => name)
const cursors = createStreamCursors(names)
const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const streams = fc.record({
  of: fc.shuffledSubarray(names, { minLength: 1 }),
  organizationId: fc.uuid(),
  epoch: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
  position: fc.record({ at: fc.nat(), id: fc.oneof(fc.uuid(), fc.constantFrom(nilUuid, highestId)) }),
  removalsAfter: fc.option(fc.nat()),
})

const textOf = ({ of, ...cursor }: typeof streams extends fc.Arbitrary<infer S> ? S : never) =>
  encodeCursor({ ...cursor, resource: streamResource(of) })

test('of 16 kinds any set is found, and more are refused when the service starts', () => {
  const many = Array.from({ length: 16 }, (_, n) => `kind-${n}`)
  const joined = createStreamCursors(many)
  fc.assert(
    fc.property(fc.shuffledSubarray(many, { minLength: 1 }), fc.uuid(), (of, organizationId) => {
      const text = textOf({
        of,
        organizationId,
        epoch: 1,
        position: { at: 0, id: nilUuid },
        removalsAfter: null,
      })
      expect(joined.decode(text, organizationId)?.kinds.toSorted()).toEqual(of.toSorted())
    }),
  )
  expect(() => createStreamCursors([...many, 'one more'])).toThrow('a stream joins 16 kinds at most, not 17')
})

describe('a cursor of the stream of all kinds', () => {
  test('says which kinds its sync began with, whatever their order', () => {
    fc.assert(
      fc.property(streams, (stream) => {
        const decoded = cursors.decode(textOf(stream), stream.organizationId)
        expect(decoded?.kinds.toSorted()).toEqual(stream.of.toSorted())
        expect(decoded?.cursor).toMatchObject({ epoch: stream.epoch, position: stream.position })
      }),
    )
  })

  test('is of another one when a kind is added or left out', () => {
    const sets = fc.sample(fc.shuffledSubarray(names, { minLength: 1 }), 200)
    const texts = new Set(sets.map((of) => of.toSorted().join(' ')))
    expect(new Set(sets.map(streamResource)).size).toBe(texts.size)
  })

  test('with any single character changed is not a cursor', () => {
    fc.assert(
      fc.property(streams, fc.nat(91), fc.constantFrom(...base64url), (stream, at, to) => {
        const text = textOf(stream)
        fc.pre(text[at] !== to)
        const changed = text.slice(0, at) + to + text.slice(at + 1)
        expect(cursors.decode(changed, stream.organizationId)).toBeNull()
      }),
      { numRuns: 1000 },
    )
  })

  test('of another organization, of one kind alone or of a kind that there is not is not one', () => {
    fc.assert(
      fc.property(streams, fc.uuid(), (stream, other) => {
        fc.pre(other !== stream.organizationId)
        expect(cursors.decode(textOf(stream), other)).toBeNull()
        const { of, ...cursor } = stream
        for (const resource of [of[0] as string, streamResource([...of, 'invoice'])]) {
          expect(cursors.decode(encodeCursor({ ...cursor, resource }), stream.organizationId)).toBeNull()
        }
      }),
    )
  })
})
