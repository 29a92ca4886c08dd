/** Verifies deliveries (specification 10.2), signed by either scheme. */
import { parseEvent, type WebhookEvent } from './event.ts'
import {
  bytesOf,
  isUnixSeconds,
  joined,
  prefixOf,
  type RawBody,
  type Scheme,
  type Secrets,
  signersOf,
  unixSeconds,
} from './signing.ts'

/** Headers of a request: of `fetch`, of Node, or a record whose names have any case. */
export type RequestHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyOptions {
  /** Seconds by which the time of signing may differ from now, either way, itself included. Default: 300. */
  tolerance?: number
  /** Now, in unix seconds: for tests. */
  now?: number
  /** Verify this signature only. Default: `X-Service-Signature`, or Standard Webhooks where there is none. */
  scheme?: Scheme | undefined
}

/** Why a delivery is refused, and what to do about it. */
const advice = {
  missing_header: 'No signature header came.',
  malformed_header: 'The headers need one time and a signature.',
  timestamp_expired: 'Signed too long ago: a replay, or a fast clock here.',
  timestamp_in_future: 'Signed in the future: a slow clock here.',
  signature_mismatch: 'No signature fits. Use raw bytes and the key of this endpoint.',
  not_an_event: 'No event. Update the SDK.',
}

export type Rejection = keyof typeof advice

/** A delivery that is refused: respond with `status` and, if you like, the message, which holds nothing secret. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError'
  readonly status = 400
  readonly code: Rejection

  constructor(code: Rejection) {
    super(advice[code])
    this.code = code
  }
}

/**
 * Verifies a delivery and returns its event. `headers` are all that came; `secrets` may be several, any of which will
 * do. Throws SignatureError for a delivery that is refused, and TypeError for what no sender can cause: an empty or
 * missing secret, or a body that is not raw.
 */
export const verify = async (
  rawBody: RawBody,
  headers: RequestHeaders,
  secrets: Secrets,
  options?: VerifyOptions,
): Promise<WebhookEvent> => {
  await verifySignature(rawBody, headers, secrets, options)
  return eventOf(rawBody)
}

/** The event of a body that is signed. Throws SignatureError for any other body. */
export const eventOf = (rawBody: RawBody): WebhookEvent => {
  const event = parseEvent(bytesOf(rawBody))
  if (event === undefined) throw new SignatureError('not_an_event')
  return event
}

/** The same for a body of any content: it looks at the signature alone, never at what was signed. */
export const verifySignature = async (
  rawBody: RawBody,
  headers: RequestHeaders,
  secrets: Secrets,
  options: VerifyOptions = {},
): Promise<void> => {
  const { scheme } = options
  const body = bytesOf(rawBody)
  const header = headerOf(headers, 'x-service-signature')
  const isStandard = scheme ? scheme === 'standard' : !header && !!headerOf(headers, 'webhook-signature')
  const signers = signersOf(secrets, isStandard)
  const parts = isStandard ? standardParts(headers, 'v1,') : serviceParts(header)
  // One hash per secret, however many signatures a forged header has.
  const message = messageOf(parts, body, options)
  for (const sign of signers) {
    const expected = await sign(message)
    if (parts.signatures.some((signature) => equal(signature, expected))) return
  }
  throw new SignatureError('signature_mismatch')
}

/** What must have been signed. Throws SignatureError for parts without one time and a signature, or not of now. */
export const messageOf = (
  { id, times, signatures }: Parts,
  body: Uint8Array,
  { tolerance = 300, now = unixSeconds() }: VerifyOptions,
): Uint8Array<ArrayBuffer> => {
  // Two times are none: no two parsers agree on which of them counts.
  const timestamp = times.join()
  if (!isUnixSeconds(timestamp) || signatures.length === 0) throw new SignatureError('malformed_header')
  // Asked so that a `now` or a tolerance that is not a number refuses.
  const age = now - Number(timestamp)
  if (!(age <= tolerance)) throw new SignatureError('timestamp_expired')
  if (age < -tolerance) throw new SignatureError('timestamp_in_future')
  return joined(prefixOf(timestamp, id), body)
}

/**
 * What the headers say. A time stays the text that was signed; entries of other schemes are ignored, so that a later
 * version can add one.
 */
interface Parts {
  id?: string
  times: string[]
  signatures: string[]
}

const serviceParts = (header: string): Parts => {
  if (!header) throw new SignatureError('missing_header')
  const entries = header.split(',')
  return { times: valuesOf(entries, 't='), signatures: valuesOf(entries, 'v1=') }
}

/** By Standard Webhooks, with the signatures that begin with `version`. */
export const standardParts = (headers: RequestHeaders, version: string): Parts => {
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signature = headerOf(headers, 'webhook-signature')
  if (!id || !timestamp || !signature) throw new SignatureError('missing_header')
  return { id, times: [timestamp], signatures: valuesOf(signature.split(' '), version) }
}

const valuesOf = (entries: string[], name: string) =>
  entries.flatMap((entry) => (entry.startsWith(name) ? [entry.slice(name.length)] : []))

/** Empty when there is none. One that came several times is read as HTTP joins it, and refused as that. */
const headerOf = (headers: RequestHeaders, name: string): string => {
  if (typeof headers.get === 'function') return headers.get(name) ?? ''
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return String(found ?? '')
}

/** Takes the same time wherever two texts differ. */
const equal = (given: string, expected: string): boolean => {
  let difference = given.length ^ expected.length
  for (let n = 0; n < expected.length; n++) difference |= given.charCodeAt(n) ^ expected.charCodeAt(n)
  return !difference
}
