/** Binds an HTTP server to a host and port, and explains why it could not. */
import type { Server } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** The server cannot listen on its host and port; the message says what to set instead. */
export class ListenError extends Error {}

export interface Where {
  readonly host: string
  readonly port: number
}

/** Ports to which `fetch` and browsers connect by no means: the "bad ports" of the Fetch standard. */
export const refusedPorts: readonly number[] = [
  ...[
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  ],
  ...[
    109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  ],
  ...[526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049],
  ...[3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
]

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

export interface Running {
  /** Completes work in progress, and resolves when nothing runs any more. */
  stop(): Promise<void>
}
