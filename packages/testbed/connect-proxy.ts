/** An HTTP proxy that opens tunnels by CONNECT. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { EgressProxy } from '../service/src/delivery/model.ts'
import type { Certified } from './certificates.ts'

export interface ProxyOptions {
  /** Of a proxy that speaks TLS, for localhost. */
  readonly certified?: Certified | null
  /** What it does instead of opening a tunnel. */
  readonly instead?: (socket: Socket) => void
}

export interface ConnectProxy {
  readonly way: EgressProxy
  /** The heads of the requests for a tunnel. */
  readonly heads: readonly string[]
  close(): void
}

export async function startProxy({ certified = null, instead }: ProxyOptions): Promise<ConnectProxy> {
  const heads: string[] = []
  const serve = (socket: Socket) => {
    socket.on('error', () => {})
    socket.once('data', (bytes) => {
      const head = bytes.toString()
      heads.push(head)
      if (instead !== undefined) return instead(socket)
      const [, host, port] = /^CONNECT (\S+):(\d+) /.exec(head) ?? []
      const onwards = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
        socket.pipe(onwards).pipe(socket)
      })
      onwards.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'))
    })
  }
  const server = certified === null ? createServer(serve) : createTlsServer(certified, serve)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const isSecure = certified !== null
  return {
    way: { isSecure, host: isSecure ? 'localhost' : '127.0.0.1', port, authorization: null },
    heads,
    close: () => void server.close(),
  }
}
