/** A form sends what was edited, and nothing else: any object comes back from its fields as it was. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { conflicts } from '../src/api/change.ts'
import { fromLocal, toLocal } from '../src/design/local-time.ts'
import { attributesProblem, type FormField, patchOf, toText } from '../src/screens/desk/form-values.ts'

const zone = process.env.TZ
beforeAll(() => {
  process.env.TZ = 'Europe/London'
})
afterAll(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

const fields: readonly FormField[] = [
  { name: 'subject', label: 'Subject', kind: 'line' },
  { name: 'description', label: 'Description', kind: 'text' },
  { name: 'tags', label: 'Tags', kind: 'tags' },
  { name: 'dueAt', label: 'Due', kind: 'time' },
  { name: 'location', label: 'Where', kind: 'location' },
  { name: 'active', label: 'Active', kind: 'yes' },
  { name: 'customAttributes', label: 'Attributes', kind: 'attributes' },
]
const text = fc.oneof(fc.string(), fc.constantFrom(' a ', 'a,b', 'a: b', 'two\nlines', '"7"', '7', 'true'))
// The service takes no empty name, and a row without one is not a value yet.
const name = fc
  .oneof(text, fc.constantFrom('constructor', 'toString', '__proto__', 'a:b', 'hasOwnProperty'))
  .filter((of) => of !== '')
const scalar = fc.oneof(text, fc.boolean(), fc.double({ noNaN: true, noDefaultInfinity: true }))
// Both hours that London's clocks show twice on 25 October 2026 are among them.
const time = fc
  .oneof(
    fc.integer({ min: Date.UTC(2026, 9, 25), max: Date.UTC(2026, 9, 25, 3) }),
    fc.integer({ min: 0, max: 4e12 }),
  )
  .map((at) => new Date(at).toISOString())
const attributes = fc
  .uniqueArray(fc.tuple(name, scalar), { selector: ([of]) => of, maxLength: 6 })
  .map((entries) => Object.fromEntries(entries))
const objects = fc.record({
  subject: fc.option(text),
  description: fc.option(text),
  tags: fc.uniqueArray(text),
  dueAt: fc.option(time),
  location: fc.option(fc.record({ type: fc.constantFrom('video', 'other'), value: text })),
  active: fc.boolean(),
  customAttributes: attributes,
})
type Some = typeof objects extends fc.Arbitrary<infer T> ? T : never

const textsOf = (of: Some) =>
  Object.fromEntries(fields.map((field) => [field.name, toText(field, Reflect.get(of, field.name))]))

test('sends nothing of an object that nobody edited', () => {
  fc.assert(
    fc.property(objects, (base) => {
      expect(patchOf(fields, base, textsOf(base), textsOf(base))).toEqual({})
    }),
  )
})

test('sends the one field that was edited, exactly', () => {
  fc.assert(
    fc.property(objects, attributes, fc.uniqueArray(text), (base, named, tags) => {
      const before = textsOf(base)
      const tagged = patchOf(fields, base, before, { ...before, tags: textsOf({ ...base, tags }).tags ?? '' })
      expect(tagged).toEqual(JSON.stringify(tags) === JSON.stringify(base.tags) ? {} : { tags })
      const after = textsOf({ ...base, customAttributes: named }).customAttributes ?? ''
      const patch = patchOf(fields, base, before, { ...before, customAttributes: after })
      const merged = new Map(Object.entries(base.customAttributes))
      for (const [of, value] of Object.entries(patch.customAttributes ?? {})) {
        if (value === null) merged.delete(of)
        else merged.set(of, value)
      }
      const sorted = (of: Iterable<[string, unknown]>) => JSON.stringify([...of].sort())
      expect(sorted(merged)).toBe(sorted(Object.entries(named)))
      expect(Object.keys(patch).filter((of) => of !== 'customAttributes')).toEqual([])
    }),
  )
})

test('removes and adds attributes that have names of every object', () => {
  const field = fields.filter(({ kind }) => kind === 'attributes')
  const named = Object.fromEntries([['constructor', 'x']])
  const texts = (of: object) => ({ customAttributes: toText(field[0] as FormField, of) })
  expect(patchOf(field, { customAttributes: named }, texts(named), texts({}))).toEqual({
    customAttributes: { constructor: null },
  })
  expect(patchOf(field, { customAttributes: {} }, texts({}), texts(named))).toEqual({
    customAttributes: named,
  })
  const patch = { customAttributes: named }
  expect(conflicts({ customAttributes: {} }, patch, { customAttributes: {} })).toEqual([])
  expect(conflicts({ customAttributes: {} }, patch, { customAttributes: { constructor: 'y' } })).toEqual([
    'customAttributes',
  ])
})

test('keeps an edited time in the hour that the clock shows twice, and its seconds', () => {
  fc.assert(
    fc.property(time, (at) => {
      expect(fromLocal(toLocal(at), at)).toBe(at)
    }),
  )
})

test('shows the clock of a zone that was no whole number of minutes from UTC', () => {
  // London, before it had Greenwich's time.
  const at = '1800-01-01T12:00:00.000Z'
  expect(toLocal(at)).toBe('1800-01-01 11:58:45')
  expect(fromLocal(toLocal(at))).toBe(at)
  expect(fromLocal(toLocal(at), at)).toBe(at)
})

test('names an attribute whose number is none of JSON, or would be rounded', () => {
  const problem = (text: string) => attributesProblem(JSON.stringify([{ name: 'n', type: 'number', text }]))
  for (const text of ['1', ' -3.5 ', '1e6', '9007199254740992']) expect(problem(text)).toBeUndefined()
  for (const text of ['', '0x10', '1,5', '١', '9007199254740993', '1e400', '1e-400'])
    expect(problem(text)).toMatch(/^"n" must be a number .*Enter another one, or choose Text\.$/)
})
