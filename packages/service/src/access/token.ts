/**
 * API tokens: `dwk_`, 30 random base62 characters, then the CRC-32 of those 34 as six base62 digits
 * (specification 3.1). The checksum lets a typo, or a scanner's find, be judged without a query. Only the SHA-256 of a
 * token is ever stored.
 */
import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const prefix = 'dwk_'
const randomLength = 30
const shape = /^dwk_[0-9A-Za-z]{36}$/

/** A new token: 178 bits of randomness from the system's generator. */
export function newToken(): string {
  let text = prefix
  for (let n = 0; n < randomLength; n++) text += alphabet[randomInt(alphabet.length)]
  return text + checksum(text)
}

/** Whether `text` has the shape of a token and its checksum agrees. */
export function isToken(text: string): boolean {
  const signed = prefix.length + randomLength
  return shape.test(text) && text.slice(signed) === checksum(text.slice(0, signed))
}

/** What is stored of a token: its SHA-256, here as hex. */
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
