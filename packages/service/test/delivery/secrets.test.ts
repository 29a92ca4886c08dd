import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSecretBox, newSecret, SecretBoxError } from '../../src/delivery/endpoint/secrets.ts'

const owner = {
  organizationId: '019c1234-0000-7000-8000-000000000001',
  webhookId: '019c1234-0000-7000-8000-000000000002',
}
const key = randomBytes(32)
const box = createSecretBox(key)

test('a secret is whsec_ and 32 random bytes in base64 with padding', () => {
  const secrets = Array.from({ length: 1_000 }, newSecret)
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(atob(secret.slice(6))).toHaveLength(32)
  }
  expect(new Set(secrets).size).toBe(1_000)
})

test('what was sealed opens again, and is not to be seen in between', () => {
  fc.assert(
    fc.property(fc.string(), (secret) => {
      const sealed = box.seal(secret, owner)
      expect(createSecretBox(Buffer.from(key)).open(sealed, owner)).toBe(secret)
      expect(sealed).toHaveLength(29 + Buffer.byteLength(secret))
      if (secret.length > 3) expect(sealed.includes(secret)).toBe(false)
    }),
  )
})

test('bytes of a driver, with others around them in memory, open too', () => {
  const sealed = box.seal('whsec_x', owner)
  const around = new Uint8Array(100)
  around.set(sealed, 7)
  expect(box.open(around.subarray(7, 7 + sealed.length), owner)).toBe('whsec_x')
})

test('sealed twice is sealed differently', () => {
  const nonces = Array.from({ length: 1_000 }, () => box.seal('x', owner).subarray(1, 13).toString('hex'))
  expect(new Set(nonces).size).toBe(1_000)
})

test('any flipped bit, and any byte missing or added, is refused', () => {
  const sealed = box.seal(newSecret(), owner)
  const refused = (bytes: Uint8Array) => expect(() => box.open(bytes, owner)).toThrow(SecretBoxError)
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    refused(sealed.map((byte, n) => (n === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte)))
  }
  for (let length = 0; length < sealed.length; length++) refused(sealed.subarray(0, length))
  refused(Buffer.concat([sealed, Buffer.of(0)]))
})

test('another key, organization or endpoint does not open it', () => {
  const sealed = box.seal('whsec_x', owner)
  const other = '019c1234-0000-7000-8000-000000000003'
  const attempts = [
    () => createSecretBox(randomBytes(32)).open(sealed, owner),
    () => box.open(sealed, { ...owner, organizationId: other }),
    () => box.open(sealed, { ...owner, webhookId: other }),
    () => box.open(sealed, { organizationId: owner.webhookId, webhookId: owner.organizationId }),
  ]
  for (const attempt of attempts) expect(attempt).toThrow(/DESKWIRE_ENCRYPTION_KEY .* is not the key/)
})

test('the message says what is wrong, and for which endpoint, without the secret', () => {
  const sealed = box.seal('whsec_x', owner)
  const later = Buffer.concat([Buffer.of(2), sealed.subarray(1)])
  expect(() => box.open(later, owner)).toThrow(`${owner.webhookId} is stored in format 2`)
  expect(() => box.open(sealed.subarray(0, 20), owner)).toThrow(`${owner.webhookId} is cut short`)
  expect(() => box.open(sealed.fill(0, 20), owner)).toThrow(/^(?!.*whsec_)/)
})

test('a key of another length is refused at once', () => {
  expect(() => createSecretBox(randomBytes(16))).toThrow('16 bytes')
})
