/**
 * The published vectors of vectors/standard-webhooks.json, as they are made: signatures by node:crypto alone, verdicts
 * written down by hand. Nothing here is the SDK's, so that an error of the SDK cannot be published as its own proof.
 */
import { createHmac } from 'node:crypto'
import type { Rejection } from '../src/index.ts'

export interface StandardVector {
  name: string
  /** Secrets that the receiver knows. */
  secrets: string[]
  /** The headers that came, in lower case. */
  headers: Record<string, string>
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

const secretOf = (words: string) => `whsec_${Buffer.from(words.padEnd(32, '.')).toString('base64')}`
const secret = secretOf('the secret of the vectors, n. 1')
const oldSecret = secretOf('the secret of the vectors, n. 0')
const otherSecret = secretOf('the secret of somebody else')
const id = '019c1234-0000-7000-8000-000000000001'
const event = (data: unknown) =>
  JSON.stringify({
    id,
    type: 'ticket.created',
    apiVersion: 'v1',
    createdAt: '2026-01-31T09:30:00.000Z',
    organizationId: '019c1234-0000-7000-8000-000000000000',
    data,
  })
const body = event({ object: 'ticket', subject: 'The engine halts' })

/** The signature over an id and a time as any text and a body as any bytes. */
export const standardHmac = (
  key: string,
  of: { id?: string; timestamp: string | number; body?: string | Uint8Array },
): string =>
  createHmac('sha256', Buffer.from(key.slice(6), 'base64'))
    .update(`${of.id ?? id}.${of.timestamp}.`)
    .update(of.body ?? body)
    .digest('base64')

/** A time for those that are read years later; a verifier with a clock of its own needs those of now. */
export const publishedAt = 1_769_851_800

/** The vectors, signed about `now`, in unix seconds. */
export const makeStandardVectors = (now: number = publishedAt): StandardVector[] => {
  const good = standardHmac(secret, { timestamp: now })
  type Case = Partial<Omit<StandardVector, 'name' | 'headers' | 'body' | 'expected' | 'reason'>> & {
    body?: string | Uint8Array
    /** Laid over those that are right; undefined leaves one out. */
    headers?: Record<string, string | undefined>
  }
  const vector = (name: string, reason: Rejection | null, given: Case): StandardVector => {
    const content = given.body ?? body
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(now),
      'webhook-signature': `v1,${standardHmac(secret, { timestamp: now, body: content })}`,
      ...given.headers,
    }
    return {
      name,
      secrets: given.secrets ?? [secret],
      headers: Object.fromEntries(
        Object.entries(headers).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
      ),
      body: Buffer.from(content).toString('base64'),
      now: given.now ?? now,
      tolerance: given.tolerance ?? 300,
      expected: reason === null ? 'accept' : 'reject',
      reason,
    }
  }
  const accept = (name: string, given: Case = {}) => vector(name, null, given)
  const mismatch = (name: string, given: Case) => vector(name, 'signature_mismatch', given)
  const signatures = (...entries: string[]) => ({ headers: { 'webhook-signature': entries.join(' ') } })
  const missing = (name: string, headers: Record<string, string | undefined>) =>
    vector(name, 'missing_header', { headers })
  /** Of a time that is written strangely, and rightly signed over that very text. */
  const strangeTime = (name: string, timestamp: string) =>
    vector(name, 'malformed_header', {
      headers: {
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${standardHmac(secret, { timestamp })}`,
      },
    })
  const ofOld = standardHmac(oldSecret, { timestamp: now })
  const wrong = Buffer.alloc(32, 7).toString('base64')

  return [
    accept('valid'),
    accept('valid, unicode body', { body: event({ subject: 'Zoë ☕ 日本語 𝄞 \u2028 e\u0301' }) }),
    accept('valid, body with white space and a final line break', {
      body: `${body.replaceAll(',', ', ')}\r\n`,
    }),
    accept('valid, body with a byte order mark', { body: `\ufeff${body}` }),
    accept('valid, binary body', { body: Uint8Array.from({ length: 256 }, (_, byte) => byte) }),
    accept('valid, empty body', { body: '' }),
    accept('valid, the secret without whsec_', { secrets: [secret.slice(6)] }),
    mismatch('the body lost its final line break', {
      ...signatures(`v1,${standardHmac(secret, { timestamp: now, body: `${body}\n` })}`),
    }),
    mismatch('the body was parsed and written anew', {
      body: JSON.stringify(JSON.parse(body), null, 2),
      ...signatures(`v1,${good}`),
    }),

    accept('exactly at the tolerance, past', { now: now + 300 }),
    accept('exactly at the tolerance, future', { now: now - 300 }),
    vector('expired by a second', 'timestamp_expired', { now: now + 301 }),
    vector('in the future by a second', 'timestamp_in_future', { now: now - 301 }),
    accept('a wider tolerance', { now: now + 3600, tolerance: 3600 }),
    vector('tolerance 0 is no switch', 'timestamp_expired', { now: now + 1, tolerance: 0 }),
    vector('expired by a century', 'timestamp_expired', { now: now + 3_155_760_000 }),
    mismatch('the time was moved after signing', {
      headers: { 'webhook-timestamp': String(now + 1), 'webhook-signature': `v1,${good}` },
    }),
    mismatch('the id was changed after signing', {
      headers: { 'webhook-id': '019c1234-0000-7000-8000-000000000002', 'webhook-signature': `v1,${good}` },
    }),
    mismatch('id and time are no part of what was signed', {
      ...signatures(
        `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
          .update(body)
          .digest('base64')}`,
      ),
    }),

    accept(
      'rotation: the new secret first, the receiver knows the new',
      signatures(`v1,${good}`, `v1,${ofOld}`),
    ),
    accept('rotation: the new secret first, the receiver knows the old', {
      secrets: [oldSecret],
      ...signatures(`v1,${good}`, `v1,${ofOld}`),
    }),
    accept('rotation: one signature, the receiver knows both secrets', { secrets: [oldSecret, secret] }),
    mismatch('rotation is over, the receiver knows the old secret', { secrets: [oldSecret] }),
    mismatch('signed with the secret of somebody else', {
      ...signatures(`v1,${standardHmac(otherSecret, { timestamp: now })}`),
    }),
    mismatch('the key is the text of the secret', {
      ...signatures(`v1,${createHmac('sha256', secret).update(`${id}.${now}.${body}`).digest('base64')}`),
    }),

    accept(
      'the right entry last of forty',
      signatures(...Array<string>(39).fill(`v1,${wrong}`), `v1,${good}`),
    ),
    accept(
      'entries of other schemes are passed over',
      signatures(`v1a,${wrong}`, `v2,${wrong}`, `v1,${good}`),
    ),
    mismatch('the right signature under another scheme', signatures(`v2,${good}`, `v1,${wrong}`)),
    vector('only another scheme', 'malformed_header', signatures(`v1a,${good}`)),
    vector('schemes are case-sensitive', 'malformed_header', signatures(`V1,${good}`)),
    vector('a signature without a scheme', 'malformed_header', signatures(good)),
    mismatch('one character short', signatures(`v1,${good.slice(1)}`)),
    mismatch('without its padding', signatures(`v1,${good.slice(0, -1)}`)),
    mismatch('one character changed', signatures(`v1,${good.startsWith('A') ? 'B' : 'A'}${good.slice(1)}`)),
    mismatch('an empty signature', signatures('v1,')),
    mismatch('hex in place of base64', signatures(`v1,${Buffer.from(good, 'base64').toString('hex')}`)),
    vector('the form of the own header', 'malformed_header', signatures(`t=${now},v1=${good}`)),

    missing('no header', {
      'webhook-id': undefined,
      'webhook-timestamp': undefined,
      'webhook-signature': undefined,
    }),
    missing('no id', { 'webhook-id': undefined }),
    missing('no time', { 'webhook-timestamp': undefined }),
    missing('no signature', { 'webhook-signature': undefined }),
    missing('an empty id', {
      'webhook-id': '',
      'webhook-signature': `v1,${standardHmac(secret, { id: '', timestamp: now })}`,
    }),
    missing('an empty signature header', { 'webhook-signature': '' }),
    strangeTime('the time is a word', 'now'),
    strangeTime('the time is NaN', 'NaN'),
    strangeTime('the time with a plus', `+${now}`),
    strangeTime('the time with a fraction', `${now}.0`),
    strangeTime('the time with an exponent', `${now}e0`),
    strangeTime('the time in hex', `0x${now.toString(16)}`),
    strangeTime('the time with something behind the digits', `${now}x`),
    strangeTime('the time twice, as HTTP joins a repeated header', `${now}, ${now}`),
    strangeTime('the time with sixteen digits', `${now}000000`),
    mismatch('a leading zero that was not signed', {
      headers: { 'webhook-timestamp': `0${now}`, 'webhook-signature': `v1,${good}` },
    }),
  ]
}
