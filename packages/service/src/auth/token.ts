/**
 * API tokens: `dwk_`, 30 random base62 characters, then the CRC-32 of those 34 as six base62 digits (specification
 * 3.1). The checksum reveals a non-token without a query. The database stores the SHA-256. Link secrets and session
 * tokens differ in their prefixes.
 */
import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const prefixes = { key: 'dwk_', session: 'dws_', link: 'dwl_' } as const
const prefixLength = 4
const randomLength = 30
const shape = /^dw[ksl]_[0-9A-Za-z]{36}$/

type TokenOf = keyof typeof prefixes

/** 178 bits of randomness from the system's generator. */
export function newToken(of: TokenOf = 'key'): string {
  let text: string = prefixes[of]
  for (let n = 0; n < randomLength; n++) text += alphabet[randomInt(alphabet.length)]
  return text + checksum(text)
}

/** Whether `text` has the shape of such a token and its checksum agrees. */
export function isToken(text: string, of: TokenOf = 'key'): boolean {
  const signed = prefixLength + randomLength
  if (!text.startsWith(prefixes[of]) || !shape.test(text)) return false
  return text.slice(signed) === checksum(text.slice(0, signed))
}

/** Whether it has the form of a token that authenticates a request: of a key or a session. */
export function isBearer(text: string): boolean {
  return isToken(text) || isToken(text, 'session')
}

/** The SHA-256 of a token as hex, which is what the database stores. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}

/** Six base62 digits of the CRC-32 (IEEE), most significant first, zero-padded. */
function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let n = 0; n < 6; n++) {
    digits = alphabet[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
