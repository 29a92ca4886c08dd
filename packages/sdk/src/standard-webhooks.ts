/**
 * Signs and verifies deliveries by Standard Webhooks, the headers that an endpoint gets beside its own with
 * `signatures: ['service', 'standard']` (specification 10.2). The service signs with this very file.
 *
 * `webhook-signature` is `v1,<base64>`, one for each secret that is valid at the time, separated by spaces: the HMAC-SHA256
 * over `<webhook-id>.<webhook-timestamp>.<raw body>`. Its key is the bytes that the secret's base64 says after `whsec_`.
 */
import type { WebhookEvent } from './event.ts'
import {
  bytesOf,
  commonAdvice,
  equal,
  type Hmac,
  hmacSha256,
  isUnixSeconds,
  joined,
  listOf,
  type RawBody,
  type Rejected,
  type Rejection,
  requireUnixSeconds,
  type Secrets,
  unixSeconds,
  untimely,
  type VerifyOptions,
  withEvent,
} from './signing.ts'

/** Headers of a request, of `fetch` or as a record of any case, such as Node's. */
export type RequestHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** The headers of a delivery, named as Node hands them to a handler. */
export type StandardHeaders = {
  /** The event's id. */
  'webhook-id': string
  /** Whole unix seconds. */
  'webhook-timestamp': string
  'webhook-signature': string
}

const prefixOf = (id: string, timestamp: number | string) => `${id}.${timestamp}.`

const headersOf = (id: string, timestamp: number, signatures: readonly string[]): StandardHeaders => ({
  'webhook-id': id,
  'webhook-timestamp': `${timestamp}`,
  'webhook-signature': signatures.map((signature) => `v1,${signature}`).join(' '),
})

/**
 * The headers for a body signed now by primitives of the caller's own, one per secret, which write base64 with padding. `id`
 * is the event's, `timestamp` whole unix seconds.
 */
export const standardHeaders = (
  id: string,
  timestamp: number,
  body: string | Uint8Array,
  hmacs: readonly Hmac[],
): StandardHeaders => {
  const prefix = prefixOf(id, timestamp)
  return headersOf(
    id,
    timestamp,
    hmacs.map((hmac) => hmac(prefix, body)),
  )
}

/**
 * The headers for a body, by WebCrypto: one signature for each secret, in their order. `id` is the event's; `timestamp`
 * is whole unix seconds, now unless told. Throws TypeError for an empty id, a secret that is not in base64, or a timestamp
 * that no receiver would read.
 */
export const signStandardWebhook = async (
  id: string,
  rawBody: RawBody,
  secrets: Secrets,
  { timestamp = unixSeconds() }: { timestamp?: number } = {},
): Promise<StandardHeaders> => {
  if (id === '') throw new TypeError('Give the id of the event: it is part of what is signed.')
  requireUnixSeconds(timestamp)
  const message = joined(prefixOf(id, timestamp), bytesOf(rawBody))
  const signatures = keysOf(secrets).map((key) => base64Hmac(key, message))
  return headersOf(id, timestamp, await Promise.all(signatures))
}

/** What to do about each reason for which a delivery is refused. */
const advice = {
  ...commonAdvice,
  missing_header:
    'webhook-id, webhook-timestamp or webhook-signature is missing: not sent by Deskwire, lost on the way here, or the endpoint has no "standard" in its signatures.',
  malformed_header:
    'webhook-timestamp must be unix seconds, and webhook-signature hold at least one v1,<base64>.',
} as const satisfies Record<Rejection, string>

/**
 * Verifies a delivery by its three headers and reads its event. A delivery that is refused is a value; thrown is only a
 * TypeError for what no sender can cause: a secret that is missing or not in base64, or a body that is not raw.
 */
export const verifyStandardWebhook = async (
  rawBody: RawBody,
  headers: RequestHeaders,
  secrets: Secrets,
  options: VerifyOptions = {},
): Promise<{ ok: true; event: WebhookEvent } | Rejected> =>
  withEvent(rawBody, await verifyStandardSignature(rawBody, headers, secrets, options))

/** The same for a body of any content: it looks at the signature alone, never at what was signed. */
export const verifyStandardSignature = async (
  rawBody: RawBody,
  headers: RequestHeaders,
  secrets: Secrets,
  options: VerifyOptions = {},
): Promise<{ ok: true } | Rejected> => {
  const body = bytesOf(rawBody)
  const keys = keysOf(secrets)
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const given = headerOf(headers, 'webhook-signature')
  if (id === '' || timestamp === '' || given === '') return rejected('missing_header')
  // Entries of other schemes, such as v1a, are passed over.
  const entries = given.split(' ').filter((entry) => entry.startsWith('v1,'))
  if (!isUnixSeconds(timestamp) || entries.length === 0) return rejected('malformed_header')
  const late = untimely(timestamp, options)
  if (late !== undefined) return rejected(late)

  // One hash per secret, however many entries a stranger writes into the header.
  const message = joined(prefixOf(id, timestamp), body)
  for (const key of keys) {
    const expected = `v1,${await base64Hmac(key, message)}`
    if (entries.some((entry) => equal(entry, expected))) return { ok: true }
  }
  return rejected('signature_mismatch')
}

const rejected = (reason: Rejection): Rejected => ({ ok: false, reason, detail: advice[reason] })

/** Empty when there is none. One that came several times is read as HTTP joins it, and refused as that. */
const headerOf = (headers: RequestHeaders, name: string): string => {
  if (typeof headers.get === 'function') return headers.get(name) ?? ''
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof found === 'object' ? found.join(', ') : (found ?? '')
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const keysOf = (secrets: Secrets) =>
  listOf(secrets).map((secret) => {
    const text = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret
    if (text === '' || !base64.test(text)) {
      throw new TypeError(
        'Standard Webhooks needs a secret in standard base64 with padding, as new ones are. Rotate an older one.',
      )
    }
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  })

const base64Hmac = async (key: Uint8Array<ArrayBuffer>, message: Uint8Array<ArrayBuffer>): Promise<string> =>
  btoa(String.fromCharCode(...(await hmacSha256(key, message))))
