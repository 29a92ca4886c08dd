import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hashToken, isToken, newToken } from '../../src/auth/token.ts'

const published = 'dwk_0123456789ABCDEFGHIJKLMNOPQRST3bhm22'
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

describe('an API token', () => {
  test('is recognized as published in the documentation', () => {
    expect(isToken(published)).toBe(true)
  })

  test('that was just made has the shape and a right checksum, and is never made twice', () => {
    const made = Array.from({ length: 200 }, newToken)
    for (const token of made) {
      expect(token).toMatch(/^dwk_[0-9A-Za-z]{36}$/)
      expect(isToken(token)).toBe(true)
    }
    expect(new Set(made).size).toBe(200)
  })

  test('with any single character changed is refused', () => {
    for (const token of [published, newToken()]) {
      for (let at = 0; at < token.length; at++) {
        for (const to of `${alphabet}_- é`) {
          if (token[at] === to) continue
          expect(isToken(token.slice(0, at) + to + token.slice(at + 1)), `${at}: ${to}`).toBe(false)
        }
      }
    }
  })

  test('with two neighbours swapped is refused', () => {
    for (let at = 0; at < published.length - 1; at++) {
      const [a, b] = [published[at], published[at + 1]]
      if (a === b) continue
      expect(isToken(`${published.slice(0, at)}${b}${a}${published.slice(at + 2)}`)).toBe(false)
    }
  })

  test('cut short or lengthened is refused, and so is any other text', () => {
    for (let length = 0; length < published.length; length++) {
      expect(isToken(published.slice(0, length))).toBe(false)
    }
    for (const text of [`${published}0`, ` ${published}`, `${published}\n`, published.toUpperCase()]) {
      expect(isToken(text)).toBe(false)
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(isToken(text)).toBe(false)
      }),
    )
  })

  test('is stored as its SHA-256', () => {
    expect(hashToken('dwk_')).toBe(
      // printf dwk_ | sha256sum
      '776d47fc51214ffa0cad720987d0c3c5afa7988c763d5bb15277a071339a6caa',
    )
  })
})
