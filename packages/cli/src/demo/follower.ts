/** The demo's copy of one kind, fed by a sync, with the bytes of its pages. */
import {
  type Change,
  createClient,
  MemoryCopy,
  type Row,
  type SyncPage,
  type SyncParams,
} from '@deskwire/sdk'
import type { Target } from '../client.ts'
import { CommandFailure } from '../failure.ts'

/** The calls of a kind that a copy needs. */
interface Followed<T extends Row> {
  sync(options: SyncParams): AsyncGenerator<SyncPage<T>, void, undefined>
}

export class Follower<T extends Row> {
  readonly copy = new MemoryCopy<T>()
  readonly #name: string
  readonly #source: Followed<T>
  readonly #pages: string[]
  #cursor: string | undefined

  /** `pick` names the kind: the client that it gets keeps the bytes of every answer. */
  constructor(name: string, target: Target, pick: (client: ReturnType<typeof createClient>) => Followed<T>) {
    const pages: string[] = []
    this.#name = name
    this.#pages = pages
    this.#source = pick(
      createClient({
        ...target,
        fetch: async (url, init) => {
          const response = await fetch(url, init)
          pages.push(await response.clone().text())
          return response
        },
      }),
    )
  }

  /** Takes in what changed since. @throws CommandFailure when the copy is not exact then. */
  async catchUp(): Promise<Change<T>[]> {
    const taken: Change<T>[] = []
    this.#pages.length = 0
    const from = this.#cursor === undefined ? {} : { cursor: this.#cursor }
    for await (const page of this.#source.sync(from)) {
      for (const change of page.changes) await this.copy.apply(change)
      taken.push(...page.changes)
      this.#cursor = page.cursor
      if (page.checkpoint && !this.copy.verify(page.checkpoint).exact) {
        throw new CommandFailure(`the copy of ${this.#name} is not exact`)
      }
    }
    return taken
  }

  /** Whether the pages of the last `catchUp` hold these very bytes. */
  has(data: string): boolean {
    return this.#pages.some((page) => page.includes(data))
  }
}
