import { signWebhook, verifySignature } from '@deskwire/sdk'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSigner } from '../../src/delivery/signer.ts'

const owner = { organizationId: 'o', webhookId: 'w' }
const open = (sealed: Buffer) => sealed.toString()
const sealed = (...secrets: readonly string[]) => secrets.map((secret) => Buffer.from(secret))
const secret = fc.stringMatching(/^whsec_[\w-]{1,43}$/)
const bodies = fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array({ maxLength: 200 }))
const times = fc.integer({ min: 0, max: 4_102_444_800 })

test('it signs as the SDK does, and the SDK verifies it, however few keys are kept', async () => {
  const signer = createSigner(open, { capacity: 2 })
  const lists = fc.array(secret, { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(lists, times, bodies, async (secrets, now, body) => {
      const header = signer(sealed(...secrets), owner)(now, body)
      expect(header).toBe(await signWebhook(body, secrets, { timestamp: now }))
      for (const one of secrets) expect((await verifySignature(body, header, one, { now })).ok).toBe(true)
    }),
  )
})

test('a key that was dropped since signs all the same', () => {
  const signer = createSigner(open, { capacity: 1 })
  const first = signer(sealed('whsec_a'), owner)
  const header = first(1000, 'x')
  signer(sealed('whsec_b', 'whsec_c'), owner)
  expect(first(1000, 'x')).toBe(header)
  expect(signer(sealed('whsec_a'), owner)(1000, 'x')).toBe(header)
})

test('without a secret nothing is signed', () => {
  expect(() => createSigner(open)([], owner)).toThrow(RangeError)
})

test('a secret is opened once for each owner, and one that does not open is tried again', () => {
  const opened: string[] = []
  let broken = true
  const signer = createSigner((sealed, { webhookId }) => {
    if (broken) throw new Error('does not open')
    opened.push(`${webhookId} ${sealed}`)
    return `${sealed} of ${webhookId}`
  })
  expect(() => signer(sealed('a'), owner)).toThrow('does not open')
  broken = false
  const first = signer(sealed('a'), owner)(1000, 'x')
  expect(signer(sealed('a'), owner)(1000, 'x')).toBe(first)
  expect(signer(sealed('a'), { ...owner, webhookId: 'v' })(1000, 'x')).not.toBe(first)
  expect(signer(sealed('b'), owner)(1000, 'x')).not.toBe(first)
  expect(opened).toEqual(['w a', 'v a', 'w b'])
})
