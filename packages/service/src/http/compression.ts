/**
 * Answers that are worth it are sent compressed to whoever accepts it (decision 42): what is always the same is compressed
 * once, and answers to a key as they are sent: the large ones by threads of the process, a piece at a time.
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
 * Bytes from which it pays: less is on its way at once anyhow, in the ten segments that a connection may begin with (RFC
 * 6928).
 */
export const compressedFrom = 14 * 1024

/**
 * Bytes up to which the event loop compresses by itself, in 0.1 to 0.4 ms: it takes nearly as long to give them to a thread and
 * to hear of the result, and the processors two to four times as long in all.
 */
const compressedHere = 64 * 1024

/** Bytes that a thread makes in one go: a page of 25 MB is some hundred turns of it, with others between them. */
const chunkSize = 64 * 1024

/**
 * For answers that are compressed again each time: of a page of 65 KB, brotli takes 0.14 ms of a processor and leaves 23 %,
 * gzip 0.35 ms and 24 %. At the next levels that are smaller by a tenth, both take three times as long.
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
 * Answers that threads compress, of all organizations: each holds half a megabyte at most beside its bytes. One beyond them
 * is sent as it is.
 */
const atOnce = 32

/** For what is compressed once: openapi.json takes 17 ms, and at the highest quality 206 ms for a fourteenth less. */
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

/** How content that is there in each coding goes to this client; said in the answer's headers. */
export function chooseCoding(request: FastifyRequest, reply: FastifyReply): keyof Compressed {
  const coding = acceptedCoding(request)
  vary(reply, 'Accept-Encoding')
  if (coding !== null) reply.header('content-encoding', coding)
  return coding ?? 'identity'
}

/** Says that another answer would come to a request with another header of this name. */
export function vary(reply: FastifyReply, name: string): void {
  const known = String(reply.getHeader('vary') ?? '')
  reply.header('vary', known === '' ? name : `${known}, ${name}`)
}

/**
 * Step `onSend`: compresses large lists, pages and exports. Left as they are: what has an entity tag, since a tag names the bytes and If-Match
 * sends it back; what holds a token or a secret; and every response but to a GET, as those repeat what was sent, and a length that changes
 * with what a stranger sends along would reveal the secret (BREACH).
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

/** Takes no more of it than the client takes of what comes out. */
function compressing(payload: Bytes | Readable, into: Transform): Transform {
  if (isBytes(payload)) into.end(payload)
  // What fails ends the answer in the middle, as it would without: whoever reads it sees that it is not whole.
  else pipeline(payload, into, () => {})
  return into
}
