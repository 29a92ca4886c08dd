/** The asymmetric signature, made by node:crypto and verified by the SDK. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  examineSignature,
  type PublicKey,
  type Rejection,
  SignatureError,
  verifyAsymmetric,
  verifyAsymmetricSignature,
} from '../src/index.ts'

const now = 1_769_851_800
const body =
  '{"id":"e-1","type":"ticket.created","apiVersion":"v1","createdAt":"2026-01-31T09:30:00.000Z","organizationId":"o-1","data":{}}'
const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const key = jwkOf(publicKey)
const other = jwkOf(generateKeyPairSync('ed25519').publicKey)

function jwkOf(of: KeyObject): PublicKey {
  return { ...of.export({ format: 'jwk' }), use: 'sig', alg: 'EdDSA' } as unknown as PublicKey
}

function signed(of = body): Record<string, string> {
  const signature = sign(null, Buffer.from(`e-1.${now}.${of}`), privateKey).toString('base64')
  return {
    'Webhook-Id': 'e-1',
    'Webhook-Timestamp': String(now),
    'Webhook-Signature': `v1,YWJj v1a,YWJj v1a,${signature}`,
  }
}

/** Why it is refused; null when it is not. */
const refusal = (raw: string, headers: Record<string, string>, keys = [key], at = now) =>
  verifyAsymmetricSignature(raw, headers, keys, { now: at }).then(
    () => null,
    (error) => {
      expect(error).toBeInstanceOf(SignatureError)
      return (error as SignatureError).code
    },
  )

test('a delivery is accepted by any of the keys, and gives its event', async () => {
  expect(await verifyAsymmetric(body, signed(), [other, key], { now })).toMatchObject({
    id: 'e-1',
    type: 'ticket.created',
  })
  expect(await refusal('no event', signed('no event'))).toBeNull()
  await expect(verifyAsymmetric('no event', signed('no event'), [key], { now })).rejects.toThrow(
    SignatureError,
  )
  expect(await refusal(body, signed(), [key], now + 300)).toBeNull()
})

test.each<[string, Rejection, () => Promise<unknown>]>([
  ['another key', 'signature_mismatch', () => refusal(body, signed(), [other])],
  ['a changed body', 'signature_mismatch', () => refusal(`${body} `, signed())],
  ['another id', 'signature_mismatch', () => refusal(body, { ...signed(), 'Webhook-Id': 'e-2' })],
  [
    'another time',
    'signature_mismatch',
    () => refusal(body, { ...signed(), 'Webhook-Timestamp': String(now + 1) }),
  ],
  ['a time that is over', 'timestamp_expired', () => refusal(body, signed(), [key], now + 301)],
  ['a time to come', 'timestamp_in_future', () => refusal(body, signed(), [key], now - 301)],
  [
    'no number as its time',
    'malformed_header',
    () => refusal(body, { ...signed(), 'Webhook-Timestamp': 'now' }),
  ],
  ['no v1a', 'malformed_header', () => refusal(body, { ...signed(), 'Webhook-Signature': 'v1,YWJj' })],
  ['no base64', 'signature_mismatch', () => refusal(body, { ...signed(), 'Webhook-Signature': 'v1a,-' })],
  ['no header', 'missing_header', () => refusal(body, {})],
  [
    'more signatures than a sender adds',
    'signature_mismatch',
    () => {
      const headers = signed()
      return refusal(body, {
        ...headers,
        'Webhook-Signature': `${'v1a,YWJj '.repeat(8)}${headers['Webhook-Signature']}`,
      })
    },
  ],
])('refused: %s', async (_, code, refused) => {
  expect(await refused()).toBe(code)
})

test.each<[string, PublicKey[]]>([
  ['none', []],
  ['of another curve', [{ ...key, crv: 'X25519' }]],
  ['of another type', [{ kty: 'EC', crv: 'P-256', x: 'YWJj' }]],
  ['cut short', [{ ...key, x: key.x!.slice(4) }]],
  ['without its value', [{ kty: 'OKP', crv: 'Ed25519' }]],
])('a key that cannot verify is the fault of the receiver: %s', async (_, keys) => {
  await expect(verifyAsymmetricSignature(body, signed(), keys, { now })).rejects.toThrow(TypeError)
})

test('it is examined rule by rule', async () => {
  const headers = Object.fromEntries(
    Object.entries(signed()).map(([name, value]) => [name.toLowerCase(), value]),
  )
  const examined = (raw: string, publicKeys = [key]) =>
    examineSignature('v1a', {
      body: new TextEncoder().encode(raw),
      headers,
      secrets: [],
      publicKeys,
      now,
      tolerance: 300,
    })
  const whole = await examined(body)
  expect([whole.verified, whole.rules.map(({ holds }) => holds)]).toEqual([true, [true, true, true, true]])
  expect(whole.rules.at(-1)).toMatchObject({ seen: '2 v1a, 1 public key' })
  expect(await examined(`${body}\n`)).toMatchObject({
    reason: 'signature_mismatch',
    cause: expect.stringMatching(/line break that was not signed/),
  })
  expect(await examined(body, [other])).toMatchObject({ reason: 'signature_mismatch', cause: null })
})
