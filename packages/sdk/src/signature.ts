/**
 * Signs and verifies deliveries (specification 10.2). The service signs with this very file.
 *
 * The header `X-Service-Signature` is `t=<unix seconds>,v1=<hex>`, with one `v1` for each secret that is valid at
 * the time. A `v1` is the HMAC-SHA256, in lower-case hex, over `<t>.<raw body>`; its key is the UTF-8 bytes of the
 * whole secret, `whsec_` included.
 */
import { parseEvent, type WebhookEvent } from './event.ts'

/** A body exactly as it was received or will be sent: never the parsed object, nor that object written again. */
export type RawBody = string | Uint8Array | ArrayBuffer

/** One secret, or several while a rotation lasts; any of them will do. */
export type Secrets = string | readonly string[]

/** HMAC-SHA256 under one secret, in lower-case hex, over the UTF-8 bytes of `prefix` followed by `body`. */
export type Hmac = (prefix: string, body: string | Uint8Array) => string

const prefixOf = (t: number | string) => `${t}.`

const headerOf = (t: number, signatures: readonly string[]) =>
  `t=${t}${signatures.map((signature) => `,v1=${signature}`).join('')}`

/**
 * The header for a body signed now by primitives of the caller's own, one per secret: no promise is made, which
 * lets the service sign in microseconds. `timestamp` is whole unix seconds.
 */
export const signatureHeader = (
  timestamp: number,
  body: string | Uint8Array,
  hmacs: readonly Hmac[],
): string => {
  const prefix = prefixOf(timestamp)
  return headerOf(
    timestamp,
    hmacs.map((hmac) => hmac(prefix, body)),
  )
}

/**
 * The header for a body, by WebCrypto: one `v1` for each secret, in their order. `timestamp` is whole unix
 * seconds, now unless told. Throws TypeError for an empty secret or a timestamp that no receiver would read.
 */
export const signWebhook = async (
  rawBody: RawBody,
  secrets: Secrets,
  { timestamp = unixSeconds() }: { timestamp?: number } = {},
): Promise<string> => {
  if (!numeric.test(String(timestamp))) {
    throw new TypeError(`timestamp must be whole unix seconds, not ${timestamp}`)
  }
  const message = joined(prefixOf(timestamp), bytesOf(rawBody))
  return headerOf(timestamp, await Promise.all(listOf(secrets).map((secret) => hmacOf(secret, message))))
}

/** What to do about each reason for which a delivery is refused. */
const advice = {
  missing_header: 'There is no X-Service-Signature header: not sent by Deskwire, or lost on the way here.',
  malformed_header: 'X-Service-Signature must hold one t=<unix seconds> and at least one v1=<hex>.',
  timestamp_expired: 'Signed too long ago: a replay, or the clock of this machine is fast. Check it.',
  timestamp_in_future: 'Signed in the future: the clock of this machine is slow. Check it.',
  signature_mismatch:
    'No v1 fits. Verify the raw bytes, not parsed JSON, with the secret of this very endpoint.',
  not_an_event: 'The signature is right, but the body is no event envelope. Update the SDK.',
} as const

export type Rejection = keyof typeof advice

/** A delivery to answer with a 4xx. `detail` says what to do next; it holds nothing secret. */
export interface Rejected {
  ok: false
  reason: Rejection
  detail: string
}

export interface VerifyOptions {
  /** Seconds by which `t` may differ from now, either way, itself included. Default 300. */
  tolerance?: number
  /** Now, in unix seconds: for tests. */
  now?: number
}

/**
 * Verifies a delivery and reads its event. `header` is `X-Service-Signature` as the framework hands it over;
 * `secrets` may be several. A delivery that is refused is a value; thrown is only a TypeError for what no
 * sender can cause: an empty or missing secret, or a body that is not raw.
 */
export const verifyWebhook = async (
  rawBody: RawBody,
  header: string | readonly string[] | null | undefined,
  secrets: Secrets,
  options: VerifyOptions = {},
): Promise<{ ok: true; event: WebhookEvent } | Rejected> => {
  const verdict = await verifySignature(rawBody, header, secrets, options)
  if (!verdict.ok) return verdict
  const event = parseEvent(bytesOf(rawBody))
  return event === undefined ? rejected('not_an_event') : { ok: true, event }
}

/** The same for a body of any content: it looks at the signature alone, never at what was signed. */
export const verifySignature = async (
  rawBody: RawBody,
  header: string | readonly string[] | null | undefined,
  secrets: Secrets,
  { tolerance = 300, now = unixSeconds() }: VerifyOptions = {},
): Promise<{ ok: true } | Rejected> => {
  const body = bytesOf(rawBody)
  const keys = listOf(secrets)
  const text = typeof header === 'object' ? header?.join(',') : header
  if (text === undefined || text === '') return rejected('missing_header')
  const parsed = parseHeader(text)
  if (parsed === undefined) return rejected('malformed_header')

  // Asked so that a `now` or a tolerance that is not a number refuses.
  const age = now - Number(parsed.t)
  if (!(age <= tolerance)) return rejected('timestamp_expired')
  if (!(age >= -tolerance)) return rejected('timestamp_in_future')

  // One hash per secret, however many entries a stranger writes into the header.
  const message = joined(prefixOf(parsed.t), body)
  for (const secret of keys) {
    const expected = await hmacOf(secret, message)
    if (parsed.signatures.some((signature) => equal(signature, expected))) return { ok: true }
  }
  return rejected('signature_mismatch')
}

const rejected = (reason: Rejection): Rejected => ({ ok: false, reason, detail: advice[reason] })

const unixSeconds = () => Math.floor(Date.now() / 1000)

/** Fifteen digits at most: every such number is exact, in any language. */
const numeric = /^[0-9]{1,15}$/

/**
 * `t` stays the text that was signed. Entries of other schemes are passed over, so that a later version can add
 * one; two `t` are refused, because no two parsers agree on which of them counts.
 */
const parseHeader = (header: string): { t: string; signatures: string[] } | undefined => {
  const entries = header.split(',')
  const valuesOf = (name: string) =>
    entries.filter((entry) => entry.startsWith(name)).map((entry) => entry.slice(name.length))
  const [t, ...others] = valuesOf('t=')
  const signatures = valuesOf('v1=')
  if (t === undefined || others.length > 0 || !numeric.test(t) || signatures.length === 0) return undefined
  return { t, signatures }
}

/** Takes the same time wherever two texts of one length differ. Upper-case hex is another text. */
const equal = (given: string, expected: string): boolean => {
  if (given.length !== expected.length) return false
  let difference = 0
  for (let n = 0; n < expected.length; n++) difference |= given.charCodeAt(n) ^ expected.charCodeAt(n)
  return difference === 0
}

const encoder = new TextEncoder()

const hmacOf = async (secret: string, message: Uint8Array<ArrayBuffer>): Promise<string> => {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign'])
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', key, message))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

const joined = (prefix: string, body: Uint8Array): Uint8Array<ArrayBuffer> => {
  const start = encoder.encode(prefix)
  const message = new Uint8Array(start.length + body.length)
  message.set(start)
  message.set(body, start.length)
  return message
}

const bytesOf = (body: RawBody): Uint8Array => {
  if (typeof body === 'string') return encoder.encode(body)
  if (body instanceof Uint8Array) return body
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  throw new TypeError(
    'The body must be the raw bytes or text as received, not what a JSON parser made of it.',
  )
}

/** An empty secret would let anybody sign: most often a variable that is not set. */
const listOf = (secrets: Secrets): readonly string[] => {
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
