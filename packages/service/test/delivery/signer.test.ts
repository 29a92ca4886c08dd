import { signStandardWebhook, signWebhook, verifySignature } from '@deskwire/sdk'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { expect, test, vi } from 'vitest'
import { anyCharacter } from '../../../testbed/any-character.ts'
import { createSigner } from '../../src/delivery/queue/signer.ts'

const owner = { organizationId: 'o', webhookId: 'w' }
const open = (sealed: Buffer) => sealed.toString()
const noKeys = () => []
const signedWith = (...secrets: readonly string[]) => ({
  sealedSecrets: secrets.map((secret) => Buffer.from(secret)),
  standardSignatures: false,
})
const secret = fc.stringMatching(/^whsec_[\w-]{1,43}$/)
const base64Secret = fc
  .uint8Array({ minLength: 1, maxLength: 40 })
  .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`)
const bodies = fc.oneof(fc.string({ unit: anyCharacter }), fc.uint8Array({ maxLength: 200 }))
const times = fc.integer({ min: 0, max: 4_102_444_800 })

test('it signs as the SDK does, and the SDK verifies it, however few keys are kept', async () => {
  const signer = createSigner(open, noKeys, { capacity: 2 })
  const lists = fc.array(secret, { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(lists, times, bodies, async (secrets, now, body) => {
      const { 'x-service-signature': header, ...others } = signer(signedWith(...secrets), owner)(
        'e',
        now,
        body,
      )
      expect(header).toBe(await signWebhook(body, secrets, { timestamp: now }))
      expect(others).toEqual({})
      const headers = { 'x-service-signature': header }
      for (const one of secrets) await verifySignature(body, headers, one, { now })
    }),
  )
})

test('with Standard Webhooks it does both, the one header as without', async () => {
  const signer = createSigner(open, noKeys, { capacity: 3 })
  const lists = fc.array(base64Secret, { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(lists, fc.uuid(), times, bodies, async (secrets, id, now, body) => {
      const endpoint = signedWith(...secrets)
      const own = signer(endpoint, owner)(id, now, body)
      const both = signer({ ...endpoint, standardSignatures: true }, owner)(id, now, body)
      expect(both).toEqual({
        ...own,
        ...(await signStandardWebhook(id, body, secrets, { timestamp: now })),
      })
      for (const one of secrets) await verifySignature(body, both, one, { now, scheme: 'standard' })
    }),
  )
})

test('the verifier of Standard Webhooks accepts it, with any secret that signs', () => {
  const signer = createSigner(open, noKeys)
  const lists = fc.array(base64Secret, { minLength: 1, maxLength: 4 })
  const now = 1_769_851_800
  vi.setSystemTime(now * 1000)
  try {
    fc.assert(
      fc.property(lists, fc.uuid(), fc.json(), (secrets, id, body) => {
        const headers = signer({ ...signedWith(...secrets), standardSignatures: true }, owner)(id, now, body)
        for (const one of secrets) expect(new Webhook(one).verify(body, headers)).toEqual(JSON.parse(body))
        expect(() => new Webhook(secrets[0]!).verify(`${body} `, headers)).toThrow('No matching signature')
      }),
    )
  } finally {
    vi.useRealTimers()
  }
})

test('a key that was dropped since signs all the same', () => {
  const signer = createSigner(open, noKeys, { capacity: 1 })
  const first = signer(signedWith('whsec_a'), owner)
  const headers = first('e', 1000, 'x')
  signer(signedWith('whsec_b', 'whsec_c'), owner)
  expect(first('e', 1000, 'x')).toEqual(headers)
  expect(signer(signedWith('whsec_a'), owner)('e', 1000, 'x')).toEqual(headers)
})

test('without a secret nothing is signed', () => {
  expect(() => createSigner(open, noKeys)(signedWith(), owner)).toThrow(RangeError)
})

test('a secret is opened once for each owner, and one that does not open is tried again', () => {
  const opened: string[] = []
  let broken = true
  const signer = createSigner((sealed, { webhookId }) => {
    if (broken) throw new Error('does not open')
    opened.push(`${webhookId} ${sealed}`)
    return `${sealed} of ${webhookId}`
  }, noKeys)
  const signed = (secret: string, of = owner) => signer(signedWith(secret), of)('e', 1000, 'x')
  expect(() => signed('a')).toThrow('does not open')
  broken = false
  const first = signed('a')
  expect(signed('a')).toEqual(first)
  expect(signed('a', { ...owner, webhookId: 'v' })).not.toEqual(first)
  expect(signed('b')).not.toEqual(first)
  expect(opened).toEqual(['w a', 'v a', 'w b'])
})
