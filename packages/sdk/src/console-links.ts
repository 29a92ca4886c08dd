/** Links to the console, for somebody who has no key: a product that embeds it makes one for each visit. */
import type { ConsoleLink, ConsoleLinkInput, ConsoleSession } from './generated.ts'
import type { CallOptions, CreateOptions } from './options.ts'
import { addressOf } from './resource.ts'
import type { Send } from './transport.ts'

const path = '/console-links'

/** Every call throws DeskwireError, and repeats itself where `retry.ts` calls that safe. */
export class ConsoleLinks {
  readonly #send: Send

  constructor(send: Send) {
    this.#send = send
  }

  /** Makes a link whose session may do no more than `scopes` say. Open `url` for whom it is meant, once. */
  async create(input: ConsoleLinkInput, options?: CreateOptions): Promise<ConsoleLink> {
    return this.#send({ method: 'POST', path, body: input }, options)
  }

  /** What the console does with a link: exchanges what is behind `#link=` for the token of its session, once. */
  async exchange(link: string, options?: CallOptions): Promise<ConsoleSession> {
    return this.#send({ method: 'POST', path: `${path}/exchange`, body: { link } }, options)
  }

  /** Ends a link and its session at once. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    return this.#send({ method: 'DELETE', path: addressOf(path, id) }, options)
  }
}
