/** Why no signature of a delivery fits: what is often wrong, tried in turn. */
import { readJson } from './json.ts'
import { hmacSha256, joined, utf8 } from './signing.ts'

interface Mismatch {
  readonly scheme: 'service' | 'standard'
  /** What comes before the body in what is signed. */
  readonly prefix: string
  readonly body: Uint8Array
  readonly secrets: readonly string[]
  /** As they stand in the header, each behind its `v1`. */
  readonly signatures: readonly string[]
}

/** What is often wrong where no signature fits, each tried: the body first, then the secret, then the signature. */
export async function causeOfMismatch({
  scheme,
  prefix,
  body,
  secrets,
  signatures,
}: Mismatch): Promise<string | null> {
  async function fits(key: Key, tried: Uint8Array, given = signatures): Promise<boolean> {
    // WebCrypto of some browsers refuses a key of no bytes.
    if (key.length === 0) return false
    const hmac = await hmacSha256(key, joined(prefix, tried))
    return given.includes(scheme === 'service' ? hexOf(hmac) : btoa(String.fromCharCode(...hmac)))
  }
  const keys = secrets.map((secret) => keyOf(scheme, secret))
  const ofBody = await causeInBody(body, async (tried) => {
    for (const key of keys) if (await fits(key, tried)) return true
    return false
  })
  if (ofBody !== null) return ofBody
  for (const secret of secrets) {
    for (const [key, cause] of otherKeys(scheme, secret)) if (await fits(key, body)) return cause
  }
  if (scheme === 'standard') return null
  const lower = signatures.map((one) => one.toLowerCase())
  for (const key of keys) {
    if (await fits(key, body, lower))
      return 'The hex of the v1 is in upper case: something on the way has changed it.'
  }
  return null
}

/** What was done to the body, if another body fits. */
export async function causeInBody(
  body: Uint8Array,
  fits: (tried: Uint8Array<ArrayBuffer>) => Promise<boolean>,
): Promise<string | null> {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body)
  for (const [tried, cause] of otherBodies(text)) if (await fits(utf8(tried))) return cause
  return null
}

type Key = Uint8Array<ArrayBuffer>

/** The key of a secret, as the scheme has it. */
function keyOf(scheme: Mismatch['scheme'], secret: string): Key {
  return scheme === 'service' ? utf8(secret) : decoded(secret.replace(/^whsec_/, ''))
}

/**
 * As lenient as people are with what they copy: either alphabet, padded or not. No bytes where it is no base64 at
 * all.
 */
function decoded(base64: string): Key {
  const text = base64
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/[^A-Za-z0-9+/]/g, '')
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
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
    return JSON.stringify(readJson(text))
  } catch {
    return text
  }
}

function otherKeys(scheme: Mismatch['scheme'], secret: string): [Key, string][] {
  const trimmed = secret.trim()
  const bare = trimmed.replace(/^whsec_/, '')
  return [
    [keyOf(scheme, trimmed), 'There is white space around the secret.'],
    [
      decoded(bare),
      'It was signed with the bytes that the base64 stands for, which is the key of Standard Webhooks alone.',
    ],
    [utf8(trimmed), 'It was signed with the text of the secret as its key; Standard Webhooks decodes it.'],
    [utf8(bare), 'It was signed with the secret without its whsec_, which belongs to the key.'],
    [utf8(`whsec_${bare}`), 'The secret lacks its whsec_, which belongs to the key.'],
  ]
}
