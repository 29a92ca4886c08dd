/**
 * A whole receiver but for the HTTP: verifies, remembers, responds in time. The frameworks' ways of handing over a
 * raw body are in `adapters.ts`.
 */
import type { EventType, WebhookEvent } from './event.ts'
import { once, type SeenEvents, SeenInMemory } from './seen.ts'
import { listOf, type RawBody, type Secrets } from './signing.ts'
import { type RequestHeaders, SignatureError, verify } from './verify.ts'

export interface ReceiverOptions {
  /** The endpoint's secret; several while a rotation lasts. */
  secrets: Secrets
  /** Where it is remembered what was done. Default: in memory. */
  seen?: SeenEvents
  /**
   * Milliseconds after which a delivery is answered though its work goes on; the next one finds it done. Default:
   * 8,000, as the service waits ten seconds.
   */
  answerWithinMs?: number
  /** Called with what a handler or `seen` threw: to log it. Default: written to the console. */
  onError?: (error: unknown, event: WebhookEvent) => unknown
  /** Seconds, as of `verify`: for tests. */
  tolerance?: number
}

/** What to respond. The body of a refusal says why; it holds nothing secret. */
export interface Reply {
  status: 204 | 400 | 500 | 503
  body: string
}

/** What an event of this type is; `*` is any. */
export type EventOf<Type extends EventType | '*'> = Type extends '*'
  ? WebhookEvent
  : Extract<WebhookEvent, { type: Type }>

export interface Receiver {
  /**
   * Does this for each event of this type, or of any (`*`). Handlers run one after another, as they were added. What
   * one throws is responded to with 500, and the event comes again.
   */
  on<Type extends EventType | '*'>(
    type: Type,
    handler: (event: EventOf<Type>) => Promise<void> | void,
  ): Receiver
  /** Takes a body as it was received, with its headers. Rejects with what `onError` throws alone. */
  receive(rawBody: RawBody, headers: RequestHeaders): Promise<Reply>
}

type Handler = (event: WebhookEvent) => Promise<void> | void

/**
 * A receiver that does the work of each event once: 204 when it is done, now or before, or when no handler is for it;
 * 400 for what is not signed by one of the secrets; 500 when the work has failed; 503 while it goes on. Throws
 * TypeError for a secret that is empty or missing, at once.
 */
export const createReceiver = ({
  secrets,
  seen = new SeenInMemory(),
  answerWithinMs = 8_000,
  onError = (error) => console.error(error),
  tolerance = 300,
}: ReceiverOptions): Receiver => {
  listOf(secrets)
  const handlers: [type: string, handler: Handler][] = []
  const handle = async (event: WebhookEvent) => {
    for (const [type, handler] of handlers) if (type === '*' || type === event.type) await handler(event)
  }
  const receiver: Receiver = {
    on(type, handler) {
      handlers.push([type, handler as Handler])
      return receiver
    },
    async receive(rawBody, headers) {
      let event: WebhookEvent
      try {
        event = await verify(rawBody, headers, secrets, { tolerance })
      } catch (error) {
        if (error instanceof SignatureError) return { status: 400, body: error.message }
        throw error
      }
      const work = once(seen, event.id, () => handle(event)).then(
        (begun): Reply => (begun === 'under_way' ? goesOn : { status: 204, body: '' }),
        async (error: unknown): Promise<Reply> => {
          await onError(error, event)
          return { status: 500, body: 'The work of this event has failed.' }
        },
      )
      let timer: ReturnType<typeof setTimeout> | undefined
      const late = new Promise<Reply>((resolve) => {
        timer = setTimeout(() => resolve(goesOn), answerWithinMs)
      })
      return Promise.race([work, late]).finally(() => clearTimeout(timer))
    },
  }
  return receiver
}

const goesOn: Reply = { status: 503, body: 'The work of this event goes on.' }
