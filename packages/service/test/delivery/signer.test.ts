import { signWebhook, verifySignature } from '@deskwire/sdk'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSigner } from '../../src/delivery/signer.ts'

const secret = fc.stringMatching(/^whsec_[\w-]{1,43}$/)
const bodies = fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array({ maxLength: 200 }))
const times = fc.integer({ min: 0, max: 4_102_444_800 })

test('it signs as the SDK does, and the SDK verifies it, however few keys are kept', async () => {
  const signer = createSigner({ capacity: 2 })
  const lists = fc.array(secret, { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(lists, times, bodies, async (secrets, now, body) => {
      const header = signer(secrets)(now, body)
      expect(header).toBe(await signWebhook(body, secrets, { timestamp: now }))
      for (const one of secrets) expect((await verifySignature(body, header, one, { now })).ok).toBe(true)
    }),
  )
})

test('a key that was dropped since signs all the same', () => {
  const signer = createSigner({ capacity: 1 })
  const first = signer(['whsec_a'])
  const header = first(1000, 'x')
  signer(['whsec_b', 'whsec_c'])
  expect(first(1000, 'x')).toBe(header)
  expect(signer(['whsec_a'])(1000, 'x')).toBe(header)
})

test('without a secret nothing is signed', () => {
  expect(() => createSigner()([])).toThrow(RangeError)
})
