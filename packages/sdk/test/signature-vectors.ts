/**
 * The published vectors of vectors/signature.json, as they are made: signatures by node:crypto alone, verdicts
 * written down by hand. Nothing here is the SDK's, so that an error of the SDK cannot be published as its own proof.
 */
import { createHmac } from 'node:crypto'
import type { Rejection } from '../src/index.ts'

export interface Vector {
  name: string
  /** Secrets that the receiver knows. */
  secrets: string[]
  /** X-Service-Signature; null when there was none. */
  header: string | null
  /** Base64. */
  body: string
  /** Unix seconds. */
  now: number
  /** Seconds. */
  tolerance: number
  expected: 'accept' | 'reject'
  /** Why it is refused, in the SDK's words; null when it is accepted. */
  reason: Rejection | null
}

const secret = 'whsec_c2VjcmV0LW9mLXRoZS1kb2N1bWVudGF0aW9uLTAwMDE'
const oldSecret = 'whsec_c2VjcmV0LW9mLXRoZS1kb2N1bWVudGF0aW9uLTAwMDA'
const otherSecret = 'whsec_c2VjcmV0LW9mLXNvbWVib2R5LWVsc2UtMDAwMDAwMDA'
/** As new secrets are; those above are of earlier releases. */
const paddedSecret = `whsec_${Buffer.from('secret-of-the-documentation+0002').toString('base64')}`
const now = 1_769_851_800
const event = (data: unknown) =>
  JSON.stringify({
    id: '019c1234-0000-7000-8000-000000000001',
    type: 'ticket.created',
    apiVersion: 'v1',
    createdAt: '2026-01-31T09:30:00.000Z',
    organizationId: '019c1234-0000-7000-8000-000000000000',
    data,
  })
const body = event({ object: 'ticket', subject: 'The engine halts' })

/** The signature over a `t` as any text and a body as any bytes. */
export const hmac = (key: string, t: string | number, signed: string | Uint8Array): string =>
  createHmac('sha256', key).update(`${t}.`).update(signed).digest('hex')

const good = hmac(secret, now, body)

type Case = Partial<Omit<Vector, 'name' | 'body' | 'expected' | 'reason'>> & { body?: string | Uint8Array }

const vector = (name: string, reason: Rejection | null, given: Case): Vector => {
  const content = given.body ?? body
  return {
    name,
    secrets: given.secrets ?? [secret],
    header: given.header === undefined ? `t=${now},v1=${hmac(secret, now, content)}` : given.header,
    body: Buffer.from(content).toString('base64'),
    now: given.now ?? now,
    tolerance: given.tolerance ?? 300,
    expected: reason === null ? 'accept' : 'reject',
    reason,
  }
}
const accept = (name: string, given: Case = {}) => vector(name, null, given)
const mismatch = (name: string, given: Case) => vector(name, 'signature_mismatch', given)
const malformed = (name: string, header: string) => vector(name, 'malformed_header', { header })

/** A header whose `t` is written strangely, and rightly signed over that very text. */
const strangeT = (name: string, t: string) => malformed(name, `t=${t},v1=${hmac(secret, t, body)}`)

const wrong = (n: number) => n.toString(16).padStart(64, '0')

export const makeVectors = (): Vector[] => [
  accept('valid'),
  accept('valid, unicode body', { body: event({ subject: 'Zoë ☕ 日本語 𝄞 \u2028 e\u0301' }) }),
  accept('valid, body with white space and a final line break', {
    body: `${body.replaceAll(',', ', ')}\r\n`,
  }),
  accept('valid, body with a byte order mark', { body: `\ufeff${body}` }),
  accept('valid, binary body', { body: Uint8Array.from({ length: 256 }, (_, byte) => byte) }),
  accept('valid, empty body', { body: '' }),
  accept('a secret in base64 with padding: its text is the key', {
    secrets: [paddedSecret],
    header: `t=${now},v1=${hmac(paddedSecret, now, body)}`,
  }),
  mismatch('a secret in base64: what it stands for is not the key', {
    secrets: [paddedSecret],
    header: `t=${now},v1=${createHmac('sha256', Buffer.from(paddedSecret.slice(6), 'base64'))
      .update(`${now}.${body}`)
      .digest('hex')}`,
  }),
  mismatch('the body lost its final line break', { header: `t=${now},v1=${hmac(secret, now, `${body}\n`)}` }),
  mismatch('the body was parsed and written anew', {
    body: JSON.stringify(JSON.parse(body), null, 2),
    header: `t=${now},v1=${good}`,
  }),

  accept('exactly at the tolerance, past', { now: now + 300 }),
  accept('exactly at the tolerance, future', { now: now - 300 }),
  vector('expired by a second', 'timestamp_expired', { now: now + 301 }),
  vector('in the future by a second', 'timestamp_in_future', { now: now - 301 }),
  accept('a wider tolerance', { now: now + 3600, tolerance: 3600 }),
  vector('tolerance 0 is no switch', 'timestamp_expired', { now: now + 1, tolerance: 0 }),
  vector('expired by a century', 'timestamp_expired', { now: now + 3_155_760_000 }),
  mismatch('t was moved after signing', { header: `t=${now + 1},v1=${good}` }),
  mismatch('t is not part of what was signed', {
    header: `t=${now},v1=${createHmac('sha256', secret).update(body).digest('hex')}`,
  }),

  accept('rotation: the new secret first, the receiver knows the new', {
    header: `t=${now},v1=${good},v1=${hmac(oldSecret, now, body)}`,
  }),
  accept('rotation: the new secret first, the receiver knows the old', {
    secrets: [oldSecret],
    header: `t=${now},v1=${good},v1=${hmac(oldSecret, now, body)}`,
  }),
  accept('rotation: one signature, the receiver knows both secrets', { secrets: [oldSecret, secret] }),
  mismatch('rotation is over, the receiver knows the old secret', { secrets: [oldSecret] }),
  mismatch('signed with the secret of somebody else', {
    header: `t=${now},v1=${hmac(otherSecret, now, body)}`,
  }),
  mismatch('the key is the secret without whsec_', {
    header: `t=${now},v1=${hmac(secret.slice(6), now, body)}`,
  }),
  mismatch('the key is what the base64 in the secret stands for', {
    header: `t=${now},v1=${createHmac('sha256', Buffer.from(secret.slice(6), 'base64url'))
      .update(`${now}.${body}`)
      .digest('hex')}`,
  }),

  accept('the right v1 last of forty', {
    header: `t=${now},${Array.from({ length: 39 }, (_, n) => `v1=${wrong(n)},`).join('')}v1=${good}`,
  }),
  accept('v1 before t', { header: `v1=${good},t=${now}` }),
  accept('other schemes are passed over', {
    header: `t=${now},v0=${wrong(1)},v2=abc,v11=${wrong(2)},v1=${good}`,
  }),
  accept('entries without a name or a value, and empty ones, are passed over', {
    header: `t=${now},,v1,=,abc,v1=,v1=${good},`,
  }),
  mismatch('the right signature under v0, a wrong one under v1', {
    header: `t=${now},v0=${good},v1=${wrong(0)}`,
  }),
  malformed('only another scheme', `t=${now},v0=${good}`),
  malformed('names are case-sensitive: V1', `t=${now},V1=${good}`),
  malformed('names are case-sensitive: T', `T=${now},v1=${good}`),

  mismatch('one hex digit short', { header: `t=${now},v1=${good.slice(1)}` }),
  mismatch('one hex digit long', { header: `t=${now},v1=${good}0` }),
  mismatch('half of the signature', { header: `t=${now},v1=${good.slice(0, 32)}` }),
  mismatch('the signature twice in one', { header: `t=${now},v1=${good}${good}` }),
  mismatch('the last digit changed', {
    header: `t=${now},v1=${good.slice(0, 63)}${good.endsWith('0') ? '1' : '0'}`,
  }),
  mismatch('an empty v1', { header: `t=${now},v1=` }),
  mismatch('upper-case hex', { header: `t=${now},v1=${good.toUpperCase()}` }),
  mismatch('base64 in place of hex', {
    header: `t=${now},v1=${Buffer.from(good, 'hex').toString('base64')}`,
  }),
  mismatch('64 characters that are no hex', { header: `t=${now},v1=${'z'.repeat(64)}` }),
  mismatch('64 characters beyond ASCII', { header: `t=${now},v1=${'é'.repeat(64)}` }),
  mismatch('white space before the signature', { header: `t=${now},v1= ${good}` }),
  malformed('white space before v1', `t=${now}, v1=${good}`),

  vector('no header', 'missing_header', { header: null }),
  vector('an empty header', 'missing_header', { header: '' }),
  malformed('no t', `v1=${good}`),
  malformed('no v1', `t=${now}`),
  malformed('garbage', 'Bearer whatever; this is = not, a signature'),
  malformed('very long garbage', 'x'.repeat(16_384)),
  malformed('separated by semicolons', `t=${now};v1=${good}`),
  strangeT('t is empty', ''),
  strangeT('t is a word', 'now'),
  strangeT('t is NaN', 'NaN'),
  strangeT('t with a plus', `+${now}`),
  strangeT('t with a minus', `-${now}`),
  strangeT('t with white space before', ` ${now}`),
  strangeT('t with white space after', `${now} `),
  strangeT('t with a fraction', `${now}.0`),
  strangeT('t with an exponent', '1.7698518e9'),
  strangeT('t in hex', `0x${now.toString(16)}`),
  strangeT('t with something behind the digits', `${now}x`),
  strangeT('t with digits grouped', '1_769_851_800'),
  strangeT(
    't in full-width digits',
    [...String(now)].map((digit) => String.fromCodePoint(0xff10 + Number(digit))).join(''),
  ),
  strangeT('t with sixteen digits', '1769851800000000'),
  strangeT('t with a thousand digits', '9'.repeat(1_000)),
  mismatch('t with a leading zero that was not signed', { header: `t=0${now},v1=${good}` }),
  vector('t in milliseconds', 'timestamp_in_future', {
    header: `t=${now}000,v1=${hmac(secret, `${now}000`, body)}`,
  }),
  malformed('t twice, both the same', `t=${now},t=${now},v1=${good}`),
  malformed(
    't twice, an old delivery made to look new',
    `t=${now - 900},v1=${hmac(secret, now - 900, body)},t=${now}`,
  ),
]

/** As committed: one line a member, so that a difference shows where it is. */
export const vectorFile = (vectors: readonly object[]): string =>
  `[\n${vectors
    .map((one) => {
      const members = Object.entries(one).map(
        ([name, value]) => `    ${JSON.stringify(name)}: ${textOf(value)}`,
      )
      return `  {\n${members.join(',\n')}\n  }`
    })
    .join(',\n')}\n]\n`

const textOf = (value: unknown) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value)
  return JSON.stringify(value, null, 2).replaceAll('\n', '\n    ')
}
