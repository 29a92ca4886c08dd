/** Who is calling, before anything else of a request is looked at. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller, TokenDirectory } from '../access/directory.ts'
import { grants } from '../access/scopes.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { sendProblem } from './problem-reply.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `requireScope`; reading it on a route without one is a mistake of ours. */
    caller: Caller | null
  }
}

/** A hook that lets a request in only with a living key that holds `scope`. */
export function requireScope(directory: TokenDirectory, scope: string) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const recognized = await recognize(directory, request.headers.authorization)
    if ('code' in recognized) return sendProblem(reply, recognized)
    if (!grants(recognized.scopes, scope)) {
      return sendProblem(
        reply,
        problem('insufficient_scope', `This needs a key with the scope ${scope}; write does not imply read.`),
      )
    }
    request.caller = recognized
  }
}

/** The caller of a request that `requireScope` let in. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error(`${request.routeOptions.url} asks for no scope`)
  return request.caller
}

async function recognize(directory: TokenDirectory, header: string | undefined): Promise<Caller | Problem> {
  if (header === undefined) {
    return problem('unauthorized', 'Send the header Authorization: Bearer dwk_…, with an API key.')
  }
  const [, token] = /^Bearer +(\S+)$/i.exec(header) ?? []
  if (token === undefined) {
    return problem(
      'unauthorized',
      'The Authorization header must be: Bearer, a space, and an API key (dwk_…).',
    )
  }
  const recognition = await directory.recognize(token)
  switch (recognition.outcome) {
    case 'recognized':
      return recognition.caller
    case 'expired':
      return problem('key_expired', 'This API key has expired. Make a new one.')
    case 'unknown':
      return problem(
        'unauthorized',
        'This API key is not known here: it is mistyped, revoked, or of another installation.',
      )
  }
}
