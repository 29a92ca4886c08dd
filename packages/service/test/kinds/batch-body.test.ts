/** The bytes of a batch: taken apart as JSON.parse would, with its items counted before any is parsed. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isLightBatch, readBatch } from '../../src/kinds/http/batch-body.ts'

const read = (text: string) => readBatch(Buffer.from(text))

test('a few creations are light; many, and what may be an upsert however it is written, are not', () => {
  const judge = (text: string) => isLightBatch(Buffer.from(text))
  const few = '{"items":[{"name":"Ada"}]}'
  expect(judge(few)).toBe(true)
  expect(judge(few.replace('"}]', `"}${' '.repeat(4_096 - few.length)}]`))).toBe(true)
  expect(judge(few.replace('"}]', `"}${' '.repeat(4_097 - few.length)}]`))).toBe(false)
  for (const operation of ['"upsert"', '"\\u0075psert"', '"upser\\u0074"'])
    expect(judge(`{"operation":${operation},"items":[{"externalId":"1"}]}`)).toBe(false)
})

test('items are those that JSON.parse finds, wherever they stand and however they are spaced', async () => {
  const body = fc.record({
    items: fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 6 }),
    operation: fc.jsonValue({ maxDepth: 1 }),
    first: fc.boolean(),
    spaces: fc.constantFrom(0, 1, 3),
    name: fc.constantFrom('"items"', '"\\u0069tems"'),
  })
  await fc.assert(
    fc.asyncProperty(body, async ({ items, operation, first, spaces, name }) => {
      const object = first ? { items, operation } : { operation, items }
      const text = JSON.stringify(object, null, spaces).replace('"items"', name)
      // What Node 26's own JSON.parse may misread (test/http/json-body.test.ts).
      fc.pre(!text.includes('"\\\\"'))
      const batch = await read(text)
      if (!batch.ok) throw new Error(JSON.stringify(batch.error))
      const { items: found, ...around } = JSON.parse(text)
      expect(batch.value.items?.map((item) => item.ok && item.value)).toEqual(found)
      expect(batch.value.around).toEqual({ ...around, items: found.length > 0 ? [0] : [] })
    }),
  )
})

describe('is no JSON', () => {
  test.each([
    '{"items":[{]}',
    '{"items":[{}}',
    '{"items":[{},]}',
    '{"items":[,{}]}',
    '{"items":[{} {}]}',
    '{"items":[{}{}]}',
    '{"items":[{}]',
    '{"items":[{"a":}]}',
    '{"items":[{}]}}',
    '{"items":[{}],}',
    '{"items":[\ufeff{}]}',
    '{"items":["]}',
    '{"items":[{"a":1,"a":2}]}',
    '{"items":[{}],"items":[{}]}',
    '{"operation":"create","operation":"create","items":[{}]}',
  ])('%s', async (text) => {
    expect(await read(text)).toMatchObject({ ok: false, error: { code: 'malformed_json' } })
  })

  test('what nests too deep, as it is counted from the body', async () => {
    const nested = (levels: number) => `{"items":[${'['.repeat(levels)}${']'.repeat(levels)}]}`
    expect((await read(nested(62))).ok).toBe(true)
    expect(await read(nested(63))).toMatchObject({
      error: { code: 'malformed_json', detail: expect.stringMatching('64') },
    })
  })
})

test('more items than a batch may have are found before anything is parsed', async () => {
  const thousand = Array(1_000).fill('{}').join()
  expect(await read(`{"items":[${thousand}]}`)).toMatchObject({ ok: true })
  for (const more of [',{}]}', ', no JSON from here on', ',"', `,${'{},'.repeat(100_000)}`])
    expect(await read(`{"items":[${thousand}${more}`)).toMatchObject({
      error: { errors: [{ code: 'too_many' }] },
    })
})

test('nobody parses what is too large to be an item, or to stand beside them', async () => {
  const large = `{"x":[${'{},'.repeat(400_000)}0]}`
  const rich = `{"x":[${'0,'.repeat(1_000)}0]}`
  const batch = await read(`{"items":[{"a":1},${large},${rich}]}`)
  if (!batch.ok) throw new Error(JSON.stringify(batch.error))
  expect(batch.value.items).toMatchObject([
    { ok: true, value: { a: 1 } },
    { ok: false, error: { code: 'body_too_large' } },
    { ok: false, error: { code: 'validation_failed', errors: [{ code: 'too_many' }] } },
  ])
  expect(await read(`{"items":[{}],"more":${large}}`)).toMatchObject({
    error: { errors: [{ code: 'unknown_field' }] },
  })
  expect(await read(large)).toMatchObject({ error: { errors: [{ code: 'unknown_field' }] } })
})

test('a body without a list of items has none', async () => {
  for (const text of [
    '{}',
    '[]',
    '{"items":{}}',
    '{"other":{"items":[1]}}',
    '[{"items":[1]}]',
    '{"items":1}',
  ])
    expect(await read(text)).toMatchObject({ ok: true, value: { items: null, around: JSON.parse(text) } })
})
