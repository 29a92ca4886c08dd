/** A receiver on the loopback: HTTPS, one POST a delivery, verified with the SDK. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { type Rejection, SignatureError, verify, type WebhookEvent } from '@deskwire/sdk'
import { CommandFailure } from '../failure.ts'
import type { Certified } from './certificates.ts'

/** What came of verifying a delivery. */
type Verdict =
  | { readonly ok: true; readonly event: WebhookEvent }
  | { readonly ok: false; readonly reason: Rejection | 'no_secret'; readonly detail: string }

export interface Received {
  readonly at: Date
  /** As the headers say: only as true as the verdict. */
  readonly eventId: string
  readonly eventType: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The raw bytes. */
  readonly body: Buffer
  readonly verdict: Verdict
}

/** What a delivery is answered: a status; or whatever it does to the connection, which it may also `reset`. */
export type Answer = number | ((response: ServerResponse, reset: () => void) => void)

interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly port: number
}

/** More than the largest object there is, in its envelope. */
const largestBody = 4 * 1024 * 1024

/** Listens on 127.0.0.1. @throws CommandFailure when it cannot. */
export async function startReceiver(options: {
  readonly certified: Certified
  /** 0 picks a free one. */
  readonly port: number
  /** The endpoint's secret, as it is known when a delivery comes; null when it is not known. */
  readonly secret: () => string | null
  readonly receive: (received: Received) => Answer | Promise<Answer>
}): Promise<Receiver> {
  const { certified, port, secret, receive } = options
  const server = createServer({ key: certified.key, cert: certified.cert }, async (request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405, { allow: 'POST' }).end('Deliveries are POSTed here.\n')
      return
    }
    const chunks: Buffer[] = []
    let length = 0
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        length += chunk.length
        if (length > largestBody) {
          response.writeHead(413, { connection: 'close' }).end()
          return
        }
        chunks.push(chunk)
      }
    } catch {
      // The sender broke it off, and knows.
      return
    }
    const body = Buffer.concat(chunks)
    const headerOf = (name: string) => String(request.headers[name] ?? '')
    const answer = await receive({
      at: new Date(),
      eventId: headerOf('x-service-event-id'),
      eventType: headerOf('x-service-event-type'),
      path: request.url ?? '',
      headers: request.headers,
      body,
      verdict: await verdictOf(body, request.headers, secret()),
    })
    if (typeof answer === 'number') response.writeHead(answer).end()
    else answer(response, () => connections.get(request.socket.remotePort)?.resetAndDestroy())
  })
  // Below TLS, as nothing else can be reset; by the port at the other end.
  const connections = new Map<number | undefined, Socket>()
  server.on('connection', (socket: Socket) => {
    const port = socket.remotePort
    connections.set(port, socket)
    socket.once('close', () => connections.delete(port))
  })
  await new Promise<void>((settle, refuse) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'something else listens there' : error.message
      refuse(
        new CommandFailure(
          `cannot listen on 127.0.0.1, port ${port}: ${reason}; give --port another (0: any free one)`,
        ),
      )
    })
    server.listen(port, '127.0.0.1', settle)
  })
  const bound = (server.address() as AddressInfo).port
  return {
    url: `https://127.0.0.1:${bound}/`,
    port: bound,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((settle) => server.close(settle))
      server.closeAllConnections()
      await closed
    },
  }
}

async function verdictOf(
  body: Buffer,
  headers: IncomingHttpHeaders,
  secret: string | null,
): Promise<Verdict> {
  if (secret === null)
    return { ok: false, reason: 'no_secret', detail: 'Give --secret with the secret of the endpoint.' }
  try {
    return { ok: true, event: await verify(body, headers, secret) }
  } catch (error) {
    if (error instanceof SignatureError) return { ok: false, reason: error.code, detail: error.message }
    throw error
  }
}
