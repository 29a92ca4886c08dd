/**
 * A request needs a permit of its organization, and memory for its body or response. It waits for both with its body
 * unread, so that TCP holds the sender back.
 */
import { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type CapacityPermit,
  FairQueue,
  type FairQueueLimits,
  LimitExceeded,
  type Limited,
} from '../admission/fair-queue.ts'
import { pieceBytes } from '../journal/feed.ts'
import { readerLimits } from '../journal/waiting-readers.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { LruMap } from '../kernel/lru-map.ts'
import { searchParameters, wantsEvents } from './replies.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null before it is admitted, and without a caller. */
    admitted: Admitted | null
  }
}

export interface AdmissionLimits {
  readonly requests: FairQueueLimits
  readonly bodies: FairQueueLimits
  /** Bytes of responses that clients have not read yet, apart from bodies: slow senders delay no reader. */
  readonly responses: FairQueueLimits
  /** A connection whose client reads nothing of a response for so many milliseconds is closed. */
  readonly readTimeout: number
}

const mebibyte = 1024 * 1024
const queued = { waiting: 4_000, waitingOfOne: 1_000, waitAtMost: 30_000 } as const

export const admissionLimits: AdmissionLimits = {
  requests: { ...queued, capacity: 2_000, share: 1 },
  bodies: { ...queued, capacity: 32 * mebibyte, share: 1 },
  responses: { ...queued, capacity: 32 * mebibyte, share: 1 },
  readTimeout: 30_000,
}

/** A body or response of so many bytes is not counted: a socket buffers as much anyway. */
const uncounted = 16 * 1024
/** Bytes reserved for a streamed response, however much it sends. */
const streamed = mebibyte

interface AdmissionUsage {
  readonly requests: number
  readonly memory: number
  readonly waiting: number
}

/** What one request holds: permit and memory, until it is handled and its connection has the response. */
class Admitted {
  readonly #permit: CapacityPermit
  readonly #acquire: (cost: number) => CapacityPermit | LimitExceeded
  #memory: CapacityPermit | null = null
  #isClosed = false
  #isDone = false

  /** `acquire`: memory of its organization for a response. */
  constructor(permit: CapacityPermit, acquire: (cost: number) => CapacityPermit | LimitExceeded) {
    this.#permit = permit
    this.#acquire = acquire
  }

  reserve(memory: CapacityPermit): void {
    this.#memory = memory
  }

  /** It waits from now on: for changes, as a waiting reader, or for the calls that a tool makes. */
  releaseWhileWaiting(): void {
    this.#permit.release()
    this.#memory?.release()
    this.#memory = null
  }

  /** Memory for so many bytes of a stream, until its client has read them; null where they are not counted. */
  hold(bytes: number): CapacityPermit | null {
    const permit = bytes <= uncounted ? null : this.#acquire(bytes)
    if (permit instanceof LimitExceeded) throw permit
    return permit
  }

  /** It is handled. Returns why a response of so many bytes cannot be held, or null. */
  done(bytes: number | 'as reserved'): LimitExceeded | null {
    this.#isDone = true
    if (bytes !== 'as reserved') {
      const held = this.#isClosed || bytes <= uncounted ? null : this.#resized(bytes)
      if (held instanceof LimitExceeded) return held
      if (held === null) this.#memory?.release()
      this.#memory = held
    }
    this.#releaseIfOver()
    return null
  }

  #resized(bytes: number): CapacityPermit | LimitExceeded {
    return this.#memory === null ? this.#acquire(bytes) : (this.#memory.resize(bytes) ?? this.#memory)
  }

  close(): void {
    this.#isClosed = true
    this.#releaseIfOver()
  }

  /** After a disconnect, the work may go on: what it holds is released when it ends. */
  #releaseIfOver(): void {
    if (!this.#isClosed || !this.#isDone) return
    this.#permit.release()
    this.#memory?.release()
  }
}

export class RequestAdmission {
  readonly #requests: FairQueue
  readonly #bodies: FairQueue
  readonly #responses: FairQueue
  readonly #sizes = new ResponseSizes()
  readonly #readTimeout: number
  /** No request reserves more: it would wait while others hold anything. */
  readonly #reservedAtMost: number

  constructor(limits: AdmissionLimits = admissionLimits) {
    this.#reservedAtMost = limits.responses.capacity / 2
    this.#requests = new FairQueue('requests', limits.requests)
    this.#bodies = new FairQueue('memory', limits.bodies)
    this.#responses = new FairQueue('memory', limits.responses)
    this.#readTimeout = limits.readTimeout
  }

  get usage(): AdmissionUsage {
    const queues = [this.#requests, this.#bodies, this.#responses]
    const waiting = queues.reduce((sum, queue) => sum + queue.waiting, 0)
    return { requests: this.#requests.held, memory: this.#bodies.held + this.#responses.held, waiting }
  }

  /** Before anything of the body is read. Rejects with LimitExceeded, or when the client has disconnected. */
  async admit(request: FastifyRequest): Promise<void> {
    const { caller, disconnected: signal } = request
    if (caller === null) return
    const { organizationId } = caller
    const permit = this.#requests.acquire(organizationId, { signal })
    const acquire = (cost: number) => this.#responses.tryAcquire(organizationId, cost)
    const admitted = new Admitted(permit instanceof Promise ? await permit : permit, acquire)
    request.admitted = admitted
    const cost = isRead(request) ? this.#expect(request, organizationId) : bodyBytes(request)
    if (cost <= uncounted) return
    const queue = isRead(request) ? this.#responses : this.#bodies
    const memory = queue.acquire(organizationId, { cost, signal })
    admitted.reserve(memory instanceof Promise ? await memory : memory)
  }

  /** Offloads a read whose response is expected to be large. Returns the bytes to reserve for the response. */
  #expect(request: FastifyRequest, organizationId: string): number {
    const query = searchParameters(request)
    const expected = this.#sizes.of(organizationId, String(request.routeOptions.url), rowsOf(query))
    // Waiting readers are notified in this thread alone, and a HEAD sends nothing.
    const waits = query.has('wait') || wantsEvents(request)
    request.offloaded = request.method === 'GET' && (expected ?? 0) >= pieceBytes && !waits
    return Math.min(expected ?? reservedWhenUnknown, this.#reservedAtMost)
  }

  /** The response has been made. Returns why it cannot be held, or null. */
  respond(request: FastifyRequest, reply: FastifyReply, payload: unknown): LimitExceeded | null {
    const { admitted, caller } = request
    if (admitted === null || caller === null) return null
    const bytes = responseBytes(payload)
    const isCounted = bytes === null || bytes > uncounted
    const { socket } = reply.raw
    // A call of this process by itself has no connection that its client could leave unread.
    if (isCounted && socket instanceof Socket) socket.setTimeout(this.#readTimeout)
    // A committed write is always answered.
    if (isCounted && !isRead(request)) return admitted.done('as reserved')
    if (!isRead(request) || reply.statusCode !== 200) return admitted.done(0)
    // Events hold memory page by page. A stream's size is not noted: the offload thread would collect the whole stream,
    // so it never makes one.
    if (bytes === null) return admitted.done(wantsEvents(request) ? 0 : streamed)
    const rows = rowsOf(searchParameters(request))
    this.#sizes.note(caller.organizationId, String(request.routeOptions.url), rows, bytes)
    return admitted.done(bytes)
  }
}

function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** The bytes that a body will need: its length or the limit; none for a body that is refused unread. */
function bodyBytes(request: FastifyRequest): number {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  const { bodyLimit } = request.routeOptions
  if (length === undefined) return encoding === undefined ? 0 : bodyLimit
  return Number(length) > bodyLimit ? 0 : Number(length)
}

/** Null for a stream. */
function responseBytes(payload: unknown): number | null {
  if (payload === null || payload === undefined) return 0
  return typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : null
}

const limitedWhat: Readonly<Record<Exclude<Limited, 'streams'>, string>> = {
  requests: 'requests under way',
  waiting_readers: 'requests that wait for changes',
  memory: 'memory for large bodies and responses',
  statements: 'database statements',
  offloaded: 'large requests',
  compression: 'compression',
}

/**
 * The problem of a request beyond a limit (specification 14.2). An organization whose requests were stalled by an
 * outage, and go on all at once, has not sent too many.
 */
export function limitProblem({ reason, what }: LimitExceeded, wasStalled: boolean): Problem {
  if (what === 'streams') return tooManyStreams
  const named = limitedWhat[what]
  return reason === 'own_share' && !wasStalled
    ? problem(
        'rate_limited',
        `This organization already uses its whole share of ${named}. Wait a moment, then send the request again.`,
      )
    : problem(
        'unavailable',
        `All of the capacity that the service has for ${named} is in use; nothing was changed. Send the request again.`,
      )
}

const tooManyStreams = problem(
  'rate_limited',
  `This key has ${readerLimits.streamsOfKey} streams of events open, as many as it may in one process of the service. Close some, or use another key.`,
)

/** Bytes reserved for a response of unknown size. With 1 MiB, forty first pages of 6 MB would be made together. */
const reservedWhenUnknown = 4 * mebibyte
const maxEntries = 10_000
/** An expectation falls by this part of the difference with each smaller response. */
const decay = 1 / 4

/** The rows that a request asks for; of one that names no number, always the same. */
function rowsOf(query: URLSearchParams): number {
  const ids = query.get('ids')
  const rows = ids === null ? Number(query.get('limit') ?? 20) : ids.split(',').length
  return rows >= 1 ? Math.min(rows, 100) : 20
}

class ResponseSizes {
  /** Bytes a row that was asked for, as pages of one list differ in their limits. */
  readonly #bytes = new LruMap<string, number>(maxEntries)

  /** The bytes that a response is expected to have; undefined: there was none yet. */
  of(organizationId: string, route: string, rows: number): number | undefined {
    const each = this.#bytes.get(`${organizationId} ${route}`)
    return each === undefined ? undefined : each * rows
  }

  note(organizationId: string, route: string, rows: number, bytes: number): void {
    const name = `${organizationId} ${route}`
    const before = this.#bytes.get(name)
    const each = bytes / rows
    this.#bytes.set(name, before === undefined || each > before ? each : before - (before - each) * decay)
  }
}
