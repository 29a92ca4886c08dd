/**
 * Verification of the asymmetric signature (`v1a`) with node:crypto alone. The endpoint needs "v1a" in its signatures. What else a
 * receiver does is in receiver.ts.
 */
import { createPublicKey, type JsonWebKeyInput, verify } from 'node:crypto'

/**
 * Whether one of these keys signed this body, within five minutes of now. `keys` are those of
 * `/.well-known/jwks.json?organizationId=…`, an address that you configure.
 */
export function isSigned(
  body: Uint8Array,
  headers: Readonly<Record<string, string | undefined>>,
  keys: readonly JsonWebKeyInput['key'][],
  now = Date.now() / 1_000,
): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp = '', 'webhook-signature': header = '' } = headers
  if (!/^[0-9]{1,15}$/.test(timestamp) || Math.abs(now - Number(timestamp)) > 300) return false
  const message = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body])
  const signatures = header.split(' ').filter((entry) => entry.startsWith('v1a,'))
  return keys.some((jwk) => {
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    return signatures.some((entry) => verify(null, message, key, Buffer.from(entry.slice(4), 'base64')))
  })
}
