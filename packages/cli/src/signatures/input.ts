/** What commands about signatures are given: a body, secrets, and headers. */

import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { headersOfText, type PublicKey } from '@deskwire/sdk'
import { readJson } from '@deskwire/sdk/json'
import { textOf } from '@deskwire/sdk/text-of'
import { whyUnanswered } from '@deskwire/sdk/unanswered'
import { CommandFailure } from '../failure.ts'
import { UsageError } from '../usage-error.ts'

/** The flag that says which secrets, for the help of each such command. */
export const secretHelp = `  --secret whsec_…       the endpoint's secret; several while a rotation lasts, with commas (DESKWIRE_WEBHOOK_SECRET)
`

/** Of the flag or the environment. @throws UsageError when there is none. */
export function readSecrets(given: string | undefined): readonly string[] {
  const secrets = (given ?? process.env.DESKWIRE_WEBHOOK_SECRET ?? '').split(',').filter((one) => one !== '')
  if (secrets.length > 0) return secrets
  throw new UsageError(
    "--secret is needed, or DESKWIRE_WEBHOOK_SECRET: the endpoint's secret as it was shown, whsec_…",
  )
}

/**
 * The keys of a JSON Web Key Set, in a file or at an address. @throws UsageError when it is none, and CommandFailure
 * when its address does not answer.
 */
export async function readPublicKeys(from: string): Promise<readonly PublicKey[]> {
  const text = /^https?:/.test(from) ? await fetched(from) : await readFile(from, 'utf8')
  try {
    const { keys } = readJson<{ keys?: unknown }>(text)
    if (Array.isArray(keys) && keys.length > 0) return keys
  } catch {
    // No JSON.
  }
  throw new UsageError(`--jwks: ${from} is no JSON Web Key Set with a key: {"keys":[…]}`)
}

/** Bytes of a key set at an address. */
const longestKeys = 2 ** 20

async function fetched(address: string): Promise<string> {
  const response = await fetch(address, { signal: AbortSignal.timeout(10_000) }).catch((error) => {
    throw new CommandFailure(`--jwks: ${whyUnanswered(error, address)}`)
  })
  const text = response.ok ? await textOf(response, longestKeys) : undefined
  if (text !== undefined) return text
  const answered = response.ok ? `with more than ${longestKeys / 2 ** 20} MiB` : response.status
  throw new CommandFailure(`--jwks: ${address} answered ${answered}`)
}

/** The bytes of the file or, without one, of standard input. */
export async function readBody(path: string | undefined): Promise<Uint8Array<ArrayBuffer>> {
  if (path !== undefined) return new Uint8Array(await readFile(path))
  if (process.stdin.isTTY)
    throw new UsageError('give the file with the raw body, or the body on standard input')
  return new Uint8Array(await buffer(process.stdin))
}

/** Whole unix seconds. @throws UsageError */
export function readSeconds(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UsageError(`--${flag}: ${JSON.stringify(text)} is not accepted; it must be whole seconds`)
}

/** @throws UsageError */
export function parseHeaders(text: string): Record<string, string> {
  try {
    return headersOfText(text)
  } catch (error) {
    throw new UsageError(`--headers: it begins like JSON and is none (${(error as Error).message})`)
  }
}

/** The id and type that an event envelope names; null for any other body. */
export function eventOf(body: Uint8Array): { id: string; type: string } | null {
  try {
    const { id, type } = readJson<Record<string, unknown>>(
      new TextDecoder('utf-8', { fatal: true }).decode(body),
    )
    return typeof id === 'string' && typeof type === 'string' ? { id, type } : null
  } catch {
    return null
  }
}
