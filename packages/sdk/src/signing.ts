/** What both ways of signing share: the raw body, the secrets, the time, and how a delivery is refused. */
import { parseEvent, type WebhookEvent } from './event.ts'

/** A body exactly as it was received or will be sent: never the parsed object, nor that object written again. */
export type RawBody = string | Uint8Array | ArrayBuffer

/** One secret, or several while a rotation lasts; any of them will do. */
export type Secrets = string | readonly string[]

/** HMAC-SHA256 under one secret, as text, over the UTF-8 bytes of `prefix` followed by `body`. */
export type Hmac = (prefix: string, body: string | Uint8Array) => string

export type Rejection =
  | 'missing_header'
  | 'malformed_header'
  | 'timestamp_expired'
  | 'timestamp_in_future'
  | 'signature_mismatch'
  | 'not_an_event'

/** A delivery to answer with a 4xx. `detail` says what to do next; it holds nothing secret. */
export interface Rejected {
  ok: false
  reason: Rejection
  detail: string
}

export interface VerifyOptions {
  /** Seconds by which the time of signing may differ from now, either way, itself included. Default 300. */
  tolerance?: number
  /** Now, in unix seconds: for tests. */
  now?: number
}

/** What to do about each reason, whatever the headers are called. */
export const commonAdvice = {
  timestamp_expired: 'Signed too long ago: a replay, or the clock of this machine is fast. Check it.',
  timestamp_in_future: 'Signed in the future: the clock of this machine is slow. Check it.',
  signature_mismatch:
    'No v1 fits. Verify the raw bytes, not parsed JSON, with the secret of this very endpoint.',
  not_an_event: 'The signature is right, but the body is no event envelope. Update the SDK.',
} as const

/** A delivery whose signature is right, with its event; refused when its body is none. */
export const withEvent = (
  rawBody: RawBody,
  verdict: { ok: true } | Rejected,
): { ok: true; event: WebhookEvent } | Rejected => {
  if (!verdict.ok) return verdict
  const event = parseEvent(bytesOf(rawBody))
  return event === undefined
    ? { ok: false, reason: 'not_an_event', detail: commonAdvice.not_an_event }
    : { ok: true, event }
}

export const unixSeconds = (): number => Math.floor(Date.now() / 1000)

/** Whole seconds of fifteen digits at most: every such number is exact, in any language. */
export const isUnixSeconds = (text: string): boolean => /^[0-9]{1,15}$/.test(text)

/** Throws TypeError for a time that no receiver would read. */
export const requireUnixSeconds = (timestamp: number): void => {
  if (isUnixSeconds(String(timestamp))) return
  throw new TypeError(`timestamp must be whole unix seconds, not ${timestamp}`)
}

/** Why a delivery signed at `timestamp` is refused now; undefined when it is not. */
export const untimely = (
  timestamp: string,
  { tolerance = 300, now = unixSeconds() }: VerifyOptions,
): 'timestamp_expired' | 'timestamp_in_future' | undefined => {
  // Asked so that a `now` or a tolerance that is not a number refuses.
  const age = now - Number(timestamp)
  if (!(age <= tolerance)) return 'timestamp_expired'
  return age >= -tolerance ? undefined : 'timestamp_in_future'
}

/** Takes the same time wherever two texts of one length differ. */
export const equal = (given: string, expected: string): boolean => {
  if (given.length !== expected.length) return false
  let difference = 0
  for (let n = 0; n < expected.length; n++) difference |= given.charCodeAt(n) ^ expected.charCodeAt(n)
  return difference === 0
}

const encoder = new TextEncoder()

export const utf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text)

/** By WebCrypto. */
export const hmacSha256 = async (
  key: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> => {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, message))
}

/** The bytes of `prefix`, and then those of the body. */
export const joined = (prefix: string, body: Uint8Array): Uint8Array<ArrayBuffer> => {
  const start = utf8(prefix)
  const message = new Uint8Array(start.length + body.length)
  message.set(start)
  message.set(body, start.length)
  return message
}

/** Throws TypeError for a body that is not raw. */
export const bytesOf = (body: RawBody): Uint8Array => {
  if (typeof body === 'string') return utf8(body)
  if (body instanceof Uint8Array) return body
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  throw new TypeError(
    'The body must be the raw bytes or text as received, not what a JSON parser made of it.',
  )
}

/** Throws TypeError for an empty secret, which would let anybody sign: most often a variable that is not set. */
export const listOf = (secrets: Secrets): readonly string[] => {
  const list = typeof secrets === 'string' ? [secrets] : secrets
  if (
    !Array.isArray(list) ||
    list.length === 0 ||
    list.some((one) => typeof one !== 'string' || one === '')
  ) {
    throw new TypeError('Give at least one signing secret (whsec_…), and none that is empty.')
  }
  return list
}
