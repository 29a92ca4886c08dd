/**
 * The end of one request's patience: without it a peer that is lost in silence, while an answer is held back, stalls
 * its caller for ever.
 */

/** Aborts its `signal` after so many milliseconds, or with the caller's signal, whose reason it then has. */
export class TimeLimit {
  readonly #ms: number
  readonly #controller = new AbortController()
  readonly #caller: AbortSignal | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(ms: number, caller: AbortSignal | undefined) {
    this.#ms = ms
    this.#caller = caller
    // By hand, as `AbortSignal.any` keeps what it makes for as long as a long-lived signal of the caller's lives.
    caller?.addEventListener('abort', this.#onCaller, { once: true })
    if (caller?.aborted) this.#onCaller()
    else this.#begin()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** To be called once, when nothing more is waited for. */
  end(): void {
    clearTimeout(this.#timer)
    this.#caller?.removeEventListener('abort', this.#onCaller)
  }

  /** The same bytes, with the limit begun anew at each piece, and ended with them. */
  watch(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader()
    clearTimeout(this.#timer)
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          this.#begin()
          try {
            const { done, value } = await reader.read()
            clearTimeout(this.#timer)
            if (!done) return controller.enqueue(value)
            this.end()
            controller.close()
          } catch (error) {
            this.end()
            controller.error(error)
          }
        },
        cancel: async (reason) => {
          this.end()
          await reader.cancel(reason)
        },
      },
      // Nothing is read ahead: a reader that is slow is not a peer that is silent.
      { highWaterMark: 0 },
    )
  }

  readonly #onCaller = () => this.#controller.abort(this.#caller?.reason)

  #begin(): void {
    clearTimeout(this.#timer)
    // A longer time than timers know would fire at once; that is 24 days, and no limit.
    if (this.#ms > 2_147_483_647) return
    const expire = () =>
      this.#controller.abort(new DOMException(`No complete answer within ${this.#ms} ms.`, 'TimeoutError'))
    this.#timer = setTimeout(expire, this.#ms)
  }
}
