/** An implementation that is not ours reads the same header format: the package `stripe`. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import Stripe from 'stripe'
import { describe, expect, test } from 'vitest'
import { signWebhook, verifySignature } from '../src/index.ts'
import type { Vector } from './signature-vectors.ts'

const { webhooks } = new Stripe('sk_test_unused')

const vectors: Vector[] = JSON.parse(
  readFileSync(new URL('../vectors/signature.json', import.meta.url), 'utf8'),
)

/** Where its rules are others, and why. It takes one secret, so what a second one decides is not asked. */
const differences: Record<string, string> = {
  'valid, binary body': 'it decodes the body as UTF-8 before hashing',
  'valid, body with a byte order mark': 'its decoding drops the mark',
  'in the future by a second': 'it has no limit in the future',
  'entries without a name or a value, and empty ones, are passed over': 'an empty v1 is an error to it',
  't is NaN': 'it takes NaN for a number, which is never too old',
  't with sixteen digits': 'it has no limit in the future',
  't in milliseconds': 'it has no limit in the future',
  'tolerance 0 is no switch': 'tolerance 0 turns its check off',
  't with a leading zero that was not signed': 'it signs over the number, not over the text',
  't twice, both the same': 'it takes the last t',
}

const accepts = (vector: Vector, secret: string): boolean => {
  const body = Buffer.from(vector.body, 'base64')
  try {
    const { header, tolerance, now } = vector
    // The tests' own clock is the last argument, in milliseconds.
    webhooks.signature!.verifyHeader(body, header ?? '', secret, tolerance, undefined, now * 1000)
    return true
  } catch {
    // Mostly its own error, but a TypeError or RangeError for some malformed entries: refused all the same.
    return false
  }
}

describe.each(vectors)('$name', (vector) => {
  const { name, secrets, expected } = vector
  const verdict = () => (secrets.some((secret) => accepts(vector, secret)) ? 'accept' : 'reject')
  const difference = differences[name]

  test(difference === undefined ? 'judged alike' : `judged otherwise: ${difference}`, () => {
    if (difference === undefined) expect(verdict()).toBe(expected)
    else expect(verdict()).not.toBe(expected)
  })
})

test('every difference is about a vector that exists', () => {
  expect(vectors.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(differences)))
})

const texts = fc.json()
const secrets = fc.stringMatching(/^whsec_[\w-]{1,43}$/)

test('it accepts what we sign, and gives the event', async () => {
  await fc.assert(
    fc.asyncProperty(texts, secrets, async (text, secret) => {
      const header = await signWebhook(text, ['whsec_another', secret])
      expect(webhooks.constructEvent(text, header, secret, 300)).toEqual(JSON.parse(text))
    }),
  )
})

test('we sign as it does, and accept what it signs', async () => {
  await fc.assert(
    fc.asyncProperty(texts, secrets, async (payload, secret) => {
      const timestamp = 1_769_851_800
      const header = webhooks.generateTestHeaderString({ payload, secret, timestamp })
      expect(await signWebhook(payload, secret, { timestamp })).toBe(header)
      await verifySignature(payload, { 'x-service-signature': header }, secret, { now: timestamp })
    }),
  )
})
