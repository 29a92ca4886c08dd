/**
 * A whole receiver but for the HTTP: verifies, remembers, answers in time. The frameworks' ways of handing over a raw body are in
 * `adapters.ts`.
 */
import type { WebhookEvent } from './event.ts'
import { once, type SeenEvents, SeenInMemory } from './seen.ts'
import { type RawBody, type Secrets, verifyWebhook } from './signature.ts'
import { listOf } from './signing.ts'

export interface ReceiverOptions {
  /** The endpoint's secret; several while a rotation lasts. */
  secrets: Secrets
  /** The work. What it throws is answered 500, and the event comes again. */
  handle: (event: WebhookEvent) => Promise<void> | void
  /** Where it is remembered what was done: in memory unless told. */
  seen?: SeenEvents
  /**
   * Milliseconds after which a delivery is answered though its work goes on; the next one finds it done. Default 8,000, as the
   * service waits ten seconds.
   */
  answerWithinMs?: number
  /** Called with what `handle` or `seen` threw: to log it. Written to the console unless told. */
  onError?: (error: unknown, event: WebhookEvent) => void
  /** As of `verifyWebhook`: for tests. */
  tolerance?: number
}

/** What to answer. The body of a refusal says why; it holds nothing secret. */
export interface Reply {
  status: 204 | 400 | 500 | 503
  body: string
}

/** Takes a body as it was received, and the header `X-Service-Signature` as the framework hands it over. Rejects with what `onError` throws alone. */
export type Receiver = (
  rawBody: RawBody,
  header: string | readonly string[] | null | undefined,
) => Promise<Reply>

/**
 * A receiver that does the work of each event once: 204 when it is done, now or before; 400 for what is not signed by one of the
 * secrets; 500 when the work has failed; 503 while it goes on. Throws TypeError for a secret that is empty or missing, at once.
 */
export const createReceiver = ({
  secrets,
  handle,
  seen = new SeenInMemory(),
  answerWithinMs = 8_000,
  onError = (error) => console.error(error),
  tolerance = 300,
}: ReceiverOptions): Receiver => {
  listOf(secrets)
  return async (rawBody, header) => {
    const verdict = await verifyWebhook(rawBody, header, secrets, { tolerance })
    if (!verdict.ok) return { status: 400, body: verdict.detail }
    const { event } = verdict
    const work = once(seen, event.id, () => handle(event)).then(
      (begun): Reply => (begun === 'under_way' ? goesOn : { status: 204, body: '' }),
      (error: unknown): Reply => {
        onError(error, event)
        return { status: 500, body: 'The work of this event has failed.' }
      },
    )
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<Reply>((resolve) => {
      timer = setTimeout(() => resolve(goesOn), answerWithinMs)
    })
    return Promise.race([work, late]).finally(() => clearTimeout(timer))
  }
}

const goesOn: Reply = { status: 503, body: 'The work of this event goes on.' }
