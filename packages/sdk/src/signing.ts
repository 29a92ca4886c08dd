/**
 * Signs deliveries (specification 10.2). The service signs with this very file.
 *
 * `X-Service-Signature` is `t=<unix seconds>,v1=<hex>`, with one `v1` for each secret that is valid at the time: the
 * HMAC-SHA256 over `<t>.<raw body>`. Its key is the UTF-8 bytes of the whole secret, `whsec_` included.
 *
 * By Standard Webhooks, `webhook-signature` is `v1,<base64>`, separated by spaces, over
 * `<webhook-id>.<webhook-timestamp>.<raw body>`. Its key is the bytes that the secret's base64 says after `whsec_`.
 */

/** A body exactly as it was received or will be sent: never the parsed object, nor that object written again. */
export type RawBody = string | Uint8Array | ArrayBuffer

/** One secret, or several while a rotation lasts; any of them will do. */
export type Secrets = string | readonly string[]

/** HMAC-SHA256 under one secret, as text, over the UTF-8 bytes of `prefix` followed by `body`. */
export type Hmac = (prefix: string, body: string | Uint8Array) => string

export type Scheme = 'service' | 'standard'

export const unixSeconds = (): number => Math.floor(Date.now() / 1000)

/** Whole seconds of fifteen digits at most: every such number is exact, in any language. */
export const isUnixSeconds = (text: string): boolean => /^\d{1,15}$/.test(text)

/** Throws TypeError for a time that no receiver would read. */
const requireUnixSeconds = (timestamp: number): void => {
  if (isUnixSeconds(String(timestamp))) return
  throw new TypeError(`timestamp must be whole unix seconds, not ${timestamp}`)
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
  throw new TypeError('The body must be raw bytes, not parsed JSON.')
}

/** Throws TypeError for an empty secret, which would let anybody sign: most often a variable that is not set. */
export const listOf = (secrets: Secrets): readonly string[] => {
  const list = [secrets].flat()
  if (list[0] && list.every((one) => typeof one === 'string' && one)) return list
  throw new TypeError('Give a signing secret, none empty.')
}

/** Throws TypeError for a secret that the scheme cannot use. */
const keyOf = (secret: string, isStandard: boolean): Uint8Array<ArrayBuffer> => {
  if (!isStandard) return utf8(secret)
  const text = secret.replace(/^whsec_/, '')
  try {
    const key = atob(text)
    // Lenient readers of base64 accept more than receivers in other languages do.
    if (key && btoa(key) === text) return Uint8Array.from(key, (character) => character.charCodeAt(0))
  } catch {
    // No base64 at all.
  }
  throw new TypeError('Standard Webhooks needs a secret in standard base64: rotate it.')
}

/**
 * What signs with each secret, in their order: gives the text that comes after a `v1`. Throws TypeError for a secret
 * that cannot be used.
 */
export const signersOf = (secrets: Secrets, isStandard: boolean) =>
  listOf(secrets).map((secret) => {
    const key = keyOf(secret, isStandard)
    return async (message: Uint8Array<ArrayBuffer>): Promise<string> => {
      const bytes = await hmacSha256(key, message)
      if (isStandard) return btoa(String.fromCharCode(...bytes))
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
    }
  })

/** What is signed before the body; `id` is the event's, by Standard Webhooks. */
export const prefixOf = (timestamp: number | string, id?: string): string =>
  id === undefined ? `${timestamp}.` : `${id}.${timestamp}.`

const headerOf = (t: number, signatures: readonly string[]) =>
  `t=${t}${signatures.map((signature) => `,v1=${signature}`).join('')}`

/** The headers of a delivery by Standard Webhooks, named as Node hands them to a handler. */
export type StandardHeaders = {
  /** The event's id. */
  'webhook-id': string
  /** Whole unix seconds. */
  'webhook-timestamp': string
  'webhook-signature': string
}

const headersOf = (id: string, timestamp: number, signatures: readonly string[]): StandardHeaders => ({
  'webhook-id': id,
  'webhook-timestamp': `${timestamp}`,
  'webhook-signature': signatures.map((signature) => `v1,${signature}`).join(' '),
})

/**
 * The header for a body signed now by primitives of the caller's own, one per secret, which write lower-case hex: no
 * promise is made, which lets the service sign in microseconds. `timestamp` is whole unix seconds.
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

/** The same by Standard Webhooks: the primitives write base64 with padding, `id` is the event's. */
export const standardHeaders = (
  id: string,
  timestamp: number,
  body: string | Uint8Array,
  hmacs: readonly Hmac[],
): StandardHeaders => {
  const prefix = prefixOf(timestamp, id)
  return headersOf(
    id,
    timestamp,
    hmacs.map((hmac) => hmac(prefix, body)),
  )
}

const signaturesOf = (
  prefix: string,
  rawBody: RawBody,
  secrets: Secrets,
  isStandard: boolean,
): Promise<string[]> => {
  const message = joined(prefix, bytesOf(rawBody))
  return Promise.all(signersOf(secrets, isStandard).map((sign) => sign(message)))
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
  requireUnixSeconds(timestamp)
  return headerOf(timestamp, await signaturesOf(prefixOf(timestamp), rawBody, secrets, false))
}

/**
 * The same by Standard Webhooks; `id` is the event's. Throws TypeError also for an empty id, and a secret that is not
 * in base64.
 */
export const signStandardWebhook = async (
  id: string,
  rawBody: RawBody,
  secrets: Secrets,
  { timestamp = unixSeconds() }: { timestamp?: number } = {},
): Promise<StandardHeaders> => {
  if (id === '') throw new TypeError('Give the id of the event: it is part of what is signed.')
  requireUnixSeconds(timestamp)
  return headersOf(id, timestamp, await signaturesOf(prefixOf(timestamp, id), rawBody, secrets, true))
}
