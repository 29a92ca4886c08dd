/** The way in: one object with a resource per kind, and the webhooks, all over one transport. */

import { resources } from './generated.ts'
import { type ClientOptions, createSend } from './transport.ts'
import { Webhooks } from './webhooks.ts'

export type Client = ReturnType<typeof resources> & { readonly webhooks: Webhooks }

/**
 * A client of the service at `baseUrl`. It sends nothing yet and holds no connection of its own, so there is
 * nothing to close. Throws TypeError for a base address or key that cannot be used.
 */
export const createClient = (options: ClientOptions): Client => {
  const send = createSend(options)
  return { ...resources(send), webhooks: new Webhooks(send) }
}
