/**
 * Deliveries passed on to an application on this machine: the same bytes, with the headers that they are verified by.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { UsageError } from '../usage-error.ts'

/** What became of a delivery that was passed on. */
export type Forwarded =
  | { readonly url: string; readonly status: number; readonly durationMs: number }
  | { readonly url: string; readonly error: string; readonly durationMs: number }

/** How long the application may take, in milliseconds: as long as a service waits unless it is told otherwise. */
const answerWithin = 10_000

/** What belongs to one connection, or is said anew on the next. */
const ofConnection = new Set([
  ...['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'expect', 'te', 'upgrade'],
])

/** The address that `--forward-to` names; `localhost:3000/hook` is one too. @throws UsageError */
export function readForwardUrl(text: string): string {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '' && url.hash === '')
    return url.href
  throw new UsageError(
    `--forward-to: ${JSON.stringify(text)} is not accepted; it must be like http://localhost:3000/hook`,
  )
}

/** Passes a delivery on, and says what the application answered. Never rejects; redirects are not followed. */
export async function forward(url: string, headers: IncomingHttpHeaders, body: Buffer): Promise<Forwarded> {
  const began = performance.now()
  const durationMs = () => Math.round(performance.now() - began)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: passedOn(headers),
      body: new Uint8Array(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(answerWithin),
    })
    await response.body?.cancel()
    return { url, status: response.status, durationMs: durationMs() }
  } catch (error) {
    return { url, error: reasonOf(url, error as Error), durationMs: durationMs() }
  }
}

/**
 * What the service is answered: as the application did, so that what fails there is tried again; 502 when it did not
 * answer.
 */
export function statusFor(forwarded: Forwarded): number {
  return 'status' in forwarded ? forwarded.status : 502
}

function passedOn(headers: IncomingHttpHeaders): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || ofConnection.has(name) ? [] : [[name, String(value)]],
  )
}

function reasonOf(url: string, error: Error): string {
  if (error.name === 'TimeoutError') return `no answer within ${answerWithin / 1_000} s`
  const { cause } = error as Error & { cause?: Error & { code?: string } }
  if (cause?.message === 'bad port') return `fetch refuses port ${new URL(url).port}: use another`
  return cause?.code ?? cause?.message ?? error.message
}
