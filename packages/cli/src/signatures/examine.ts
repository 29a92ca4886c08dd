/**
 * Which rule of receiving (specification 10.2) a delivery breaks, and why. The verdict is the SDK's; what is looked at beside it
 * only explains it.
 */
import { createHmac } from 'node:crypto'
import { type Rejected, type Rejection, verifySignature, verifyStandardSignature } from '@deskwire/sdk'

export type Scheme = 'service' | 'standard'

/** The rules, in the order in which they are held against a delivery. */
export type RuleName = 'header' | 'form' | 'time' | 'signature'

export interface RuleFinding {
  readonly rule: RuleName
  readonly says: string
  /** Null where a rule before it is broken so that it cannot be looked at. */
  readonly holds: boolean | null
  readonly seen: string
}

export interface Examination {
  readonly scheme: Scheme
  readonly verified: boolean
  /** Of the first rule that is broken, as the SDK names it. */
  readonly reason: Rejection | null
  readonly detail: string | null
  readonly rules: readonly RuleFinding[]
  /** Why no signature fits, where trying found it out. */
  readonly cause: string | null
}

export interface Delivery {
  readonly body: Uint8Array<ArrayBuffer>
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
  /** Unix seconds. */
  readonly now: number
  readonly tolerance: number
}

/** The headers that each scheme is verified by, as they are written. */
export const headersOf: Readonly<Record<Scheme, readonly string[]>> = {
  service: ['X-Service-Signature'],
  standard: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
}

/** @throws TypeError for Standard Webhooks when a secret is not in base64. */
export async function examine(scheme: Scheme, delivery: Delivery): Promise<Examination> {
  const { now, tolerance } = delivery
  const verdict = await verdictOf(scheme, delivery, tolerance)
  // Whether it fits has nothing to do with when it was signed.
  const timeless = await verdictOf(scheme, delivery, Number.POSITIVE_INFINITY)
  const reason = verdict.ok ? null : verdict.reason
  const isRead = reason !== 'missing_header' && reason !== 'malformed_header'
  const parts = partsOf(scheme, delivery.headers)
  const age = now - Number(parts.timestamp)
  const rules: RuleFinding[] = [
    {
      rule: 'header',
      says: `${listed(headersOf[scheme])} ${scheme === 'service' ? 'is' : 'are'} there`,
      holds: reason !== 'missing_header',
      seen: seenHeaders(scheme, delivery.headers),
    },
    {
      rule: 'form',
      says: scheme === 'service' ? 'one t=<unix seconds>, and a v1=<hex>' : 'unix seconds, and a v1,<base64>',
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
      says: 'a v1 is the HMAC of the raw body under a secret',
      holds: isRead ? timeless.ok : null,
      seen: isRead
        ? `${counted(parts.signatures.length, 'v1')}, ${counted(delivery.secrets.length, 'secret')}`
        : '',
    },
  ]
  return {
    scheme,
    verified: verdict.ok,
    reason,
    detail: verdict.ok ? null : verdict.detail,
    rules,
    cause: isRead && !timeless.ok ? causeOf(scheme, delivery, parts) : null,
  }
}

function verdictOf(scheme: Scheme, delivery: Delivery, tolerance: number): Promise<{ ok: true } | Rejected> {
  const { body, headers, secrets, now } = delivery
  const options = { now, tolerance }
  return scheme === 'service'
    ? verifySignature(body, headers['x-service-signature'], secrets, options)
    : verifyStandardSignature(body, headers, secrets, options)
}

/** What the headers say, read without judging. */
interface Parts {
  /** What comes before the body in what is signed. */
  readonly prefix: string
  readonly timestamp: string
  readonly timestamps: number
  readonly signatures: readonly string[]
}

function partsOf(scheme: Scheme, headers: Readonly<Record<string, string>>): Parts {
  if (scheme === 'service') {
    const entries = (headers['x-service-signature'] ?? '').split(',')
    const valuesOf = (name: string) =>
      entries.flatMap((entry) => (entry.startsWith(name) ? [entry.slice(name.length)] : []))
    const [timestamp = '', ...others] = valuesOf('t=')
    const timestamps = entries.some((entry) => entry.startsWith('t=')) ? others.length + 1 : 0
    return { prefix: `${timestamp}.`, timestamp, timestamps, signatures: valuesOf('v1=') }
  }
  const timestamp = headers['webhook-timestamp'] ?? ''
  const signatures = (headers['webhook-signature'] ?? '')
    .split(' ')
    .filter((entry) => entry.startsWith('v1,'))
  return {
    prefix: `${headers['webhook-id'] ?? ''}.${timestamp}.`,
    timestamp,
    timestamps: 1,
    signatures: signatures.map((entry) => entry.slice('v1,'.length)),
  }
}

function seenHeaders(scheme: Scheme, headers: Readonly<Record<string, string>>): string {
  const missing = headersOf[scheme].filter((name) => !headers[name.toLowerCase()])
  return missing.length === 0 ? '' : `missing: ${listed(missing)}`
}

function seenForm(scheme: Scheme, { timestamp, timestamps, signatures }: Parts): string {
  const time = timestamps === 1 ? JSON.stringify(timestamp) : counted(timestamps, 't')
  return `${scheme === 'service' && timestamps !== 1 ? time : `time ${time}`}, ${counted(signatures.length, 'v1')}`
}

/** What is often wrong where no signature fits, each tried: the body first, then the secret, then the signature. */
function causeOf(scheme: Scheme, { body, secrets }: Delivery, { prefix, signatures }: Parts): string | null {
  const fits = (key: Uint8Array, tried: Uint8Array | string, given = signatures) => {
    const hmac = createHmac('sha256', key).update(prefix).update(tried)
    return given.includes(hmac.digest(scheme === 'service' ? 'hex' : 'base64'))
  }
  const keys = secrets.map((secret) => keyOf(scheme, secret))
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body)
  for (const [tried, cause] of otherBodies(text)) {
    if (keys.some((key) => fits(key, tried))) return cause
  }
  for (const secret of secrets) {
    for (const [key, cause] of otherKeys(scheme, secret)) if (fits(key, body)) return cause
  }
  if (
    scheme === 'service' &&
    keys.some((key) =>
      fits(
        key,
        body,
        signatures.map((one) => one.toLowerCase()),
      ),
    )
  )
    return 'The hex of the v1 is in upper case: something on the way has changed it.'
  return null
}

/** The key of a secret, as the scheme has it. */
function keyOf(scheme: Scheme, secret: string): Uint8Array {
  return scheme === 'service' ? Buffer.from(secret) : Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
}

function otherBodies(text: string): [string, string][] {
  return [
    [
      text.replace(/\r?\n$/, ''),
      'The body ends in a line break that was not signed: an editor or echo adds one; printf does not.',
    ],
    [
      `${text}\n`,
      'The body that was signed ends in a line break, which is lost here: curl needs --data-binary.',
    ],
    [
      text.replaceAll('\r\n', '\n'),
      'The lines of the body end in CR LF, and were signed with LF: it was sent or saved as text.',
    ],
    [
      text.replace(/(?<!\r)\n/g, '\r\n'),
      'The lines of the body end in LF, and were signed with CR LF: it was sent or saved as text.',
    ],
    [
      text.replace(/^\uFEFF/, ''),
      'The body begins with a byte order mark that was not signed: it was saved as text.',
    ],
    [
      writtenAgain(text),
      'The body was parsed and written again: with the bytes as they were sent it fits. Verify before parsing.',
    ],
  ]
}

/** As the service writes JSON: without spaces. */
function writtenAgain(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}

function otherKeys(scheme: Scheme, secret: string): [Uint8Array, string][] {
  const trimmed = secret.trim()
  const bare = trimmed.replace(/^whsec_/, '')
  const found: [Uint8Array, string][] = [
    [keyOf(scheme, trimmed), 'There is white space around the secret.'],
    [
      Buffer.from(bare, 'base64'),
      'It was signed with the bytes that the base64 stands for, which is the key of Standard Webhooks alone.',
    ],
    [
      Buffer.from(trimmed),
      'It was signed with the text of the secret as its key; Standard Webhooks decodes it.',
    ],
    [Buffer.from(bare), 'It was signed with the secret without its whsec_, which belongs to the key.'],
    [Buffer.from(`whsec_${bare}`), 'The secret lacks its whsec_, which belongs to the key.'],
  ]
  return found
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

function counted(n: number, what: string): string {
  return `${n === 0 ? 'no' : n} ${what === 'secret' && n !== 1 ? 'secrets' : what}`
}
