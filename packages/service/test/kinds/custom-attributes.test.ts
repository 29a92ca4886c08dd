import { describe, expect, test } from 'vitest'
import { customer } from '../../src/desk/customer/index.ts'
import { creation, patched } from './kinds.ts'

const create = (attributes: string) => creation(customer, `{"name":"a","customAttributes":${attributes}}`)
const patch = (before: string, attributes: string) =>
  patched(customer, `{"name":"a","customAttributes":${before}}`, `{"customAttributes":${attributes}}`)
/** The attributes as they would be stored and sent. */
const json = (verdict: object) =>
  JSON.stringify((verdict as { customAttributes?: unknown }).customAttributes ?? verdict)
const keys = (from: number, to: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`k${n + from}`, n])))

describe('customAttributes', () => {
  test('take strings of at most 500 characters, numbers and booleans', () => {
    const owls = '🦉'.repeat(500)
    const attributes = `{"a":"","b":${JSON.stringify(owls)},"c":0,"d":-1.5e-7,"e":true,"f":false}`
    expect(create(attributes)).toHaveProperty('customAttributes', JSON.parse(attributes))
    expect(create(`{"a":"${'x'.repeat(501)}"}`)).toEqual(['/customAttributes/a too_long'])
  })

  test('take keys of 1 to 40 characters', () => {
    const owls = '🦉'.repeat(40)
    expect(create(`{"${owls}":1}`)).toHaveProperty('customAttributes', { [owls]: 1 })
    expect(create(`{"${'k'.repeat(41)}":1}`)).toEqual([`/customAttributes/${'k'.repeat(41)} too_long`])
    expect(create('{"":1}')).toEqual(['/customAttributes/ too_short'])
  })

  test('refuse what cannot be stored, in keys and in values', () => {
    expect(create('{"a":"\\u0000","b":"\\ud800"}')).toEqual([
      '/customAttributes/a invalid_format',
      '/customAttributes/b invalid_format',
    ])
    expect(create('{"\\u0000":1}')).toEqual(['/customAttributes/\0 invalid_format'])
    expect(create('{"\\udc00":1}')).toEqual(['/customAttributes/\udc00 invalid_format'])
  })

  test('refuse lists, objects and numbers without end, each at its key', () => {
    expect(create('{"a":[1],"b/c":{},"d~":1e400,"e":1}')).toEqual([
      '/customAttributes/a invalid_type',
      '/customAttributes/b~1c invalid_type',
      '/customAttributes/d~0 invalid_type',
    ])
  })

  test('are an object', () => {
    for (const other of ['[]', '"a"', '1', 'true', 'null']) {
      expect(create(other)).toEqual(['/customAttributes invalid_type'])
    }
  })

  test('are up to 50 at creation', () => {
    expect(create(keys(0, 50))).toHaveProperty('customAttributes', JSON.parse(keys(0, 50)))
    expect(create(keys(0, 51))).toEqual(['/customAttributes too_many'])
    // Too many are not looked at one by one.
    expect(create(`{"":[],${keys(0, 50).slice(1)}`)).toEqual(['/customAttributes too_many'])
  })

  test('a key called __proto__ is a key like any other', () => {
    expect(json(create('{"__proto__":"x","constructor":1}'))).toBe('{"__proto__":"x","constructor":1}')
    expect(json(patch('{"__proto__":"x","a":1}', '{"__proto__":"y"}'))).toBe('{"__proto__":"y","a":1}')
    expect(json(patch('{"__proto__":"x","a":1}', '{"__proto__":null}'))).toBe('{"a":1}')
    expect(create('{"__proto__":{"a":1}}')).toEqual(['/customAttributes/__proto__ invalid_type'])
    expect(({} as Record<string, unknown>).a).toBeUndefined()
  })
})

describe('a PATCH of customAttributes', () => {
  test('adds and replaces the keys it names and leaves the others', () => {
    expect(json(patch('{"a":1,"b":2}', '{"b":"two","c":true}'))).toBe('{"a":1,"b":"two","c":true}')
  })

  test('deletes with null what is there, and null is no error where nothing is', () => {
    expect(json(patch('{"a":1,"b":2}', '{"a":null,"z":null}'))).toBe('{"b":2}')
    expect(json(create('{"a":null,"b":2}'))).toBe('{"b":2}')
  })

  test('of nothing changes nothing', () => {
    expect(json(patch('{"a":1}', '{}'))).toBe('{"a":1}')
  })

  test('cannot fill up to more than 50 together, though neither has as many', () => {
    expect(patch(keys(0, 30), keys(30, 50))).not.toBeInstanceOf(Array)
    expect(patch(keys(0, 30), keys(30, 51))).toEqual(['/customAttributes too_many'])
  })

  test('may replace some of 50 by others at once', () => {
    const replaced = {
      ...Object.fromEntries([...Array(10).keys()].map((n) => [`k${n}`, null])),
      ...JSON.parse(keys(50, 60)),
    }
    const after = patch(keys(0, 50), JSON.stringify(replaced))
    expect(Object.keys((after as { customAttributes: object }).customAttributes)).toHaveLength(50)
  })
})
