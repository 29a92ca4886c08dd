/**
 * A receiver in the frameworks that people have. Each takes the raw body before anything parses it, which is where
 * receivers go wrong most often. They are written against the shapes of the frameworks, so that the SDK depends on
 * none of them.
 */
import type { Receiver, Reply } from './receive.ts'

/** More than the largest delivery. */
const largestBody = 1_048_576

/**
 * For servers whose handlers take a `Request`: edge functions, Deno, Bun, Next.js. Throws TypeError when something
 * has read the body before.
 */
export const fetchHandler =
  (receiver: Receiver) =>
  async (request: Request): Promise<Response> => {
    if (request.method !== 'POST')
      return new Response('Deliveries are POSTed here.', { status: 405, headers: { allow: 'POST' } })
    if (request.bodyUsed) throw new TypeError(bodyGone)
    if (tooLong(request.headers.get('content-length'))) return new Response(null, { status: 413 })
    const body = await wholeBody(piecesOf(request.body))
    if (body === undefined) return new Response(null, { status: 413 })
    return responseOf(await receiver.receive(body, request.headers))
  }

/** What is used of a context of Hono. */
export interface HonoContext {
  req: {
    arrayBuffer(): Promise<ArrayBuffer>
    raw: { headers: Headers; body: ReadableStream<Uint8Array> | null; bodyUsed: boolean }
  }
}

/** For Hono: `app.post('/hook', honoHandler(receiver))`. A middleware may have read the body through `c.req`. */
export const honoHandler =
  (receiver: Receiver) =>
  async ({ req }: HonoContext): Promise<Response> => {
    const { headers, body, bodyUsed } = req.raw
    const isLong = tooLong(headers.get('content-length'))
    const bytes = isLong ? undefined : await (bodyUsed ? req.arrayBuffer() : wholeBody(piecesOf(body)))
    if (bytes === undefined) return new Response(null, { status: 413 })
    return responseOf(await receiver.receive(bytes, headers))
  }

/** What is used of a request of Node, with what Express puts into it. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  headers: Readonly<Record<string, string | string[] | undefined>>
  method?: string | undefined
  readableEnded?: boolean
  /** What a parser made of the body. */
  body?: unknown
  /** The bytes, where somebody has kept them. */
  rawBody?: unknown
}

/** What is used of a response of Node. */
export interface NodeResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(text?: string): unknown
}

/**
 * For Express 5 and `node:http`: `app.post('/hook', nodeHandler(receiver))`. It reads the body itself, or takes what
 * `express.raw()` or a `rawBody` has kept. Where `express.json()` stands before it the bytes are gone: that is a
 * TypeError for `next`. Never rejects, as nobody would catch it.
 */
export const nodeHandler =
  (receiver: Receiver) =>
  async (request: NodeRequest, response: NodeResponse, next?: (error: unknown) => void): Promise<void> => {
    if (request.method !== 'POST') {
      response.setHeader('allow', 'POST')
      return finish(response, 405, 'Deliveries are POSTed here.')
    }
    const kept = keptBytes(request)
    if (kept === 'gone') {
      if (next === undefined) finish(response, 500, bodyGone)
      else next(new TypeError(bodyGone))
      return
    }
    let body: Uint8Array | undefined
    try {
      const isLong = tooLong(request.headers['content-length'])
      body = isLong ? undefined : (kept ?? (await wholeBody(request)))
    } catch {
      // Broken off half-way: whoever sent it knows.
      return finish(response, 400, 'The body ended before it was complete.')
    }
    if (body === undefined) {
      // What is left of it is not read.
      response.setHeader('connection', 'close')
      return finish(response, 413, '')
    }
    try {
      const { status, body: text } = await receiver.receive(body, request.headers)
      finish(response, status, text)
    } catch (error) {
      console.error(error)
      finish(response, 500, 'The receiver has failed.')
    }
  }

/** What is used of Fastify. */
export interface FastifyLike {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    parse: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ): unknown
  post(
    path: string,
    handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>,
  ): unknown
}

interface FastifyRequestLike {
  body: unknown
  headers: Readonly<Record<string, string | string[] | undefined>>
}

interface FastifyReplyLike {
  code(status: number): { send(text?: string): unknown }
}

/**
 * A plugin for Fastify 5: `app.register(fastifyPlugin(receiver, '/hook'))`. The parsers of its own scope leave bodies
 * as they are; those of other routes stay.
 */
export const fastifyPlugin =
  (receiver: Receiver, path: string) =>
  async (fastify: FastifyLike): Promise<void> => {
    fastify.removeAllContentTypeParsers()
    fastify.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: largestBody }, (_, body, done) =>
      done(null, body),
    )
    fastify.post(path, async (request, reply) => {
      const body = request.body instanceof Uint8Array ? request.body : new Uint8Array()
      const { status, body: text } = await receiver.receive(body, request.headers)
      return reply.code(status).send(text === '' ? undefined : text)
    })
  }

const bodyGone =
  'The body of the delivery was read before it came here, and its bytes are gone. Put this route before parsers, or have them keep the raw body.'

/** What comes in pieces says nothing of its length, and is counted. */
const tooLong = (contentLength: unknown): boolean => Number(contentLength ?? 0) > largestBody

const responseOf = ({ status, body }: Reply): Response => new Response(body === '' ? null : body, { status })

const finish = (response: NodeResponse, status: number, text: string): void => {
  response.statusCode = status
  if (text === '') response.end()
  else {
    response.setHeader('content-type', 'text/plain; charset=utf-8')
    response.end(text)
  }
}

/**
 * What somebody has kept of the raw body: undefined when it is still to be read, `gone` when it was read and is not
 * there.
 */
const keptBytes = ({ rawBody, body, readableEnded }: NodeRequest): Uint8Array | 'gone' | undefined => {
  for (const kept of [rawBody, body]) {
    if (kept instanceof Uint8Array) return kept
    if (typeof kept === 'string') return new TextEncoder().encode(kept)
  }
  return body !== undefined || readableEnded ? 'gone' : undefined
}

/** The bytes of all pieces; undefined when they are too many, and then it stops. */
const wholeBody = async (pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> => {
  const kept: Uint8Array[] = []
  let length = 0
  for await (const piece of pieces) {
    length += piece.length
    if (length > largestBody) return undefined
    kept.push(piece)
  }
  const whole = new Uint8Array(length)
  let at = 0
  for (const piece of kept) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** Not every browser iterates a stream by itself. */
async function* piecesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  if (reader === undefined) return
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
