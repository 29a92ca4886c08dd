/** For commands that have no end by themselves. */

import { outputLost } from './failure.ts'
import { visible } from './terminal.ts'

/**
 * Aborts on Ctrl-C and SIGTERM, and when standard output cannot be written any more. Its handlers stay: Ctrl-C under
 * npx arrives twice, and the second would end the process before it has cleaned up.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => controller.abort())
  return AbortSignal.any([controller.signal, outputLost])
}

/** Resolves when the signal aborts. */
export function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((settle) => {
    if (signal.aborted) settle()
    else signal.addEventListener('abort', () => settle(), { once: true })
  })
}

/**
 * Standard output for lines without an end, whose reader may leave: `lines` is false once it has. A line that is
 * written waits until there is room for it.
 */
export class Output {
  readonly #stream: NodeJS.WriteStream
  #failure: NodeJS.ErrnoException | undefined
  /** Aborts when nobody reads any more. */
  readonly #closed = new AbortController()

  constructor(stream: NodeJS.WriteStream = process.stdout) {
    this.#stream = stream
    stream.on('error', (error: NodeJS.ErrnoException) => {
      this.#failure = error
      this.#closed.abort()
    })
  }

  get closed(): AbortSignal {
    return this.#closed.signal
  }

  /**
   * Resolves when more can be written, or nothing can any more. Rejects with the failure to write, but for a reader
   * that has left.
   */
  async write(text: string): Promise<void> {
    if (!this.closed.aborted && !this.#stream.write(visible(text))) {
      await new Promise<void>((settle) => {
        this.#stream.once('drain', settle)
        this.closed.addEventListener('abort', () => settle(), { once: true })
      })
    }
    if (this.#failure !== undefined && this.#failure.code !== 'EPIPE') throw this.#failure
  }
}
