/** Finds the caller of a request and the client's address, before the body is read. */
import { isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Quota, RateLimit } from '../admission/rate-limit.ts'
import type { Authentication, Authenticator, Caller, Lookup } from '../auth/authenticator.ts'
import { grants } from '../auth/scopes.ts'
import { isBearer, isToken } from '../auth/token.ts'
import { type Problem, problem, quoted } from '../kernel/errors.ts'
import { parseId } from '../kernel/ids.ts'
import { fail, ok, type Result } from '../kernel/outcome.ts'
import { sendProblem } from './problem-reply.ts'
import { searchParameters, wantsEvents } from './replies.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `requireKey`. */
    caller: Caller | null
    /** Set by `requireKey`: the look-up of the key took as long as in an outage of the database. */
    wasStalled: boolean
    /**
     * For a token of another authority; null where it is of this installation. Refuses its caller once it has ended;
     * resolves to null while it has not.
     */
    renewCaller: (() => Promise<Problem | null>) | null
  }
}

type Needed = string | 'any key'

/** Milliseconds. */
const stalledAfter = 1_000

/** Accepts tokens of another authority. */
export interface TokenExchange {
  /** The token of a session for such a token. */
  exchange(token: string): Promise<Result<string, Problem>>
  /** The URL of the protected resource's metadata (RFC 9728). */
  readonly metadata: string
}

function refusalOf({ scopes }: Caller, needed: Needed): Problem | null {
  return needed === 'any key' || grants(scopes, needed)
    ? null
    : problem('insufficient_scope', `This needs a key with the scope ${needed}.`)
}

/** Refuses requests without a valid key for this. Every response to a key has the state of its rate limit. */
export function requireKey(authenticator: Authenticator, needed: Needed, exchange: TokenExchange | null) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    if (exchange !== null) {
      reply.header('www-authenticate', `Bearer realm="deskwire", resource_metadata="${exchange.metadata}"`)
      const refused = await exchangeToken(request, exchange)
      if (refused !== null) return sendProblem(reply, refused)
    }
    const session = sessionOf(request)
    if (session !== null && !isToken(session, 'session')) return sendProblem(reply, notASession)
    if (session !== null) request.headers.authorization = `Bearer ${session}`
    const token = tokenOf(request.headers.authorization)
    if (typeof token !== 'string') return sendProblem(reply, token)
    const authentication = await authenticator.authenticate(token, clientAddress(request))
    request.wasStalled = reply.elapsedTime >= stalledAfter
    if ('quota' in authentication && authentication.quota !== null) {
      reply.headers(rateLimitHeaders(authentication.quota))
      if (authentication.outcome === 'limited')
        reply.header('retry-after', retryAfterSeconds(authentication.quota))
    }
    if (authentication.outcome === 'throttled') reply.header('retry-after', '1')
    if (authentication.outcome !== 'authenticated') return sendProblem(reply, refusal(authentication))
    const { scopes } = authentication.caller
    const mayOnlyRead = scopes.every((scope) => scope.endsWith(':read'))
    const refused =
      session !== null && !mayOnlyRead ? sessionMayWrite : refusalOf(authentication.caller, needed)
    if (refused !== null) return sendProblem(reply, refused)
    reply.removeHeader('www-authenticate')
    request.caller = authentication.caller
  }
}

/** The token in the query of a stream of events, for which a browser cannot send the header. */
function sessionOf(request: FastifyRequest): string | null {
  if (request.headers.authorization !== undefined || !wantsEvents(request)) return null
  return searchParameters(request).get('session')
}

// An address is kept in logs and histories: what is written there must end soon, and change nothing.
const notASession = problem(
  'unauthorized',
  'session must be the token of a session of the console (dws_…). An API key does not belong in an address: exchange a console link for a session.',
)
const sessionMayWrite = problem(
  'insufficient_scope',
  'A session in an address may read and nothing else: make its console link with scopes that end with :read.',
)

/** Replaces an external token by that of its session, so that all that follows knows one kind of caller. */
async function exchangeToken(request: FastifyRequest, { exchange }: TokenExchange): Promise<Problem | null> {
  const { headers } = request
  const sent = bearerToken(headers.authorization)
  if (sent === null || isBearer(sent)) return null
  const renew = async () => {
    const session = await exchange(sent)
    if (!session.ok) return session.error
    headers.authorization = `Bearer ${session.value}`
    return null
  }
  request.renewCaller = renew
  return renew()
}

/** Looks the caller up again: its key may have been revoked or narrowed since the request was admitted. */
export async function recheckCaller(
  authenticator: Authenticator,
  request: FastifyRequest,
  needed: Needed,
): Promise<Result<Caller, Problem>> {
  const ended = await request.renewCaller?.()
  if (ended != null) return fail(ended)
  const token = tokenOf(request.headers.authorization)
  if (typeof token !== 'string') return fail(token)
  const found = await authenticator.lookUp(token)
  if (found.outcome !== 'authenticated') return fail(refusal(found))
  const refused = refusalOf(found.caller, needed)
  return refused === null ? ok(found.caller) : fail(refused)
}

export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error(`${request.routeOptions.url} asks for no scope`)
  return request.caller
}

/**
 * The teammate in the header X-Acting-Teammate, for whom events of the request say that it was made (specification
 * 5.3). Null without the header. It does not look the teammate up: if there is none, it has no name.
 */
export function actingTeammate({ headers }: Pick<FastifyRequest, 'headers'>): Result<string | null, Problem> {
  const sent = headers['x-acting-teammate']
  if (sent === undefined) return ok(null)
  const id = parseId(String(sent))
  return id === null ? fail(notAnId(String(sent))) : ok(id)
}

const notAnId = (sent: string) =>
  problem('invalid_parameter', `X-Acting-Teammate must be the id of a teammate; got ${quoted(sent)}.`)

export function bearerToken(header: string | undefined): string | null {
  const [, token] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? []
  return token ?? null
}

function tokenOf(header: string | undefined): string | Problem {
  if (header === undefined) {
    return problem('unauthorized', 'Send the header Authorization: Bearer dwk_…, with an API key.')
  }
  return (
    bearerToken(header) ??
    problem('unauthorized', 'The Authorization header must be: Bearer, a space, and an API key (dwk_…).')
  )
}

function refusal(authentication: Exclude<Authentication | Lookup, { outcome: 'authenticated' }>): Problem {
  switch (authentication.outcome) {
    case 'expired':
      return problem('key_expired', 'This API key has expired. Make a new one.')
    case 'replaced':
      return problem(
        'key_expired',
        'This token was replaced by a rotation of its key, and its time is over. Use the newer one.',
      )
    case 'ended':
      return problem('key_expired', 'This session of the console has ended. Open a new link.')
    case 'suspended':
      return problem(
        'insufficient_scope',
        'This organization is suspended: its keys work again when the operator of the service resumes it. Nothing is lost, and the key is not revoked.',
      )
    case 'unknown':
      return problem(
        'unauthorized',
        'No such API key exists here: it is mistyped, revoked, or of another installation.',
      )
    case 'limited':
      return problem(
        'rate_limited',
        `This key sent too many requests: ${spelled(authentication.quota)}. Send it again after Retry-After.`,
      )
    case 'throttled':
      return problem(
        'rate_limited',
        'Too many unknown API keys are being tried from this address. If this one is right, send it again after Retry-After.',
      )
  }
}

function spelled({ limit: { perSecond, burst } }: Quota): string {
  return `its limit is ${perSecond} requests a second, ${burst} in a burst`
}

/** `"default";q=500;w=5`: the burst, and the whole seconds in which it is filled again. */
function policyOf({ burst, perSecond }: RateLimit): string {
  return `"default";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`
}

/** `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers, structured fields). */
function rateLimitHeaders(quota: Quota): Record<string, string> {
  return {
    'ratelimit-policy': policyOf(quota.limit),
    ratelimit: `"default";r=${quota.remaining};t=${Math.ceil(quota.fullAfter / 1_000)}`,
  }
}

function retryAfterSeconds({ retryAfter }: Quota): number {
  return Math.max(1, Math.ceil(retryAfter / 1_000))
}

/** For Fastify, which asks of each hop whether it is trusted about the one before it. */
export function trustHops(isWithin: (ip: string) => boolean): (hop: string | undefined) => boolean {
  return (hop) => hop !== undefined && isWithin(bareAddress(hop))
}

/**
 * The client's address behind trusted proxies. Each proxy appends to `X-Forwarded-For`, so the list is read from its
 * end while hops are trusted: the client may have invented the rest. The last trusted proxy's address, where it gave
 * none.
 */
export function clientAddress(request: FastifyRequest): string {
  const hops = request.ips ?? [request.ip]
  return hops.map(bareAddress).findLast((hop) => isIP(hop) !== 0) ?? request.ip
}

/** Without a port, and with an IPv4 address written as one, also where an IPv6 socket shows it mapped. */
export function bareAddress(hop: string): string {
  const [, bracketed] = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(hop) ?? []
  const [, beforePort] = /^([\d.]+):\d{1,5}$/.exec(hop) ?? []
  const address = bracketed ?? beforePort ?? hop
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? []
  return mapped ?? address
}
