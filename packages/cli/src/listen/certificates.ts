/**
 * Certificate authorities and certificates (X.509, ECDSA P-256), made in memory. Node can sign but not write
 * certificates, and libraries that can bring some twenty packages and a polyfill: the little DER that it takes is
 * written here, and judged by every TLS handshake of the tests. For receivers on machines of one's own and for tests;
 * a public receiver has a certificate of a public authority.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIP, isIPv4 } from 'node:net'

/** PEM, as `tls.createServer` takes them. */
export interface Certified {
  readonly key: string
  readonly cert: string
}

export interface Validity {
  readonly notBefore?: Date
  readonly notAfter?: Date
}

export interface Authority {
  /** What has to be trusted, as PEM. */
  readonly ca: string
  /** A certificate for these names and IP addresses, valid for a day from now unless said otherwise. */
  issue(names: readonly string[], validity?: Validity): Certified
}

/** An authority with what it takes to open it again. */
interface KeptAuthority extends Authority {
  /** Its private key, as PEM: whoever has it can certify anything to those who trust it. */
  readonly key: string
}

const dayMs = 24 * 60 * 60 * 1000

/** A new authority, which nobody trusts yet; valid for a day from now unless said otherwise. */
export function createAuthority(name = 'Deskwire test authority', validity?: Validity): KeptAuthority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ca = certificate({
    subject: name,
    publicKey,
    issuer: name,
    signingKey: privateKey,
    ...validity,
    extensions: [
      extension('2.5.29.19', true, sequence(boolean(true), integer(Buffer.from([0])))), // a CA, of leaves only
      extension('2.5.29.15', true, tagged(0x03, Buffer.from([1, 0b0000_0110]))), // signs certificates and CRLs
      extension('2.5.29.14', false, octets(keyIdentifier(publicKey))),
    ],
  })
  return { ...authorityOf(ca, name, privateKey), key: pem(privateKey) }
}

/** An authority that `createAuthority` made, from its two PEM texts. Throws when they do not belong together. */
export function openAuthority(ca: string, key: string): Authority {
  const certificate = new X509Certificate(ca)
  const signingKey = createPrivateKey(key)
  if (!certificate.checkPrivateKey(signingKey)) throw new Error('the key is not that of the certificate')
  const name = /^CN=(.*)$/m.exec(certificate.subject)?.[1]
  if (name === undefined) throw new Error('the certificate names nobody')
  return authorityOf(ca, name, signingKey)
}

function authorityOf(ca: string, name: string, signingKey: KeyObject): Authority {
  const identifier = keyIdentifier(createPublicKey(signingKey))
  return {
    ca,
    issue(names, validity) {
      const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const cert = certificate({
        subject: names[0] ?? 'nobody',
        publicKey: leaf.publicKey,
        issuer: name,
        signingKey,
        ...validity,
        extensions: [
          extension('2.5.29.19', true, sequence()), // not a CA
          extension('2.5.29.15', true, tagged(0x03, Buffer.from([7, 0b1000_0000]))), // signs handshakes
          extension('2.5.29.37', false, sequence(objectId('1.3.6.1.5.5.7.3.1'))), // of a server
          extension('2.5.29.17', false, sequence(...names.map(alternativeName))),
          extension('2.5.29.35', false, sequence(tagged(0x80, identifier))),
        ],
      })
      return { key: pem(leaf.privateKey), cert }
    },
  }
}

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string
}

interface Content extends Validity {
  readonly subject: string
  readonly publicKey: KeyObject
  readonly issuer: string
  readonly signingKey: KeyObject
  readonly extensions: readonly Buffer[]
}

/** RFC 5280, section 4.1. */
function certificate(content: Content): string {
  // From yesterday, for a clock that is a little behind.
  const { notBefore = new Date(Date.now() - dayMs), notAfter = new Date(Date.now() + dayMs) } = content
  const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'))
  const serial = randomBytes(16)
  serial.writeUInt8((serial.readUInt8(0) & 0x7f) | 0x40, 0)
  const toBeSigned = sequence(
    tagged(0xa0, integer(Buffer.from([2]))), // version 3
    integer(serial),
    ecdsaWithSha256,
    distinguishedName(content.issuer),
    sequence(time(notBefore), time(notAfter)),
    distinguishedName(content.subject),
    content.publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...content.extensions)),
  )
  const signature = sign('sha256', toBeSigned, content.signingKey)
  const der = sequence(toBeSigned, ecdsaWithSha256, tagged(0x03, Buffer.from([0]), signature))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

function distinguishedName(commonName: string): Buffer {
  const attribute = sequence(objectId('2.5.4.3'), tagged(0x0c, Buffer.from(commonName)))
  return sequence(tagged(0x31, attribute))
}

function alternativeName(name: string): Buffer {
  if (isIP(name) === 0) return tagged(0x82, Buffer.from(name))
  return tagged(0x87, isIPv4(name) ? Buffer.from(name.split('.').map(Number)) : encodeIPv6(name))
}

/** The 16 bytes of an IPv6 address without an embedded IPv4 one. */
export function encodeIPv6(address: string): Buffer {
  const [head = [], tail = []] = address
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))))
  const groups = [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail]
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 255]))
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return sequence(objectId(id), ...(critical ? [boolean(true)] : []), octets(value))
}

function keyIdentifier(publicKey: KeyObject): Buffer {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20)
}

function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content])
  if (length < 0x100) return Buffer.concat([Buffer.from([tag, 0x81, length]), content])
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 255]), content])
}

const sequence = (...parts: readonly Buffer[]) => tagged(0x30, ...parts)
const octets = (value: Buffer) => tagged(0x04, value)
const integer = (bytes: Buffer) => tagged(0x02, bytes)
const boolean = (value: boolean) => tagged(0x01, Buffer.from([value ? 0xff : 0]))

/** GeneralizedTime, from 2050 on, and UTCTime before, as RFC 5280 has it. */
function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/[-:T]|\.\d+/g, '')
  return at.getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(digits.slice(2)))
    : tagged(0x18, Buffer.from(digits))
}

function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second, ...rest].flatMap((part) => {
    const groups = [part & 0x7f]
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80)
    return groups
  })
  return tagged(0x06, Buffer.from(bytes))
}
