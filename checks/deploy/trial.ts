/** A short test of an installation: concurrent writes, a waiting reader, a verified copy, verified deliveries. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Customer } from '../../packages/sdk/src/generated.ts'
import { createClient, MemoryCopy } from '../../packages/sdk/src/index.ts'
import type { Fetch } from '../../packages/sdk/src/options.ts'
import type { Hooks } from '../../packages/testbed/arrivals.ts'

/** Customers that are created at once. */
export const writes = 80

/** In milliseconds, for deliveries. */
const patience = 60_000

/** A line of results, and whether all of them are right. */
interface TrialResult {
  readonly line: string
  readonly good: boolean
}

/** Tests the installation at this address (`http://HOST:PORT`). */
export async function tryOut(
  url: string,
  options: { readonly apiKey: string; readonly receiver: Hooks; readonly fetch?: Fetch },
): Promise<TrialResult> {
  const { apiKey, receiver } = options
  const fetching = options.fetch === undefined ? {} : { fetch: options.fetch }
  const { customers, webhooks } = createClient({ baseUrl: `${url}/v1`, apiKey, retries: 0, ...fetching })
  const hook = { url: receiver.url, events: ['customer.created'] as const }
  const { secret } = await webhooks.create({ ...hook, events: [...hook.events] })

  const copy = new MemoryCopy<Customer>()
  let cursor: string | undefined
  let proven = false
  const read = async (wait?: number) => {
    for await (const page of customers.sync({ limit: 100, cursor, wait })) {
      for (const change of page.changes) await copy.apply(change)
      cursor = page.cursor
      proven = page.checkpoint !== undefined && copy.verify(page.checkpoint).exact
    }
  }
  await read()
  const before = copy.rows.size
  const waiting = read(30).then(() => performance.now())
  const began = performance.now()
  const made = await Promise.allSettled(
    Array.from({ length: writes }, (_, n) => customers.create({ name: `Customer ${n}` })),
  )
  const written = made.filter(({ status }) => status === 'fulfilled').length
  const heard = (await waiting) - began
  await read()
  const synced = copy.rows.size - before

  const until = performance.now() + patience
  let delivered = new Set<string>() as ReadonlySet<string>
  while (delivered.size < written && performance.now() < until) {
    await delay(100)
    delivered = await receiver.received(secret)
  }
  const good = written === writes && synced === writes && proven && delivered.size === writes
  const failure = made.find((one): one is PromiseRejectedResult => one.status === 'rejected')
  return {
    good,
    line: `${written} of ${writes} writes, ${synced} synced (${proven ? 'proven exact' : 'not proven'}), a waiting reader ${heard < 25_000 ? 'woken' : 'not woken'}, ${delivered.size} delivered with a right signature${failure === undefined ? '' : `; ${String(failure.reason)}`}`,
  }
}
