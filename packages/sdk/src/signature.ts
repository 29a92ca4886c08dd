/**
 * Signs and verifies deliveries (specification 10.2). The service signs with this very file.
 *
 * The header `X-Service-Signature` is `t=<unix seconds>,v1=<hex>`, with one `v1` for each secret that is valid at
 * the time. A `v1` is the HMAC-SHA256, in lower-case hex, over `<t>.<raw body>`; its key is the UTF-8 bytes of the
 * whole secret, `whsec_` included.
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
  utf8,
  type VerifyOptions,
  withEvent,
} from './signing.ts'

export type { Hmac, RawBody, Rejected, Rejection, Secrets, VerifyOptions } from './signing.ts'

const prefixOf = (t: number | string) => `${t}.`

const headerOf = (t: number, signatures: readonly string[]) =>
  `t=${t}${signatures.map((signature) => `,v1=${signature}`).join('')}`

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
  const message = joined(prefixOf(timestamp), bytesOf(rawBody))
  return headerOf(timestamp, await Promise.all(listOf(secrets).map((secret) => hexHmac(secret, message))))
}

/** What to do about each reason for which a delivery is refused. */
const advice = {
  ...commonAdvice,
  missing_header: 'There is no X-Service-Signature header: not sent by Deskwire, or lost on the way here.',
  malformed_header: 'X-Service-Signature must hold one t=<unix seconds> and at least one v1=<hex>.',
} as const satisfies Record<Rejection, string>

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
): Promise<{ ok: true; event: WebhookEvent } | Rejected> =>
  withEvent(rawBody, await verifySignature(rawBody, header, secrets, options))

/** The same for a body of any content: it looks at the signature alone, never at what was signed. */
export const verifySignature = async (
  rawBody: RawBody,
  header: string | readonly string[] | null | undefined,
  secrets: Secrets,
  options: VerifyOptions = {},
): Promise<{ ok: true } | Rejected> => {
  const body = bytesOf(rawBody)
  const keys = listOf(secrets)
  const text = typeof header === 'object' ? header?.join(',') : header
  if (text === undefined || text === '') return rejected('missing_header')
  const parsed = parseHeader(text)
  if (parsed === undefined) return rejected('malformed_header')
  const late = untimely(parsed.t, options)
  if (late !== undefined) return rejected(late)

  // One hash per secret, however many entries a stranger writes into the header.
  const message = joined(prefixOf(parsed.t), body)
  for (const secret of keys) {
    // Upper-case hex is another text.
    const expected = await hexHmac(secret, message)
    if (parsed.signatures.some((signature) => equal(signature, expected))) return { ok: true }
  }
  return rejected('signature_mismatch')
}

const rejected = (reason: Rejection): Rejected => ({ ok: false, reason, detail: advice[reason] })

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
  if (t === undefined || others.length > 0 || !isUnixSeconds(t) || signatures.length === 0) return undefined
  return { t, signatures }
}

const hexHmac = async (secret: string, message: Uint8Array<ArrayBuffer>): Promise<string> =>
  Array.from(await hmacSha256(utf8(secret), message), (byte) => byte.toString(16).padStart(2, '0')).join('')
