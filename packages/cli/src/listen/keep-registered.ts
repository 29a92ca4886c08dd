/**
 * Keeps the endpoint of a listener registered: the service may be restarted, on other data too, and somebody may
 * delete the endpoint.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client, WebhookWithSecret } from '@deskwire/sdk'
import { clientOf, type Target } from '../client.ts'
import { type Endpoint, isGone, mayPass, register, tryWithPing, unregister } from './register.ts'

/** How often to look, in milliseconds. */
const every = 2_000

/**
 * What was found: that the service does not answer, or does again; or that the endpoint was gone, and which there is
 * now.
 */
type Found =
  | { readonly found: 'unreachable' | 'reachable' }
  | { readonly found: 'deleted'; readonly webhook: WebhookWithSecret }

/** What becomes of an endpoint that is held. */
export type Held =
  | Exclude<Found, { found: 'deleted' }>
  /** For the first time, or anew. */
  | { readonly found: 'registered' | 'deleted'; readonly webhook: WebhookWithSecret }
  /** It was deleted in the end. */
  | { readonly found: 'ended'; readonly webhookId: string }

/**
 * Registers an endpoint, tries it with a ping, keeps it registered until `stopped`, and deletes it again whatever
 * happens.
 * @throws CommandFailure when the service cannot deliver there.
 */
export async function holdRegistered(
  target: Target,
  endpoint: Endpoint,
  { stopped, tell }: { readonly stopped: Promise<void>; readonly tell: (held: Held) => void },
): Promise<void> {
  const client = clientOf(target)
  const registerHere = () => register(client, endpoint)
  const webhook = await registerHere()
  let { id } = webhook
  tell({ found: 'registered', webhook })
  const over = new AbortController()
  try {
    await Promise.race([tryWithPing(client, id, endpoint.caPath), stopped])
    const keeping = keepRegistered(clientOf(target, { retries: 0 }), {
      webhookId: id,
      register: registerHere,
      tell(found) {
        if (found.found === 'deleted') id = found.webhook.id
        tell(found)
      },
      signal: over.signal,
    })
    await Promise.race([keeping, stopped])
  } finally {
    over.abort()
    await unregister(client, id)
    tell({ found: 'ended', webhookId: id })
  }
}

/**
 * Looks until `signal` aborts. A deleted endpoint is registered anew; a service that does not answer is waited for.
 * Rejects when the key may not do this any more.
 */
async function keepRegistered(
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
