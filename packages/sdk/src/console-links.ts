/** Links to the console, for somebody who has no key: a product that embeds it makes one for each visit. */
import type { ConsoleLink, ConsoleLinkInput, ConsoleSession } from './generated.ts'
import { addressOf, type CallOptions, type CreateOptions, given } from './resource.ts'
import type { Call, Send } from './transport.ts'

const path = '/console-links'

/** Every call throws DeskwireError when it fails, and repeats itself where `retry.ts` calls that safe. */
export class ConsoleLinks {
  readonly #send: Send

  constructor(send: Send) {
    this.#send = send
  }

  /** Makes a link whose session may do no more than `scopes` say. Open `url` for whom it is meant, once. */
  async create(
    input: ConsoleLinkInput,
    { idempotencyKey, signal }: CreateOptions = {},
  ): Promise<ConsoleLink> {
    const headers = given('idempotency-key', idempotencyKey)
    return this.#call({ method: 'POST', path, headers, body: input }, { signal })
  }

  /** What the console does with a link: exchanges what stands behind `#link=` for the token of its session, once. */
  async exchange(link: string, options: CallOptions = {}): Promise<ConsoleSession> {
    return this.#call({ method: 'POST', path: `${path}/exchange`, body: { link } }, options)
  }

  /** Ends a link and its session at once. */
  async remove(id: string, options: CallOptions = {}): Promise<void> {
    await this.#call({ method: 'DELETE', path: addressOf(path, id) }, options)
  }

  async #call<T>(call: Call, { signal }: Pick<Call, 'signal'>): Promise<T> {
    const answer = await this.#send({ ...call, signal })
    return answer.body as T
  }
}
