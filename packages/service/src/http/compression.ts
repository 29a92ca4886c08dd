/**
 * Compresses responses for clients that accept it: unchanging content once, responses to a key as they
 * are sent, large ones in pieces by threads of the process.
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
import Negotiator from 'negotiator'
import { FairQueue, LimitExceeded, noQueue } from '../admission/fair-queue.ts'

const codings = ['br', 'gzip'] as const
type Coding = (typeof codings)[number]

const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_LGWIN: window } = constants

/** Less is sent at once anyway, in the ten segments that a connection may begin with (RFC 6928). */
export const compressedFrom = 14 * 1024

/** Bytes that the event loop compresses itself, in at most 0.4 ms: a thread costs two to four times the CPU time. */
const compressedHere = 64 * 1024

/** Bytes of a piece. Between the pieces of a large page, others are compressed. */
const chunkSize = 64 * 1024

/** The next levels save another tenth and take three times as long (decision 42). */
const brotliOptions = { params: { [quality]: 1, [window]: 18 }, chunkSize }
const gzipOptions = { level: 1, chunkSize }

const quick = {
  br: {
    whole: (bytes: Bytes) => brotliCompressSync(bytes, brotliOptions),
    pieces: () => createBrotliCompress(brotliOptions),
  },
  gzip: { whole: (bytes: Bytes) => gzipSync(bytes, gzipOptions), pieces: () => createGzip(gzipOptions) },
} as const satisfies Record<Coding, { whole(bytes: Bytes): Buffer; pieces(): Transform }>

/** Responses that threads compress at once, with at most 0.5 MB each. Further ones are sent uncompressed. */
const atOnce = 32

/** The highest quality takes twelve times as long for openapi.json, and saves a fourteenth. */
const thorough = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [quality]: 9 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
} as const satisfies Record<Coding, (bytes: Buffer) => Promise<Buffer>>

export interface Compressed {
  readonly identity: Buffer
  readonly br: Buffer
  readonly gzip: Buffer
}

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

export function vary(reply: FastifyReply, name: string): void {
  const known = String(reply.getHeader('vary') ?? '')
  reply.header('vary', known === '' ? name : `${known}, ${name}`)
}

/**
 * Step `onSend`: compresses large responses to GET. Not those with an entity tag, which names the bytes; not those with
 * a token or a secret; and not responses to writes, which repeat what was sent, so that their length could reveal a
 * secret (BREACH).
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

/** An option that @types/negotiator does not declare. */
interface Ranked {
  encoding(available: readonly Coding[], options: { preferred: readonly Coding[] }): Coding | undefined
}

/** The coding that the client prefers, the first of equals; null: none is accepted. */
export function acceptedCoding(request: Pick<FastifyRequest, 'headers'>): Coding | null {
  const client = new Negotiator(request) as Negotiator & Ranked
  return client.encoding(codings, { preferred: codings }) ?? null
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

/** Reads no faster than the client. */
function compressing(payload: Bytes | Readable, into: Transform): Transform {
  if (isBytes(payload)) into.end(payload)
  // A failure cuts the response off, so the client sees that it is incomplete.
  else pipeline(payload, into, () => {})
  return into
}
