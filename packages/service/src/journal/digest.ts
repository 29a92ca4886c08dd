import { createHash } from 'node:crypto'

/** 2^64, in decimal: digests are sums modulo it. */
export const digestModulus = '18446744073709551616'

/**
 * A row's part in its kind's checkpoint: the first eight bytes of SHA-256(`<id>:<updatedAt>`), as a signed
 * decimal (specification 7.8). `digest_term` in the database says the same.
 */
export function digestTerm(id: string, updatedAt: string): string {
  return createHash('sha256').update(`${id}:${updatedAt}`).digest().readBigInt64BE(0).toString()
}

/** A sum of terms modulo 2^64, given in decimal, as the wire shows it: 16 hex digits. */
export function formatDigest(sum: string): string {
  return BigInt.asUintN(64, BigInt(sum)).toString(16).padStart(16, '0')
}
