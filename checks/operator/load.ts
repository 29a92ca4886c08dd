/** Writers and a copy that run while an operator works, and what they saw. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Customer } from '../../packages/sdk/src/generated.ts'
import { createClient, MemoryCopy } from '../../packages/sdk/src/index.ts'
import type { Fetch } from '../../packages/sdk/src/options.ts'
import type { Hooks } from '../../packages/testbed/arrivals.ts'

const writers = 4
/** In milliseconds, between two writes of one of them: together they stay below a key's limit. */
const pause = 100
/** In milliseconds, for deliveries. */
const patience = 60_000

interface Seen {
  readonly acknowledged: number
  /** Calls that failed after all of a client's retries. */
  readonly failed: readonly string[]
  /** Responses of 5xx and requests without a response, repeated or not. */
  readonly noticed: readonly string[]
  /** The slowest response, without requests that wait, in milliseconds. */
  readonly slowest: number
  readonly missing: number
  readonly undelivered: number
  readonly exact: boolean
}

/** The result ends it, and waits for deliveries and for the copy. */
export async function startLoad(
  baseUrl: string,
  { apiKey, receiver, fetch }: { readonly apiKey: string; readonly receiver: Hooks; readonly fetch: Fetch },
): Promise<() => Promise<Seen>> {
  const noticed: string[] = []
  let slowest = 0
  const watched: Fetch = async (url, init) => {
    const what = `${init.method} ${new URL(url).pathname}`
    const since = performance.now()
    try {
      const answer = await fetch(url, init)
      if (answer.status >= 500) noticed.push(`${what}: ${answer.status}`)
      if (!url.includes('wait=')) slowest = Math.max(slowest, performance.now() - since)
      return answer
    } catch (error) {
      noticed.push(`${what}: ${String((error as Error).cause ?? error)}`)
      throw error
    }
  }
  const { customers, webhooks } = createClient({ baseUrl, apiKey, fetch: watched })
  const { secret } = await webhooks.create({ url: receiver.url, events: ['customer.created'] })
  const acknowledged: string[] = []
  const failed: string[] = []
  let isOver = false
  const writing = Array.from({ length: writers }, async (_, writer) => {
    for (let n = 0; !isOver; n++) {
      try {
        acknowledged.push((await customers.create({ name: `Beside ${writer}-${n}` })).id)
      } catch (error) {
        failed.push(String(error))
      }
      await delay(pause)
    }
  })

  const copy = new MemoryCopy<Customer>()
  let cursor: string | undefined
  let exact = false
  const follow = async (wait?: number) => {
    for await (const page of customers.sync({ cursor, wait })) {
      for (const change of page.changes) await copy.apply(change)
      cursor = page.cursor
      exact = page.checkpoint !== undefined && copy.verify(page.checkpoint).exact
    }
  }
  const following = (async () => {
    while (!isOver) await follow(5).catch((error) => failed.push(String(error)))
  })()

  return async () => {
    isOver = true
    await Promise.all([...writing, following])
    await follow()
    const until = performance.now() + patience
    let arrived = 0
    while (arrived < acknowledged.length && performance.now() < until) {
      await delay(200)
      arrived = (await receiver.received(secret)).size
    }
    return {
      acknowledged: acknowledged.length,
      failed,
      noticed,
      slowest,
      missing: acknowledged.filter((id) => !copy.rows.has(id)).length,
      undelivered: acknowledged.length - arrived,
      exact,
    }
  }
}
