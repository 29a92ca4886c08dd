/** The way in: one object with a resource per kind, all over one transport. */

import { resources } from './generated.ts'
import { type ClientOptions, createSend } from './transport.ts'

export type Client = ReturnType<typeof resources>

/**
 * A client of the service at `baseUrl`. It sends nothing yet and holds no connection of its own, so there is
 * nothing to close. Throws TypeError for a base address or key that cannot be used.
 */
export const createClient = (options: ClientOptions): Client => resources(createSend(options))
