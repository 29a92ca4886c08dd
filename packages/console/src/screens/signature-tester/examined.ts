/** The tester's result for the pasted delivery: the SDK's findings, or what is still missing. */
import {
  type Examination,
  examineSignature,
  headersOfText,
  type PublicKey,
  type SignatureScheme,
  signatureHeaders,
} from '@deskwire/sdk'
import { readJson } from '@deskwire/sdk/json'
import type { Pasted } from './sample.ts'

interface Settings {
  /** Unix seconds; null for now. */
  readonly at: number | null
  /** Seconds. */
  readonly tolerance: number
}

interface Faults {
  readonly headers?: string
  readonly secrets?: string
  readonly keys?: string
}

export type Result =
  | { readonly state: 'waiting'; readonly faults: Faults; readonly lacksSignature: boolean }
  | { readonly state: 'examined'; readonly examinations: readonly Examination[] }

/** One a line, or with commas, as `verify-signature` takes them. */
export function secretsOf(text: string): readonly string[] {
  return text.split(/[\n,]/).filter((one) => one.trim() !== '')
}

export async function examined(pasted: Pasted, { at, tolerance }: Settings): Promise<Result> {
  const faults: { -readonly [Name in keyof Faults]: Faults[Name] } = {}
  let headers: Record<string, string> = {}
  try {
    headers = headersOfText(pasted.headers)
  } catch (error) {
    faults.headers = `Not valid JSON: ${(error as Error).message}`
  }
  const secrets = secretsOf(pasted.secrets)
  const publicKeys = keysOf(pasted.keys)
  if (publicKeys === null) faults.keys = 'Not a JSON Web Key Set: {"keys":[…]}'
  const known: SignatureScheme[] = secrets.length === 0 ? [] : ['service', 'standard']
  if (publicKeys !== null && publicKeys.length > 0) known.push('v1a')
  // Missing input is no error. The last header of a scheme is its signature.
  const isSigned = (scheme: SignatureScheme) =>
    String(signatureHeaders[scheme].at(-1)).toLowerCase() in headers
  const lacksSignature =
    pasted.headers.trim() !== '' &&
    faults.headers === undefined &&
    !(['service', 'standard'] as const).some(isSigned)
  if (pasted.headers.trim() === '' || lacksSignature || known.length === 0 || Object.keys(faults).length > 0)
    return { state: 'waiting', faults, lacksSignature }

  const named = known.filter(isSigned)
  // A signature of another scheme alone: the first is reported as missing.
  const schemes = named.length === 0 ? known.slice(0, 1) : named
  const delivery = {
    body: new TextEncoder().encode(pasted.body),
    headers,
    secrets,
    publicKeys: publicKeys ?? [],
    now: at ?? Math.floor(Date.now() / 1000),
    tolerance,
  }
  try {
    return {
      state: 'examined',
      examinations: await Promise.all(schemes.map((scheme) => examineSignature(scheme, delivery))),
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const isOfKey = error.message.includes('public key')
    return { state: 'waiting', faults: { [isOfKey ? 'keys' : 'secrets']: error.message }, lacksSignature }
  }
}

/** Null for a text that is no key set. */
function keysOf(text: string): readonly PublicKey[] | null {
  if (text.trim() === '') return []
  try {
    const { keys } = readJson<{ keys?: unknown }>(text)
    return Array.isArray(keys) ? keys : null
  } catch {
    return null
  }
}
