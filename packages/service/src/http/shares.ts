/**
 * What an organization may hold of this process: requests under way, bytes of bodies, and bytes of answers that were not yet
 * taken. Looked at once the key is known and before anything of a body is read.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Budget, type Shared, ShareExceeded } from '../kernel/budget.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import type { Room } from '../kernel/room-for-others.ts'
import { type AnswerLimits, AnswerRoom, answerLimits, type Making } from './answer-room.ts'
import { BodyRoom, type RoomLimits, roomLimits } from './body-room.ts'
import { defaultLimit } from './list-parameters.ts'
import { searchParameters } from './replies.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Called when the request has begun to wait for changes, where it is counted among the waiting: it is under way no more. */
    leaveUnderWay: () => void
    /** Releases the bytes of its body, once the work that uses them has ended. */
    releaseBody: () => void
    /** Its answer, where that is counted. */
    making: Making | null
  }
}

export interface ShareLimits {
  /** Requests under way, of all organizations; half of them of one that is alone. */
  readonly requests: number
  readonly answers: AnswerLimits
  readonly bodies: RoomLimits
  /** How long a client may take nothing of an answer until its connection is cut, in milliseconds. */
  readonly takesWithin: number
}

export const shareLimits: ShareLimits = {
  requests: 2_000,
  answers: answerLimits,
  bodies: roomLimits,
  takesWithin: 30_000,
}

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
  room: Pick<Room, 'leavesRoom'> = { leavesRoom: () => false },
): { readonly standing: () => ShareStanding } {
  const requests = new Budget(limits.requests)
  const answers = new AnswerRoom(limits.answers)
  const bodies = new BodyRoom(limits.bodies)
  const nothing = () => {}
  server.decorateRequest('leaveUnderWay', nothing)
  server.decorateRequest('making', null)
  server.decorateRequest('releaseBody', nothing)

  // After the hooks that find the caller, and before the body.
  server.addHook('preParsing', (request, reply, payload, done) => {
    const { caller } = request
    if (caller === null) return done(null, payload)
    const { organizationId } = caller
    const taken = requests.take(organizationId, 1)
    if (taken !== 'taken') return done(new ShareExceeded(taken, 'requests'))
    let isUnderWay = true
    const giveBack = () => {
      if (isUnderWay) requests.give(organizationId, 1)
      isUnderWay = false
    }
    // Named before it is assigned, as all that is made for a request (decision 73).
    const leaveUnderWay = () => {
      giveBack()
      request.making?.waits()
    }
    request.leaveUnderWay = leaveUnderWay
    reply.raw.once('close', giveBack)
    if (request.method === 'GET') {
      const leave = answers.begin(organizationId, String(request.routeOptions.url), (got) => {
        if (got instanceof ShareExceeded) return done(got)
        request.making = got
        request.handedOver =
          (got.isLarge || (!got.isKnown && room.leavesRoom(organizationId) && asksForMany(request))) &&
          !waitsForNews(request)
        done(null, payload)
      })
      reply.raw.once('close', leave)
      return
    }
    const bytes = bodyBytes(request)
    if (bytes === 0) return done(null, payload)
    let isGone = false
    const leave = bodies.hold(caller, bytes, (got) => {
      if (got instanceof ShareExceeded) return done(got)
      if (isGone) return got()
      // Not when the connection closes: work whose client has disconnected still holds its bytes.
      request.releaseBody = got
      done(null, payload)
    })
    reply.raw.once('close', () => {
      isGone = true
      leave()
    })
  })

  // What a POST answers was held back before, with its body; and is not to be lost once it has committed.
  server.addHook('onSend', (request, reply, payload, done) => {
    request.releaseBody()
    const bytes = answerBytes(payload)
    if (bytes > limits.answers.uncounted) reply.raw.socket?.setTimeout(limits.takesWithin)
    const { making } = request
    if (making === null) return done(null, payload)
    if (reply.statusCode !== 200) {
      making.failed()
      return done(null, payload)
    }
    const refused = making.made(bytes === Number.POSITIVE_INFINITY ? 0 : bytes)
    if (refused === null) done(null, payload)
    else done(refused)
  })

  return {
    standing: () => ({
      requests: requests.taken,
      bodyBytes: bodies.held,
      bodiesWaiting: bodies.waiting,
      answerBytes: answers.held,
    }),
  }
}

/**
 * Whether it may be a page of megabytes. Where processors are short such a page takes the event loop 100 ms and more, so nobody who asks for
 * many records finds out here how large theirs are.
 */
function asksForMany(request: FastifyRequest): boolean {
  return Number(searchParameters(request).get('limit')) > defaultLimit
}

/** Whether it may be held until something happens, of which nobody tells elsewhere. */
function waitsForNews(request: FastifyRequest): boolean {
  return searchParameters(request).has('wait')
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
