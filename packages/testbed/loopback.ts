/** Servers on the loopback that play a peer. Receivers of deliveries are in `receiver.ts`. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net'
import type { Certified } from './certificates.ts'
import { eventually } from './eventually.ts'

export interface Listening extends AsyncDisposable {
  readonly port: number
  hangUp(): void
}

/** `await using peer = await listening(createServer(…))`: any server of Node, on a free port. */
export async function listening(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const hangUp = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    hangUp,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      hangUp()
      await closed
    },
  }
}

/** `await using peer = await startHttpServer(listener)`: with a certificate it speaks TLS. `url` has no path. */
export async function startHttpServer(
  listener: RequestListener,
  certified?: Certified,
): Promise<Listening & { readonly url: string }> {
  const server = certified === undefined ? createServer(listener) : createHttpsServer(certified, listener)
  const started = await listening(server)
  return { ...started, url: `${certified === undefined ? 'http' : 'https'}://127.0.0.1:${started.port}` }
}

/** A proxy's forwarding to another server, at the same path or another. */
export async function forward(
  request: IncomingMessage,
  to: string,
  path = request.url ?? '/',
): Promise<{ readonly status: number; readonly type: string; readonly text: string }> {
  const body = Buffer.concat(await request.toArray())
  const names = ['authorization', 'content-type', 'idempotency-key']
  const response = await fetch(to + path, {
    method: request.method ?? 'GET',
    headers: names.flatMap((name): [string, string][] => {
      const value = request.headers[name]
      return value === undefined ? [] : [[name, String(value)]]
    }),
    ...(body.length === 0 ? {} : { body }),
  })
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? 'application/json',
    text: await response.text(),
  }
}

/** `await using way = await passOn(target)`: a stable port in front of `target`, a port or the path of a socket. */
export function passOn(target: () => number | string): Promise<Listening> {
  return listening(
    createTcpServer((near) => {
      const at = target()
      const far = typeof at === 'number' ? connect(at, '127.0.0.1') : connect(at)
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on('error', () => other.destroy())
        one.on('close', () => other.destroy())
        one.pipe(other)
      }
    }),
  )
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  await using free = await listening(createTcpServer())
  return free.port
}

export async function untilListening(port: number): Promise<void> {
  await eventually(`something listens on port ${port}`, async () => {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return true
    } catch {
      return false
    } finally {
      socket.destroy()
    }
  })
}
