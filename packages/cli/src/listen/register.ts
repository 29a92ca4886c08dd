/** An endpoint at a running service for as long as a command takes, tried with a ping. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, DeskwireError, type EventType, type WebhookWithSecret } from '@deskwire/sdk'
import { CommandFailure } from '../failure.ts'

/** How a service is started that delivers to a receiver on this machine. */
export function howToTrust(caPath: string): string {
  return `--dev (in a checkout: npm start -- --dev), or with DESKWIRE_TRUSTED_TARGETS=127.0.0.0/8 DESKWIRE_TARGET_CA=${caPath}`
}

/** How long a ping may take, in milliseconds: a whole attempt, and a little for a worker to come to it. */
const pingWithin = 15_000

/** Where a receiver on this machine is, and what it wants. */
export interface Endpoint {
  readonly url: string
  readonly events: readonly string[]
  /** The certificate of the authority that the service has to trust. */
  readonly caPath: string
  readonly description: string
}

/** Registers `url`. @throws CommandFailure that says what the service has to be started with. */
export async function register(client: Client, endpoint: Endpoint): Promise<WebhookWithSecret> {
  const { url, description, caPath } = endpoint
  // The service judges the names, since it may know more of them than this SDK.
  const events = endpoint.events as Exclude<EventType, 'ping'>[]
  try {
    return await client.webhooks.create({ url, description, events })
  } catch (error) {
    if (!(error instanceof DeskwireError) || error.code !== 'url_not_public') throw error
    throw new CommandFailure(
      `the service refuses receivers on this machine: restart it with ${howToTrust(caPath)}`,
    )
  }
}

/** Deletes an endpoint again. Somebody else may have done it: that is what was wanted. */
export async function unregister(client: Client, webhookId: string): Promise<void> {
  await client.webhooks.delete(webhookId).catch((error: unknown) => {
    if (isGone(error)) return
    throw new CommandFailure(
      `webhook ${webhookId} could not be deleted (${(error as Error).message}): delete it when the service is there again`,
    )
  })
}

/** Whether a call failed as the endpoint was deleted. */
export function isGone(error: unknown): boolean {
  return error instanceof DeskwireError && error.code === 'not_found'
}

/** Whether a call failed for what may pass: no answer, too many calls, or a service that is in trouble. */
export function mayPass(error: unknown): boolean {
  return error instanceof DeskwireError && error.isTransient
}

/**
 * Sends a ping and waits for its end, or for somebody to delete the endpoint. @throws CommandFailure when it did not
 * arrive.
 */
export async function tryWithPing(client: Client, webhookId: string, caPath: string): Promise<void> {
  const sent = await client.webhooks.ping(webhookId)
  const deadline = Date.now() + pingWithin
  for (;;) {
    const ping = await client.deliveries.get(webhookId, sent.id).catch(notYet)
    if (ping === 'gone' || ping?.status === 'succeeded') return
    if (ping?.status === 'failed') {
      const { code, message } = ping.lastError ?? { code: 'unknown', message: 'no reason was given' }
      const advice =
        code === 'tls_error'
          ? `: a service with --dev trusts the authority in the directory listen of its data, which --dir names; or restart it with ${howToTrust(caPath)}`
          : ''
      throw new CommandFailure(`the service cannot deliver here (${code}, ${message})${advice}`)
    }
    if (Date.now() > deadline) {
      throw new CommandFailure(
        `a ping did not arrive within ${pingWithin / 1_000} s: does the service have a worker?`,
      )
    }
    await delay(50)
  }
}

function notYet(error: unknown): 'gone' | null {
  if (isGone(error)) return 'gone'
  if (mayPass(error)) return null
  throw error
}
