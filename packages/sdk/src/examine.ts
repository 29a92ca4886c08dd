/**
 * Which rule of receiving (specification 10.2) a delivery breaks, and why: for people, in a terminal or a page. The
 * verdict is that of `verifySignature` or `verifyAsymmetricSignature`; what is looked at besides only explains it.
 */
import { type PublicKey, verifyAsymmetricSignature } from './asymmetric.ts'
import { causeInBody, causeOfMismatch } from './mismatch.ts'
import type { Scheme } from './signing.ts'
import { type Rejection, SignatureError, verifySignature } from './verify.ts'

/** `v1a` is the asymmetric signature. */
export type SignatureScheme = Scheme | 'v1a'

/** The rules, in the order in which they are held against a delivery. */
export type ReceivingRule = 'header' | 'form' | 'time' | 'signature'

export interface RuleFinding {
  readonly rule: ReceivingRule
  readonly says: string
  /** Null where a rule before it is broken so that it cannot be looked at. */
  readonly holds: boolean | null
  readonly seen: string
}

export interface Examination {
  readonly scheme: SignatureScheme
  readonly verified: boolean
  /** Of the first rule that is broken, as the SDK names it. */
  readonly reason: Rejection | null
  readonly detail: string | null
  /** Unix seconds, as the headers say; null where they cannot be read. */
  readonly signedAt: number | null
  readonly rules: readonly RuleFinding[]
  /** Why no signature fits, where trying found it out. */
  readonly cause: string | null
}

/** A delivery as somebody has it before them. */
export interface ExaminedDelivery {
  readonly body: Uint8Array<ArrayBuffer>
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
  /** For `v1a`. */
  readonly publicKeys?: readonly PublicKey[]
  /** Unix seconds. */
  readonly now: number
  readonly tolerance: number
}

/** The headers that each scheme is verified by, as they are written. */
export const signatureHeaders: Readonly<Record<SignatureScheme, readonly string[]>> = {
  service: ['X-Service-Signature'],
  standard: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  v1a: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
}

const words = {
  service: { form: 'one t=<unix seconds>, and a v1=<hex>', entry: 'v1', key: 'secret' },
  standard: { form: 'unix seconds, and a v1,<base64>', entry: 'v1', key: 'secret' },
  v1a: { form: 'unix seconds, and a v1a,<base64>', entry: 'v1a', key: 'public key' },
} as const

/**
 * Holds each rule against a delivery, in turn. It throws nothing for a delivery that is refused, and TypeError for a
 * secret that is empty or, with Standard Webhooks, not in base64, and for a public key that is missing or none.
 */
export async function examineSignature(
  scheme: SignatureScheme,
  delivery: ExaminedDelivery,
): Promise<Examination> {
  const { now, tolerance, secrets, publicKeys = [] } = delivery
  const { form, entry, key } = words[scheme]
  const keys = scheme === 'v1a' ? publicKeys.length : secrets.length
  const refusal = await refusalOf(scheme, delivery, tolerance)
  // Whether it fits has nothing to do with when it was signed.
  const fits = (await refusalOf(scheme, delivery, Number.POSITIVE_INFINITY)) === undefined
  const reason = refusal?.code ?? null
  const isRead = reason !== 'missing_header' && reason !== 'malformed_header'
  const parts = partsOf(scheme, delivery.headers)
  const age = now - Number(parts.timestamp)
  const rules: RuleFinding[] = [
    {
      rule: 'header',
      says: `${listed(signatureHeaders[scheme])} ${scheme === 'service' ? 'is' : 'are'} there`,
      holds: reason !== 'missing_header',
      seen: seenHeaders(scheme, delivery.headers),
    },
    {
      rule: 'form',
      says: form,
      holds: reason === 'missing_header' ? null : reason !== 'malformed_header',
      seen: seenForm(scheme, parts),
    },
    {
      rule: 'time',
      says: `signed no more than ${tolerance} s from now`,
      holds: isRead ? reason !== 'timestamp_expired' && reason !== 'timestamp_in_future' : null,
      seen: !isRead ? '' : age >= 0 ? `${age} s ago` : `${-age} s in the future`,
    },
    {
      rule: 'signature',
      says:
        scheme === 'v1a'
          ? 'a v1a is the signature of the raw body by a key'
          : 'a v1 is the HMAC of the raw body under a secret',
      holds: isRead ? fits : null,
      seen: isRead ? `${counted(parts.signatures.length, entry)}, ${counted(keys, key)}` : '',
    },
  ]
  return {
    scheme,
    verified: refusal === undefined,
    reason,
    detail: refusal?.message ?? null,
    signedAt: isRead ? Number(parts.timestamp) : null,
    rules,
    cause: isRead && !fits ? await causeOf(scheme, delivery, parts) : null,
  }
}

async function causeOf(
  scheme: SignatureScheme,
  delivery: ExaminedDelivery,
  parts: Parts,
): Promise<string | null> {
  if (scheme !== 'v1a') return causeOfMismatch({ scheme, ...delivery, ...parts })
  return causeInBody(delivery.body, async (body) => {
    const refusal = await refusalOf(scheme, { ...delivery, body }, Number.POSITIVE_INFINITY)
    return refusal === undefined
  })
}

/** Why it is refused; undefined when it is not. */
async function refusalOf(
  scheme: SignatureScheme,
  { body, headers, secrets, publicKeys = [], now }: ExaminedDelivery,
  tolerance: number,
): Promise<SignatureError | undefined> {
  try {
    if (scheme === 'v1a') await verifyAsymmetricSignature(body, headers, publicKeys, { now, tolerance })
    else await verifySignature(body, headers, secrets, { now, tolerance, scheme })
    return undefined
  } catch (error) {
    if (error instanceof SignatureError) return error
    throw error
  }
}

/** What the headers say, read without judging. */
interface Parts {
  /** What comes before the body in what is signed. */
  readonly prefix: string
  readonly timestamp: string
  readonly timestamps: number
  readonly signatures: readonly string[]
}

function partsOf(scheme: SignatureScheme, headers: Readonly<Record<string, string>>): Parts {
  if (scheme === 'service') {
    const entries = (headers['x-service-signature'] ?? '').split(',')
    const valuesOf = (name: string) =>
      entries.flatMap((entry) => (entry.startsWith(name) ? [entry.slice(name.length)] : []))
    const [timestamp = '', ...others] = valuesOf('t=')
    const timestamps = entries.some((entry) => entry.startsWith('t=')) ? others.length + 1 : 0
    return { prefix: `${timestamp}.`, timestamp, timestamps, signatures: valuesOf('v1=') }
  }
  const timestamp = headers['webhook-timestamp'] ?? ''
  const version = `${words[scheme].entry},`
  const signatures = (headers['webhook-signature'] ?? '')
    .split(' ')
    .filter((entry) => entry.startsWith(version))
  return {
    prefix: `${headers['webhook-id'] ?? ''}.${timestamp}.`,
    timestamp,
    timestamps: 1,
    signatures: signatures.map((entry) => entry.slice(version.length)),
  }
}

function seenHeaders(scheme: SignatureScheme, headers: Readonly<Record<string, string>>): string {
  const missing = signatureHeaders[scheme].filter((name) => !headers[name.toLowerCase()])
  return missing.length === 0 ? '' : `missing: ${listed(missing)}`
}

function seenForm(scheme: SignatureScheme, { timestamp, timestamps, signatures }: Parts): string {
  const time = timestamps === 1 ? JSON.stringify(timestamp) : counted(timestamps, 't')
  return `${scheme === 'service' && timestamps !== 1 ? time : `time ${time}`}, ${counted(signatures.length, words[scheme].entry)}`
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

function counted(n: number, what: string): string {
  return `${n === 0 ? 'no' : n} ${n !== 1 && (what === 'secret' || what === 'public key') ? `${what}s` : what}`
}
