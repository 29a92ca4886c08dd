/** A signal for each request, aborted when its client disconnects before the response was sent. */
import type { FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** Not Fastify's `signal`, which aborts as soon as the body was read. */
    disconnected: AbortSignal
  }
}

/** Work was dropped before it began, as its client had disconnected. No response is sent. */
export class Disconnected extends Error {
  constructor() {
    super('the client has disconnected')
  }
}

/** Step `onRequest`. */
export function watchClient(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const gone = new AbortController()
  request.disconnected = gone.signal
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new Disconnected())
  })
  done()
}
