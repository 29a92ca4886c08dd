/** Answers that go on: how many a key may have open, and how much of each may wait for its client to read it. */

/** Of a key, in one process. */
export const mostStreams = 20
/** Messages that the client has not read yet. */
const mostUnread = 20
/** Milliseconds for which a client may read none of so many. */
const readsWithin = 60_000

/** The methods whose answers do not end by themselves. */
const holding: ReadonlySet<unknown> = new Set(['events/stream', 'subscriptions/listen'])

export function isHeld(message: unknown): message is { readonly id: unknown } {
  return typeof message === 'object' && message !== null && 'method' in message && holding.has(message.method)
}

/** What of one answer the client has still to read. */
export class Outflow {
  #unread = 0
  #isOver = false
  #wake: (() => void) | null = null
  /** Called when the client reads nothing. */
  onStall: () => void = () => {}

  /** Resolves when another message may be sent: the client has read enough, or has gone. */
  async room(): Promise<void> {
    while (this.#unread >= mostUnread && !this.#isOver) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      const timer = setTimeout(() => this.onStall(), readsWithin)
      await promise
      clearTimeout(timer)
    }
    this.#unread++
  }

  taken(): void {
    this.#unread--
    this.#wake?.()
  }

  end(): void {
    this.#isOver = true
    this.#wake?.()
  }
}

const colon = 0x3a

export class Streams {
  readonly #open = new Map<string, number>()

  /** False: the key has as many as it may. Otherwise give it to `hold`, or `release` it. */
  take(key: string): boolean {
    const open = this.#open.get(key) ?? 0
    if (open >= mostStreams) return false
    this.#open.set(key, open + 1)
    return true
  }

  release(key: string): void {
    const open = (this.#open.get(key) ?? 0) - 1
    if (open > 0) this.#open.set(key, open)
    else this.#open.delete(key)
  }

  /** The answer, whose messages are taken from it as the client reads them. */
  hold(key: string, answer: Response, outflow: Outflow): Response {
    if (answer.body === null) {
      this.release(key)
      return answer
    }
    const reader = answer.body.getReader()
    let isOver = false
    const end = () => {
      if (isOver) return
      isOver = true
      outflow.end()
      this.release(key)
    }
    const body = new ReadableStream<Uint8Array>(
      {
        start(client) {
          outflow.onStall = () => {
            end()
            client.error(new Error('the client of a stream reads nothing'))
            reader.cancel().catch(() => {})
          }
        },
        async pull(client) {
          try {
            const { done, value } = await reader.read()
            if (done) {
              end()
              client.close()
              return
            }
            // A comment is a sign of life, and no message.
            if (value[0] !== colon) outflow.taken()
            client.enqueue(value)
          } catch (error) {
            end()
            client.error(error)
          }
        },
        cancel(reason) {
          end()
          return reader.cancel(reason)
        },
      },
      { highWaterMark: 0 },
    )
    return new Response(body, answer)
  }
}
