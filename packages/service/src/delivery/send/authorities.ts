/** Whose certificates are believed. */
import { X509Certificate } from 'node:crypto'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

/**
 * The usual authorities, and those of `pem` (DESKWIRE_TARGET_CA) beside them. Made once for all connections: reading
 * the authorities takes longer than a handshake. Throws when `pem` holds no certificate, or one that is broken:
 * OpenSSL would pass over it in silence.
 */
export function trustAuthorities(pem: string | null): SecureContext {
  if (pem === null) return createSecureContext()
  const own = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  if (own.length === 0) throw new Error('There is no certificate in PEM form')
  return createSecureContext({
    ca: [...getCACertificates('default'), ...own.map((text) => new X509Certificate(text).toString())],
  })
}
