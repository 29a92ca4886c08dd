/** The tester's result for the pasted delivery: the SDK's findings, or what is still missing. */
import {
  type Examination,
  examineSignature,
  headersOfText,
  type SignatureScheme,
  signatureHeaders,
} from '@deskwire/sdk'
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
}

export type Result =
  | { readonly state: 'waiting'; readonly faults: Faults }
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
    faults.headers = `It begins like JSON and is none: ${(error as Error).message}`
  }
  const secrets = secretsOf(pasted.secrets)
  // Missing input is no error.
  if (pasted.headers.trim() === '' || secrets.length === 0 || faults.headers !== undefined)
    return { state: 'waiting', faults }

  const named = (['service', 'standard'] as const).filter((scheme) =>
    signatureHeaders[scheme].some((name) => name.toLowerCase() in headers),
  )
  // Without either header, the service's own is reported as missing.
  const schemes: readonly SignatureScheme[] = named.length === 0 ? ['service'] : named
  const delivery = {
    body: new TextEncoder().encode(pasted.body),
    headers,
    secrets,
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
    return { state: 'waiting', faults: { secrets: error.message } }
  }
}
