/**
 * Keeps the endpoint of a listener registered: the service may be restarted, on other data too, and somebody may delete the endpoint.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client, WebhookWithSecret } from '@deskwire/sdk'
import { isGone, mayPass } from './register.ts'

/** How often to look, in milliseconds. */
const every = 2_000

/** What was found: that the service does not answer, or does again; or that the endpoint was gone, and which there is now. */
export type Found =
  | { readonly found: 'unreachable' | 'reachable' }
  | { readonly found: 'deleted'; readonly webhook: WebhookWithSecret }

/**
 * Looks until `signal` aborts. A deleted endpoint is registered anew; a service that does not answer is waited for. Rejects when
 * the key may not do this any more.
 */
export async function keepRegistered(
  client: Client,
  options: {
    readonly webhookId: string
    readonly register: () => Promise<WebhookWithSecret>
    readonly tell: (found: Found) => void
    readonly signal: AbortSignal
  },
): Promise<void> {
  const { register, tell, signal } = options
  let id = options.webhookId
  let reachable = true
  while (await pause(signal)) {
    try {
      const exists = await client.webhooks.get(id).then(() => true, unlessDeleted)
      if (!reachable) tell({ found: 'reachable' })
      reachable = true
      if (exists || signal.aborted) continue
      const webhook = await register()
      id = webhook.id
      tell({ found: 'deleted', webhook })
    } catch (error) {
      if (!mayPass(error)) throw error
      if (reachable) tell({ found: 'unreachable' })
      reachable = false
    }
  }
}

/** False when it is over. */
async function pause(signal: AbortSignal): Promise<boolean> {
  await delay(every, undefined, { signal }).catch(() => {})
  return !signal.aborted
}

function unlessDeleted(error: unknown): false {
  if (isGone(error)) return false
  throw error
}
