/** For programs that serve plain HTTP on a port of their own, and are called by TLS. */
import { once } from 'node:events'
import { request } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { authority } from './sending.ts'

/** TLS in front of a program on the loopback. */
export async function inFrontOf(port: number) {
  const server = createServer(authority.issue(['127.0.0.1']), (incoming, outgoing) => {
    const { method, url: path, headers } = incoming
    const onward = request({ port, host: '127.0.0.1', method, path, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
