/**
 * What an organization may hold of this process: requests under way, bytes of bodies, and bytes of answers that were not yet
 * taken. Looked at once the key is known and before anything of a body is read.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Budget, type Shared, ShareExceeded } from '../kernel/budget.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { BodyRoom, type RoomLimits, roomLimits } from './body-room.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Called when the request has begun to wait for changes, where it is counted among the waiting: it is under way no more. */
    leaveUnderWay: () => void
  }
}

export interface ShareLimits {
  /** Requests under way, of all organizations; half of them of one that is alone. */
  readonly requests: number
  /** Bytes of answers to GET that were not yet taken, likewise; what is smaller than `smallAnswer` is not counted. */
  readonly answers: number
  readonly bodies: RoomLimits
  /** How long a client may take nothing of an answer until its connection is cut, in milliseconds. */
  readonly takesWithin: number
}

const mebibyte = 1024 * 1024

export const shareLimits: ShareLimits = {
  requests: 2_000,
  answers: 64 * mebibyte,
  bodies: roomLimits,
  takesWithin: 30_000,
}

/** Less than a socket takes at once. */
const smallAnswer = 64 * 1024

/** How it stands, for the metrics. */
export interface ShareStanding {
  readonly requests: number
  readonly bodyBytes: number
  readonly bodiesWaiting: number
  readonly answerBytes: number
}

/** Holds every request that has a caller to its organization's shares. Refusals are thrown as ShareExceeded. */
export function limitShares(
  server: FastifyInstance,
  limits: ShareLimits = shareLimits,
): { readonly standing: () => ShareStanding } {
  const requests = new Budget(limits.requests)
  const answers = new Budget(limits.answers)
  const bodies = new BodyRoom(limits.bodies)
  /** Bytes of the large answer that each organization which has not taken all of its own got last, by route. */
  const lastAnswers = new Map<string, Map<string, number>>()
  const nothing = () => {}
  server.decorateRequest('leaveUnderWay', nothing)

  // After the hooks that find the caller, and before the body.
  server.addHook('preParsing', (request, reply, payload, done) => {
    const { caller } = request
    if (caller === null) return done(null, payload)
    const { organizationId } = caller
    // What would be made only to be refused takes the database's time, and ours. What was small is not counted.
    const expected = lastAnswers.get(organizationId)?.get(answerOf(request))
    const fits = expected === undefined ? 'taken' : answers.wouldTake(organizationId, expected)
    if (fits !== 'taken') return done(new ShareExceeded(fits, 'answer_bytes'))
    const taken = requests.take(organizationId, 1)
    if (taken !== 'taken') return done(new ShareExceeded(taken, 'requests'))
    let isUnderWay = true
    request.leaveUnderWay = () => {
      if (isUnderWay) requests.give(organizationId, 1)
      isUnderWay = false
    }
    reply.raw.once('close', request.leaveUnderWay)
    const bytes = bodyBytes(request)
    if (bytes === 0) return done(null, payload)
    let isGone = false
    const leave = bodies.hold(caller, bytes, (got) => {
      if (got instanceof ShareExceeded) return done(got)
      if (isGone) return got()
      reply.raw.once('close', got)
      done(null, payload)
    })
    reply.raw.once('close', () => {
      isGone = true
      leave()
    })
  })

  // What a POST answers was held back before, with its body; and is not to be lost once it has committed.
  server.addHook('onSend', (request, reply, payload, done) => {
    const bytes = answerBytes(payload)
    if (bytes <= smallAnswer) return done(null, payload)
    reply.raw.socket?.setTimeout(limits.takesWithin)
    const { caller } = request
    if (caller === null || request.method !== 'GET' || bytes === Number.POSITIVE_INFINITY) {
      return done(null, payload)
    }
    const { organizationId } = caller
    const taken = answers.take(organizationId, bytes)
    if (taken !== 'taken') return done(new ShareExceeded(taken, 'answer_bytes'))
    const own = lastAnswers.get(organizationId) ?? new Map<string, number>()
    lastAnswers.set(organizationId, own.set(answerOf(request), bytes))
    reply.raw.once('close', () => {
      answers.give(organizationId, bytes)
      if (answers.heldBy(organizationId) === 0) lastAnswers.delete(organizationId)
    })
    done(null, payload)
  })

  return {
    standing: () => ({
      requests: requests.taken,
      bodyBytes: bodies.held,
      bodiesWaiting: bodies.waiting,
      answerBytes: answers.taken,
    }),
  }
}

/** What is answered alike in size, as a rule. */
function answerOf({ method, routeOptions }: FastifyRequest): string {
  return `${method} ${routeOptions.url}`
}

/** Bytes that the body will take: those it says, or as many as it may have. None of what is refused unread. */
function bodyBytes(request: FastifyRequest): number {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (request.method === 'GET' || request.method === 'HEAD') return 0
  const { bodyLimit } = request.routeOptions
  if (length === undefined) return encoding === undefined ? 0 : bodyLimit
  return Number(length) > bodyLimit ? 0 : Number(length)
}

/** Infinite for what is not known before it is sent: a stream, which reads on as it is taken. */
function answerBytes(payload: unknown): number {
  if (payload === null || payload === undefined) return 0
  return typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : Number.POSITIVE_INFINITY
}

const whatItIs: Readonly<Record<Shared, string>> = {
  requests: 'requests under way',
  readers: 'requests that wait for changes',
  body_bytes: 'bodies of requests under way',
  answer_bytes: 'answers that were not yet read',
  statements: 'work that waits for the database',
  database_time: 'time at the database',
}

/** How what exceeds a share is answered (specification 14.2). */
export function shareProblem({ reason, what }: ShareExceeded): Problem {
  const named = whatItIs[what]
  return reason === 'own_share'
    ? problem(
        'rate_limited',
        `This organization already uses its whole share of ${named}. Wait a moment, then send the request again.`,
      )
    : problem(
        'unavailable',
        `All of the capacity that the service has for ${named} is in use; nothing was changed. Send the request again.`,
      )
}
