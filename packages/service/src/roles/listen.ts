/** Binds an HTTP server to a host and port, and explains why it could not. */
import type { Server } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** The server cannot listen on its host and port; the message says what to set instead. */
export class ListenError extends Error {}

export interface Where {
  readonly host: string
  readonly port: number
}

/** Resolves when the server listens; `variable` names the setting of its port. @throws ListenError */
export async function listen(
  server: FastifyInstance,
  { host, port }: Where,
  variable = 'DESKWIRE_PORT',
): Promise<void> {
  try {
    await server.listen({ host, port })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = code === 'EADDRINUSE' ? 'something else listens there' : message
    throw new ListenError(
      `cannot listen on ${host}, port ${port}: ${reason}; set DESKWIRE_HOST and ${variable} (port 0 picks a free one)`,
      { cause: error },
    )
  }
}

export function addressOf(address: ReturnType<Server['address']>): string {
  if (address === null || typeof address === 'string') return String(address)
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}
