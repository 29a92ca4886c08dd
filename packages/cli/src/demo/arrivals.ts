/** What the demo's receiver got, and waiting for what it is to get. */
import type { WebhookEvent } from '@deskwire/sdk'
import { CommandFailure } from '../failure.ts'
import type { Received } from '../listen/receiver.ts'

/** One event, however often it came. */
export interface Arrival {
  readonly event: WebhookEvent
  /** The bytes of `data`, as they were sent. */
  readonly data: string
  /** When it first came, in milliseconds. */
  readonly at: number
  times: number
}

/** How long an event may take, in milliseconds. */
const within = 20_000

export class Arrivals {
  readonly #byId = new Map<string, Arrival>()
  readonly #looking = new Set<() => void>()
  readonly #signal: AbortSignal

  /** Once `signal` is aborted, nothing is waited for any more: its reason is thrown. */
  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.#look(), { once: true })
  }

  /** Takes in what a receiver got. @returns whether it was verified. */
  take({ verdict, body, at }: Received): boolean {
    if (!verdict.ok) return false
    const { event } = verdict
    const known = this.#byId.get(event.id)
    if (known === undefined)
      this.#byId.set(event.id, { event, data: dataOf(body), at: at.getTime(), times: 1 })
    else known.times += 1
    this.#look()
    return true
  }

  /** The event of this type about this object. @throws CommandFailure when it does not come. */
  async of(type: string, subjectId: string): Promise<Arrival> {
    const found = () =>
      [...this.#byId.values()].find(({ event }) => event.type === type && idOf(event) === subjectId) ?? null
    return await this.#until(found, `${type} of ${subjectId} did not arrive`)
  }

  /** The first event that came more than once. */
  async repeated(): Promise<Arrival> {
    const found = () => [...this.#byId.values()].find(({ times }) => times > 1) ?? null
    return await this.#until(found, 'what the killed worker was sending did not come again')
  }

  #look(): void {
    for (const look of this.#looking) look()
  }

  async #until<T>(find: () => T | null, otherwise: string): Promise<T> {
    this.#signal.throwIfAborted()
    const found = find()
    if (found !== null) return found
    return await new Promise((settle, refuse) => {
      const end = () => {
        clearTimeout(timer)
        this.#looking.delete(look)
      }
      const look = () => {
        const now = find()
        if (now === null && !this.#signal.aborted) return
        end()
        if (now === null) refuse(this.#signal.reason)
        else settle(now)
      }
      const timer = setTimeout(() => {
        end()
        refuse(new CommandFailure(`${otherwise} at the receiver within ${within / 1_000} s`))
      }, within)
      this.#looking.add(look)
    })
  }
}

function idOf(event: WebhookEvent): string | null {
  return 'id' in event.data ? event.data.id : null
}

/** `data` is the envelope's last member; its bytes are what the matching GET answers. */
function dataOf(body: Buffer): string {
  const text = body.toString('utf8')
  return text.slice(text.indexOf('"data":') + '"data":'.length, -1)
}
