/**
 * A scripted receiver on the loopback that stores what it got. It speaks TLS but writes HTTP by hand, so that it can
 * misbehave as no proper server would.
 */
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls'
import type { Certified } from './certificates.ts'

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Which connection it came over, from 1. */
  readonly connection: number
  /** How many came over that connection before it. */
  readonly earlier: number
}

/** Answers one request on the socket, or misbehaves on it or on the TCP socket below. */
export type Behaviour = (socket: Socket, request: ReceivedRequest, below: Socket) => void

/** A proper response. */
export function answer(status: number, body = '', headers: Readonly<Record<string, string>> = {}): Behaviour {
  const lines = Object.entries({ 'content-length': String(Buffer.byteLength(body)), ...headers })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return (socket) => socket.write(`HTTP/1.1 ${status} Whatever\r\n${head}\r\n${body}`)
}

/** These bytes, whatever they mean. */
export function raw(text: string): Behaviour {
  return (socket) => socket.write(text)
}

/** These bytes, then the same piece repeatedly until the connection ends. */
export function endless(start: string, piece: string, everyMs: number): (socket: Socket) => void {
  return (socket) => {
    socket.write(start, 'latin1')
    const timer = setInterval(() => socket.write(piece, 'latin1'), everyMs)
    socket.once('close', () => clearInterval(timer))
  }
}

export const neverAnswer: Behaviour = () => {}

/** Ends the connection without a response. */
export const hangUp: Behaviour = (socket) => socket.end()

/** Resets the connection without a response. */
export const reset: Behaviour = (_socket, _request, below) => below.resetAndDestroy()

/** A proper response, then an action on the connection, which stays open. */
export function answerThen(then: (socket: Socket, below: Socket) => void): Behaviour {
  return (socket, request, below) => {
    answer(200)(socket, request, below)
    then(socket, below)
  }
}

export interface Receiver extends AsyncDisposable {
  readonly port: number
  readonly requests: readonly ReceivedRequest[]
  /** TCP connections accepted so far. */
  readonly accepted: number
  readonly open: number
  /** Behaviours of the next requests; the last one repeats. */
  will(...behaviours: readonly Behaviour[]): void
  /** An action on each connection as soon as it is ready. */
  greet(greeting: (socket: Socket) => void): void
  /** Calls once, when the last open connection has closed. */
  whenClosed(listener: () => void): void
  /** As a server does with idle connections. */
  hangUpAll(): void
  /** As the system does for a server that is gone. */
  resetAll(): void
  close(): Promise<void>
}

export interface ReceiverOptions extends Certified {
  /** `tcp` accepts connections and says nothing; `plain` speaks HTTP without TLS. */
  readonly speaks?: 'tls' | 'plain' | 'tcp'
  /** For `tcp`. */
  readonly onTcp?: (socket: Socket) => void
  readonly host?: string
  /** Default: 0, a free one. */
  readonly port?: number
  readonly tls?: TlsOptions
}

export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { key, cert, speaks = 'tls', host = '127.0.0.1', port = 0, tls = {}, onTcp } = options
  const requests: ReceivedRequest[] = []
  /** By the port at the other end. */
  const sockets = new Map<number, Socket>()
  let behaviours: readonly Behaviour[] = [answer(200)]
  let greeting: (socket: Socket) => void = () => {}
  let accepted = 0

  const serve = (socket: Socket) => {
    const connection = accepted
    let earlier = 0
    socket.on('error', () => {})
    greeting(socket)
    readRequests(socket, (request) => {
      const received = { ...request, connection, earlier: earlier++ }
      requests.push(received)
      const [behaviour, ...later] = behaviours
      if (later.length > 0) behaviours = later
      behaviour?.(socket, received, sockets.get(socket.remotePort ?? 0) ?? socket)
    })
  }
  const server: Server =
    speaks === 'tls'
      ? createTlsServer({ key, cert, noDelay: true, ...tls }, (socket: TLSSocket) => serve(socket))
      : createTcpServer(speaks === 'plain' ? serve : (onTcp ?? ((socket) => socket.resume())))
  server.on('tlsClientError', () => {})
  server.on('connection', (socket: Socket) => {
    accepted++
    const peer = socket.remotePort ?? 0
    sockets.set(peer, socket)
    socket.on('error', () => {})
    socket.once('close', () => {
      sockets.delete(peer)
      if (sockets.size === 0) server.emit('deserted')
    })
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets.values()) socket.destroy()
    })

  return {
    port: (server.address() as AddressInfo).port,
    requests,
    get accepted() {
      return accepted
    },
    get open() {
      return sockets.size
    },
    will: (...next) => {
      behaviours = next
    },
    greet: (next) => {
      greeting = next
    },
    whenClosed: (listener) => {
      server.once('deserted', listener)
    },
    resetAll: () => {
      for (const socket of sockets.values()) socket.resetAndDestroy()
    },
    hangUpAll: () => {
      for (const socket of sockets.values()) socket.destroy()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

type ParsedRequest = Pick<ReceivedRequest, 'method' | 'path' | 'headers' | 'body'>

function readRequests(socket: Socket, onRequest: (request: ParsedRequest) => void): void {
  let pending = Buffer.alloc(0)
  // Joined once a request can be complete: joining each chunk would copy a large body repeatedly.
  let chunks: Buffer[] = []
  let awaited = 0
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    awaited -= chunk.length
    if (awaited > 0) return
    pending = Buffer.concat([pending, ...chunks])
    chunks = []
    // Most likely a TLS handshake.
    if (pending[0] === 0x16) socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
    for (;;) {
      const end = pending.indexOf('\r\n\r\n')
      if (end === -1) return
      const [first = '', ...lines] = pending.toString('latin1', 0, end).split('\r\n')
      const [method = '', path = ''] = first.split(' ')
      const headers = Object.fromEntries(
        lines.map((line) => [line.split(':', 1)[0]?.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
      )
      const length = Number(headers['content-length'] ?? 0)
      awaited = end + 4 + length - pending.length
      if (awaited > 0) return
      const body = pending.subarray(end + 4, end + 4 + length)
      pending = pending.subarray(end + 4 + length)
      onRequest({ method, path, headers, body })
    }
  })
}
