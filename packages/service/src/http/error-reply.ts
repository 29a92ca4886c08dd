/** Turns an error that a step or a handler throws into a problem. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { LimitExceeded } from '../admission/fair-queue.ts'
import { DatabaseUnavailable } from '../databases/router.ts'
import { effectOf } from '../db/failure.ts'
import { isNotServed } from '../db/not-served.ts'
import { NewerVersion } from '../journal/body.ts'
import { clockAheadCode } from '../journal/commit-protocol.ts'
import { sealedOtherwiseCode } from '../journal/functions.ts'
import { type Problem, problem, quoted } from '../kernel/errors.ts'
import { loggable, thinned } from '../kernel/log.ts'
import { limitProblem } from './admit.ts'
import { Disconnected } from './pipeline.ts'
import { sendProblem } from './problem-reply.ts'
import { BodyRefused, bodyCut, bodyTooLarge } from './read-body.ts'

const mebibyte = 1024 * 1024

const warnings = new WeakMap<object, ReturnType<typeof thinned>>()

type Failure = FastifyError | LimitExceeded | Disconnected | BodyRefused

/** Sends the problem of an error. */
export function answerError(error: Failure, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // Fastify would close the connection. `discardBody` reads the rest of the body, so that the response arrives.
  if ('code' in error && error.code === bodyTooLarge) reply.removeHeader('connection')
  return sendProblem(reply, problemOf(error, request))
}

/** The problem of an error, after logging what the operator needs. */
export function problemOf(error: Failure, request: FastifyRequest): Problem {
  if (error instanceof LimitExceeded) return limitProblem(error, request.wasStalled)
  if (error instanceof BodyRefused) return error.problem
  if (error instanceof Disconnected) return clientGone
  if (error instanceof NewerVersion) {
    request.log.warn({ reason: error.message }, 'a newer release is needed for a request')
    return newerVersion
  }
  const refusal = expectedProblem(error, request) ?? databaseProblem(error, request.method)
  if (refusal === null || refusal.code === 'internal_error') {
    request.log.error(
      { method: request.method, url: request.routeOptions.url, err: loggable(error) },
      'a request failed',
    )
  } else if (refusal.code === 'unavailable') {
    const what = refusalsLogged.get(refusal) ?? 'the database is not available'
    const warn = warnings.get(request.server) ?? thinned()
    warnings.set(request.server, warn)
    warn(request.log, { reason: error.message }, what)
  }
  return refusal ?? internalError
}

function spelled(bytes: number): string {
  return bytes < mebibyte ? `${bytes / 1024} KiB` : `${bytes / mebibyte} MiB`
}

function expectedProblem(error: FastifyError, { routeOptions, headers }: FastifyRequest): Problem | null {
  switch (error.code) {
    case bodyCut:
      return problem('malformed_json', 'The body ended before it was complete. Send it again.')
    case bodyTooLarge:
      return problem(
        'body_too_large',
        `The body has more than ${spelled(routeOptions.bodyLimit)}. Send less at once.`,
      )
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return problem(
        'unsupported_media_type',
        `Send the body as JSON, with Content-Type: application/json; got ${quoted(headers['content-type'] ?? '')}.`,
      )
    default:
      return null
  }
}

/** `unavailable` says that nothing changed. A write whose connection was lost may have committed: an internal error. */
function databaseProblem(error: Error & { code?: string }, method: string): Problem | null {
  if (error.code === clockAheadCode) return clockAhead
  if (error.code === sealedOtherwiseCode) return anotherKey
  if (error instanceof DatabaseUnavailable) return shardUnavailable
  if (isNotServed(error)) return beingMoved
  const effect = effectOf(error)
  if (effect === 'unavailable') return databaseUnavailable
  if (effect === 'none') return nothingDone
  return effect === 'unknown' && (method === 'GET' || method === 'HEAD') ? databaseUnavailable : null
}

const databaseUnavailable = problem(
  'unavailable',
  'The database cannot be reached, is too busy or has no space left; nothing was changed. Send the request again.',
)

const newerVersion = problem(
  'unavailable',
  'A newer release of the service wrote the object, and the process that received the request is of an older one; nothing was changed. Send the request again.',
)

const clockAhead = problem(
  'unavailable',
  "The clock of the server that took this request is ahead of the database's by more than it may be; nothing was changed. Send the request again.",
)

const clientGone = problem(
  'unavailable',
  'The client disconnected before the request started; nothing was changed. Send the request again.',
)

const anotherKey = problem(
  'unavailable',
  'The encryption key of the service is being replaced, and the process that received the request does not have the new one yet; nothing was changed. Send the request again.',
)

const shardUnavailable = problem(
  'unavailable',
  'The database that has this organization cannot be reached right now; nothing was changed. Send the request again.',
)

const beingMoved = problem(
  'unavailable',
  'The organization is being moved to another database, or deleted; nothing was changed. Send the request again.',
)

/** Log lines for databases that refuse to commit for this process. */
const refusalsLogged: ReadonlyMap<Problem, string> = new Map([
  [clockAhead, "this process's clock is too far ahead of the database's: nothing is committed"],
  [
    anotherKey,
    'the database names another encryption key: start this process again with both, DESKWIRE_ENCRYPTION_KEY and DESKWIRE_ENCRYPTION_KEY_PREVIOUS',
  ],
])

const internalError = problem(
  'internal_error',
  'Something went wrong on our side, and the change may or may not have taken effect. Report the requestId.',
)

const nothingDone = problem(
  'internal_error',
  'Something went wrong on our side; nothing was changed. Report the requestId.',
)
