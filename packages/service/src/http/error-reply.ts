/** How an error that a step or a handler throws is answered. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { LimitExceeded } from '../admission/limit-exceeded.ts'
import { DatabaseUnavailable } from '../databases/router.ts'
import { effectOf } from '../db/failure.ts'
import { awayOf } from '../journal/away.ts'
import { clockAheadCode } from '../journal/clock-skew.ts'
import { NewerVersion } from '../journal/rows.ts'
import { sealedOtherwiseCode } from '../journal/sql-fragments.ts'
import { type Problem, problem, quoted } from '../kernel/errors.ts'
import { loggable } from '../kernel/loggable.ts'
import { limitProblem } from './admit.ts'
import { Disconnected } from './disconnect.ts'
import { malformedJson } from './parse-body.ts'
import { sendProblem } from './problem-reply.ts'
import { bodyCut, bodyTooLarge } from './read-body.ts'

const mebibyte = 1024 * 1024

/** Answers with the problem that the error is, and logs what the operator has to know. */
export function answerError(
  error: FastifyError | LimitExceeded | Disconnected,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (error instanceof LimitExceeded) return sendProblem(reply, limitProblem(error))
  if (error instanceof Disconnected) return sendProblem(reply, clientGone)
  if (error instanceof NewerVersion) {
    request.log.warn({ reason: error.message }, 'a newer release is needed for a request')
    return sendProblem(reply, newerVersion)
  }
  const refusal = expectedProblem(error, request) ?? databaseProblem(error, request.method)
  if (refusal === null || refusal.code === 'internal_error') {
    request.log.error(
      { method: request.method, url: request.routeOptions.url, err: loggable(error) },
      'a request failed',
    )
  } else if (refusal.code === 'unavailable') {
    const what = refusalsLogged.get(refusal) ?? 'the database is not available'
    request.log.warn({ reason: error.message }, what)
  }
  // Fastify would end the connection. What is left of the body is read (`discardBody`), so that the answer arrives.
  if (error.code === bodyTooLarge) reply.removeHeader('connection')
  return sendProblem(reply, refusal ?? internalError)
}

/** What a client did wrong before any route could say so. */
function expectedProblem(error: FastifyError, { routeOptions, headers }: FastifyRequest): Problem | null {
  switch (error.code) {
    case malformedJson:
      return problem('malformed_json', error.message)
    case bodyCut:
      return problem('malformed_json', 'The body ended before it was complete. Send it again.')
    case bodyTooLarge:
      return problem(
        'body_too_large',
        `The body has more than ${routeOptions.bodyLimit / mebibyte} MiB. Send less at once.`,
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

/**
 * A database that cannot be reached has not been asked, so nothing was changed and the request can be sent again.
 * One that was lost in the middle of a commit may have finished it: that is an internal error. A GET has nothing to commit.
 */
function databaseProblem(error: Error & { code?: string }, method: string): Problem | null {
  if (error.code === clockAheadCode) return clockAhead
  if (error.code === sealedOtherwiseCode) return anotherKey
  if (error instanceof DatabaseUnavailable) return homeUnavailable
  if (awayOf(error) !== null) return beingMoved
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
  'A newer release of the service wrote the object, and the process that was asked is of an older one; nothing was changed. Send the request again.',
)

const clockAhead = problem(
  'unavailable',
  "The clock of the server that took this request is ahead of the database's by more than it may be; nothing was changed. Send the request again.",
)

/** For the metrics alone: nobody is there to read it. */
const clientGone = problem(
  'unavailable',
  'The client disconnected before the request was begun; nothing was changed. Send the request again.',
)

const anotherKey = problem(
  'unavailable',
  'The encryption key of the service is being replaced, and the process that was asked does not have the new one yet; nothing was changed. Send the request again.',
)

const homeUnavailable = problem(
  'unavailable',
  'The database that has this organization cannot be reached right now; nothing was changed. Send the request again.',
)

const beingMoved = problem(
  'unavailable',
  'The organization is being moved to another database; nothing was changed. Send the request again.',
)

/** What the log says where the database refused what this process asked it to commit. */
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
