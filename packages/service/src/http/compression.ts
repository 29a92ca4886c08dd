/**
 * Compresses responses for clients that accept it (decision 42): content that never changes once, and responses to a key as
 * they are sent, large ones by threads of the process, a piece at a time.
 */
import { pipeline, type Readable, type Transform } from 'node:stream'
import { promisify } from 'node:util'
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
} from 'node:zlib'
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import { FairQueue, noQueue } from '../admission/fair-queue.ts'
import { LimitExceeded } from '../admission/limit-exceeded.ts'
import { preferred } from './negotiation.ts'

/** Content codings, the better one first. */
const codings = ['br', 'gzip'] as const
type Coding = (typeof codings)[number]

const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_LGWIN: window } = constants

/**
 * Bytes from which it pays: less is sent at once anyway, in the ten segments that a connection may begin with (RFC 6928).
 */
export const compressedFrom = 14 * 1024

/**
 * Bytes up to which the event loop compresses itself, in 0.1 to 0.4 ms: handing them to a thread takes nearly as long, and
 * two to four times the processor time. (Not `largeBeyond`: that is about work on the event loop which is larger than
 * this.)
 */
const compressedHere = 64 * 1024

/** Bytes of a piece: a page of 25 MB is some hundred pieces, with others between them. */
const chunkSize = 64 * 1024

/**
 * For responses that are compressed each time: of a page of 65 KB, brotli takes 0.14 ms of a processor and leaves 23 %,
 * gzip 0.35 ms and 24 %. The next levels that save another tenth take three times as long.
 */
const brotliOptions = { params: { [quality]: 1, [window]: 18 }, chunkSize }
const gzipOptions = { level: 1, chunkSize }

const quick = {
  br: {
    whole: (bytes: Bytes) => brotliCompressSync(bytes, brotliOptions),
    pieces: () => createBrotliCompress(brotliOptions),
  },
  gzip: { whole: (bytes: Bytes) => gzipSync(bytes, gzipOptions), pieces: () => createGzip(gzipOptions) },
} as const satisfies Record<Coding, { whole(bytes: Bytes): Buffer; pieces(): Transform }>

/**
 * Responses that threads compress at once: each holds half a megabyte at most in addition to its bytes. Further ones are
 * sent uncompressed.
 */
const atOnce = 32

/**
 * For content that is compressed once: openapi.json takes 17 ms, and at the highest quality 206 ms for a fourteenth less.
 */
const thorough = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [quality]: 9 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
} as const satisfies Record<Coding, (bytes: Buffer) => Promise<Buffer>>

/** The same content, as it is and in each coding. */
export interface Compressed {
  readonly identity: Buffer
  readonly br: Buffer
  readonly gzip: Buffer
}

/** Content that is sent again and again. */
export async function compressOnce(content: Buffer): Promise<Compressed> {
  const [br, gzip] = await Promise.all([thorough.br(content), thorough.gzip(content)])
  return { identity: content, br, gzip }
}

/** Chooses the form of compressed content for this client, and sets the headers. */
export function chooseCoding(request: FastifyRequest, reply: FastifyReply): keyof Compressed {
  const coding = acceptedCoding(request)
  vary(reply, 'Accept-Encoding')
  if (coding !== null) reply.header('content-encoding', coding)
  return coding ?? 'identity'
}

/** Adds a name to `Vary`. */
export function vary(reply: FastifyReply, name: string): void {
  const known = String(reply.getHeader('vary') ?? '')
  reply.header('vary', known === '' ? name : `${known}, ${name}`)
}

/**
 * Step `onSend`: compresses large lists, pages and exports. Not compressed: a response with an entity tag, as the tag names
 * the bytes and If-Match sends it back; one with a token or a secret; and every response but to a GET, as those repeat what
 * was sent, and a length that depends on text of an attacker would reveal the secret (BREACH).
 */
export function compressResponses(): onSendHookHandler {
  const underWay = new FairQueue('compression', { ...noQueue, capacity: atOnce, share: 1 })
  return (request, reply, payload, done) => {
    const { caller } = request
    // The permit of a client that has disconnected would never be released.
    if (caller === null || reply.raw.destroyed || !isToBeCompressed(request, reply, payload)) {
      return done(null, payload)
    }
    vary(reply, 'Accept-Encoding')
    const coding = acceptedCoding(request)
    if (coding === null) return done(null, payload)
    const { whole, pieces } = quick[coding]
    if (isBytes(payload) && payload.length <= compressedHere) {
      reply.header('content-encoding', coding).removeHeader('content-length')
      return done(null, whole(payload))
    }
    const permit = underWay.tryAcquire(caller.organizationId)
    if (permit instanceof LimitExceeded) return done(null, payload)
    reply.raw.once('close', permit.release)
    reply.header('content-encoding', coding).removeHeader('content-length')
    done(null, compressing(payload, pieces()))
  }
}

function acceptedCoding({ headers }: FastifyRequest): Coding | null {
  return preferred(headers['accept-encoding'], codings)
}

type Bytes = string | Buffer

function isBytes(payload: unknown): payload is Bytes {
  return typeof payload === 'string' || Buffer.isBuffer(payload)
}

function isToBeCompressed(
  { method }: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): payload is Bytes | Readable {
  if (method !== 'GET' || reply.statusCode !== 200 || reply.hasHeader('etag')) return false
  if (/no-store/.test(String(reply.getHeader('cache-control')))) return false
  if (isBytes(payload)) return payload.length >= compressedFrom
  return typeof payload === 'object' && payload !== null && 'pipe' in payload
}

/** Reads no more than the client reads of the result. */
function compressing(payload: Bytes | Readable, into: Transform): Transform {
  if (isBytes(payload)) into.end(payload)
  // A failure ends the response in the middle, as without compression: the client sees that it is incomplete.
  else pipeline(payload, into, () => {})
  return into
}
