/** Bodies are read as they are written, unless a name stands twice in an object. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countJson, endOfString, parseJson } from '../../src/http/read-body.ts'

const bytes = (text: string) => Buffer.from(text)

const jsonValue = fc.jsonValue({ maxDepth: 5 })

/** A name as JSON can write it: as it is, or with every unit escaped. */
const spelled = (name: string, escaped: boolean) =>
  escaped
    ? `"${[...Array(name.length).keys()].map((n) => `\\u${name.charCodeAt(n).toString(16).padStart(4, '0')}`).join('')}"`
    : JSON.stringify(name)

const names = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('__proto__', '', '"', '\\\\', 'constructor', 'ü', '{', ':'),
)

test('reads what JSON.stringify writes', () => {
  fc.assert(
    fc.property(jsonValue, fc.constantFrom(0, 1, 2), (value, spaces) => {
      const text = JSON.stringify(value, null, spaces)
      const parsed = parseJson(bytes(text))
      expect(parsed.ok && JSON.stringify(parsed.value)).toBe(JSON.stringify(value))
    }),
  )
})

test('a name that stands twice in one object is refused at any depth, however it is spelled', () => {
  const twice = fc.record({
    name: names,
    first: jsonValue,
    second: jsonValue,
    between: fc.dictionary(names, jsonValue, { maxKeys: 3 }),
    escaped: fc.boolean(),
    around: fc.array(fc.constantFrom('list', 'object'), { maxLength: 20 }),
  })
  fc.assert(
    fc.property(twice, ({ name, first, second, between, escaped, around }) => {
      const others = Object.entries(between)
        .filter(([other]) => other !== name)
        .map(([other, value]) => `${JSON.stringify(other)}:${JSON.stringify(value)},`)
      const written = `${spelled(name, false)}:${JSON.stringify(first)},${others.join('')}${spelled(name, escaped)}:${JSON.stringify(second)}`
      const once = `${others.join('')}${spelled(name, escaped)}:${JSON.stringify(second)}`
      const within = (text: string) =>
        around.reduce(
          (inner, kind) => (kind === 'list' ? `[1,${inner}]` : `{"around":${inner}}`),
          `{${text}}`,
        )
      const refused = parseJson(bytes(within(written)))
      expect(refused.ok).toBe(false)
      expect(refused.ok ? '' : refused.error.detail).toContain('twice in one object')
      expect(parseJson(bytes(within(once))).ok).toBe(true)
    }),
  )
})

test('the same name in two objects is no repetition', () => {
  expect(parseJson(bytes('[{"a":{"a":1}},{"a":"a\\":\\"a"}]')).ok).toBe(true)
})

test('the refusal names the name, and not all of a long one', () => {
  const refusal = (text: string) => {
    const parsed = parseJson(bytes(text))
    return parsed.ok ? '' : parsed.error.detail
  }
  expect(refusal('{"b":1,"a":1,"\\u0061":2}')).toBe(
    'The body has the name "a" twice in one object. Send each name once.',
  )
  expect(
    refusal(
      `{${Array(2)
        .fill(`"${'x'.repeat(10_000)}":1`)
        .join()}}`,
    ).length,
  ).toBeLessThan(250)
})

test('numbers that a double does not hold are refused at their place, and all others are read', () => {
  const wrong =
    '{"a":[1,{"b/c":9007199254740993},"1e400"],"d":-1e400,"e":1e-400,"f":0.1234567890123456789,"1":1e+5}'
  const parsed = parseJson(bytes(wrong))
  expect(parsed.ok ? [] : parsed.error.errors?.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual(
    ['/a/1/b~1c', '/d', '/e', '/f'].map((pointer) => `${pointer} invalid_value`),
  )
  fc.assert(
    fc.property(
      fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.maxSafeInteger()),
      (number) => {
        expect(parseJson(bytes(JSON.stringify([number])))).toEqual({
          ok: true,
          value: [JSON.parse(String(number))],
        })
      },
    ),
  )
})

describe('what is no JSON', () => {
  test.each(['', ' ', '{', '{"a" 1}', '[1,]', '{"a":1,}', '"\\x"', 'nul', '{"a":1}{', '\ufeff\ufeff1'])(
    '%j',
    (text) => {
      expect(parseJson(bytes(text))).toMatchObject({
        ok: false,
        error: { code: 'malformed_json', detail: expect.stringContaining('not valid JSON') },
      })
    },
  )

  test('bytes that are not UTF-8', () => {
    expect(parseJson(Buffer.from([0x22, 0xff, 0x22])).ok).toBe(false)
  })

  test('a byte order mark may stand before a body, and not before a part of one', () => {
    expect(parseJson(bytes('\ufeff{}')).ok).toBe(true)
    expect(parseJson(bytes('\ufeff{}'), true).ok).toBe(false)
  })
})

test('a text ends at its quote, wherever that is and whatever is escaped', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '"', '\\', 'ü', '語'), maxLength: 300 }), (text) => {
      const written = bytes(`${JSON.stringify(text)}:"`)
      expect(endOfString(written, 1)).toBe(written.length - 2)
      expect(countJson(bytes(`{${written.subarray(0, -1)}1}`)).members).toBe(1)
    }),
    { numRuns: 500 },
  )
})
