/** Reading JSON as it is written, held against a reader of its own that trusts nothing of the engine's. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lossesOf, numberFault, readJson } from '../src/json.ts'

/** What a text says: members in the order of their first writing, each with its last value. */
type Read = string | number | boolean | null | Read[] | Map<string, Read>

const escapes: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

function oracle(text: string): Read {
  let at = 0
  const skip = () => {
    while (/[ \t\r\n]/.test(text[at] ?? '')) at++
  }
  function string(): string {
    let said = ''
    for (at++; text[at] !== '"'; at++) {
      if (text[at] !== '\\') said += text[at]
      else if (text[++at] === 'u') {
        said += String.fromCharCode(Number.parseInt(text.slice(at + 1, at + 5), 16))
        at += 4
      } else said += escapes[text[at] as string] ?? text[at]
    }
    at++
    return said
  }
  function value(): Read {
    skip()
    const begins = text[at]
    if (begins === '"') return string()
    if (begins === '{') {
      const members = new Map<string, Read>()
      for (at++, skip(); text[at] !== '}'; skip()) {
        const name = string()
        skip()
        at++
        members.set(name, value())
        skip()
        if (text[at] === ',') at++
        skip()
      }
      at++
      return members
    }
    if (begins === '[') {
      const items: Read[] = []
      for (at++, skip(); text[at] !== ']'; skip()) {
        items.push(value())
        skip()
        if (text[at] === ',') at++
      }
      at++
      return items
    }
    const written = /^[^\s,\]}]+/.exec(text.slice(at))?.[0] ?? ''
    at += written.length
    return written === 'null' ? null : written === 'true' || (written !== 'false' && Number(written))
  }
  return value()
}

/** An object as the oracle has it. Names like integers come first in an object, so names are compared in one order. */
function asRead(value: unknown): Read {
  if (Array.isArray(value)) return value.map(asRead)
  if (typeof value !== 'object' || value === null) return value as Read
  return new Map(Object.entries(value).map(([name, member]) => [name, asRead(member)]))
}

const ordered = (read: Read): unknown =>
  Array.isArray(read)
    ? read.map(ordered)
    : read instanceof Map
      ? [...read].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, ordered(member)])
      : read

/** Names that poison, names that are poisoned, and names that are neither, of which many begin alike. */
const characters = fc.constantFrom(
  '\\',
  '"',
  '\n',
  '\t',
  '\u0000',
  'n',
  'u',
  '0',
  'a',
  'é',
  '\ud83d',
  '名',
  '/',
)
const names = fc.oneof(
  { weight: 4, arbitrary: fc.array(characters, { maxLength: 3 }).map((all) => all.join('')) },
  { weight: 1, arbitrary: fc.array(characters, { minLength: 20, maxLength: 90 }).map((all) => all.join('')) },
  { weight: 1, arbitrary: fc.constantFrom('p', 'id', '__proto__', 'constructor', '1', '10', 'u005c') },
)

/** A string as one of its writings, character by character. */
const written = (said: fc.Arbitrary<string>) =>
  said.chain((text) =>
    fc
      .array(fc.nat(2), { minLength: text.length, maxLength: text.length })
      .map(
        (ways) =>
          `"${[...Array(text.length).keys()].map((n) => writing(text[n] as string, ways[n])).join('')}"`,
      ),
  )

function writing(character: string, way: number | undefined): string {
  const unicode = `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  if (way === 0) return unicode
  const short = JSON.stringify(character).slice(1, -1)
  return way === 1 && character === '/' ? '\\/' : short
}

const space = fc.constantFrom('', '', ' ', '\n', '\t ')
const { value: texts } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('1', '-0', '1.5e300', 'true', 'false', 'null', '"x:"', '"\\":{"', '"\\\\"'),
    written(names),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(space, written(names), space, tie('value')), { maxLength: 5 })
      .map(
        (members) =>
          `{${['"@":0', ...members.map(([a, name, b, value]) => `${a}${name}${b}:${b}${value}`)].join(',')}}`,
      ),
  ),
}))

/** Engines learn the shapes of objects: a first name that is new to the process begins shapes that nothing has been learnt of. */
let begun = 0
const fresh = (all: readonly string[]): string[] => {
  begun++
  return all.map((text) => text.replaceAll('"@"', `"p${begun}"`))
}

test('reads names as they are written, whatever was read before', () => {
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1, maxLength: 6 }), fc.boolean(), (some, asList) => {
      const all = fresh(some)
      for (const text of asList ? [`[${all.join(', ')}]`] : [...all, ...all])
        expect(ordered(asRead(readJson(text)))).toEqual(ordered(oracle(text)))
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  ['{"@":1,"\\\\":2}', '{"@":1,"\\n":2}', '\n'],
  ['{"@":1,"\\\\":2}', '{"@":1,"\\u00e9":2}', 'é'],
  ['{"@":1,"\\\\":2}', '{"@":1,"\\"":2}', '"'],
  ['{"@":1,"a\\\\":2}', '{"@":1,"a\\"":2}', 'a"'],
  ['[{"@":{"@":1,"\\\\":2}}]', '{"@":1,"\\t":2}', '\t'],
])('after %s, reads the name in %s', (before, after, name) => {
  const [poison = '', text = ''] = fresh([before, after])
  JSON.parse(poison)
  expect(Object.keys(readJson<object>(text)).at(-1)).toBe(name)
})

test('trusts JSON.parse only where no name is escaped', () => {
  const plain = texts.filter((text) => !/"(?:[^"\\]|\\.)*\\(?:[^"\\]|\\.)*"\s*:/.test(text))
  fc.assert(
    fc.property(fc.array(plain, { minLength: 2, maxLength: 5 }), texts, (some, before) => {
      const [poison = '', ...all] = fresh([before, ...some])
      JSON.parse(poison)
      for (const text of all) expect(ordered(asRead(JSON.parse(text)))).toEqual(ordered(oracle(text)))
    }),
    { numRuns: 1_000 },
  )
})

test('keeps the order and the members that JSON.parse gives', () => {
  const text = '{"b":1,"10":2,"2":3,"\\u0061":4,"b":5,"__proto__":{"x":[]}}'
  const read = readJson<object>(text)
  expect(JSON.stringify(read)).toBe('{"2":3,"10":2,"b":5,"a":4,"__proto__":{"x":[]}}')
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
})

test('reads deep nesting, and refuses what is no JSON', () => {
  expect(readJson(`${'['.repeat(100_000)}{"\\n":1}${']'.repeat(100_000)}`)).toBeInstanceOf(Array)
  for (const text of ['', '{"\\n":1', '{"\\n" 1}', '{"\\x":1}', '{"a":1}}', '{"\\n":01}', '"\\"', '\\"":1'])
    expect(() => readJson(text), text).toThrow(SyntaxError)
})

/** The number times ten to the `scale`, which must make it whole. */
function scaled(number: string, scale: number): bigint {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return BigInt(whole + fraction) * 10n ** BigInt(scale + Number(exponent) - fraction.length)
}

test('a number has no fault exactly if the double that it becomes is shown as the same number', () => {
  const digits = fc.array(fc.constantFrom('0', '0', '1', '5', '9'), { minLength: 1, maxLength: 22 })
  const exponents = fc.constantFrom('', 'e0', 'E+2', 'e-3', 'e21', 'e300', 'e-300', 'e309', 'e-330')
  fc.assert(
    fc.property(
      digits,
      fc.option(digits),
      exponents,
      fc.constantFrom('', '-'),
      (whole, part, exponent, sign) => {
        const written = `${sign}${BigInt(whole.join(''))}${part === null ? '' : `.${part.join('')}`}${exponent}`
        const shown = String(Number(written))
        const isKept = !shown.includes('Infinity') && scaled(shown, 1_000) === scaled(written, 1_000)
        expect([written, numberFault(written) === null]).toEqual([written, isKept])
      },
    ),
    { numRuns: 2_000 },
  )
})

test('what reading loses is named with its place', () => {
  const text = '{"a":[0,{"\\u0062":1e400}],"c":{"d":1,"d":{"e":[2,9007199254740993]}},"__proto__":1}'
  expect(lossesOf(text)).toEqual([
    { path: ['c', 'd'], fault: null },
    { path: ['a', '1', 'b'], fault: expect.stringMatching(/1e400 would become Infinity$/) },
    {
      path: ['c', 'd', 'e', '1'],
      fault: expect.stringMatching(/9007199254740993 would become 9007199254740992$/),
    },
  ])
  expect([lossesOf('1e400'), lossesOf('[1,"1e400"]')]).toMatchObject([[{ path: [] }], []])
  // Time does not grow with the square of the zeros.
  expect(numberFault(`1${'0'.repeat(500_000)}1`)).toMatch(/would become Infinity$/)
})
