/** A route as one value. The server's routes and `openapi.json` are made from it, so they cannot differ. */
import { readJson } from '@deskwire/sdk/json'
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import { largeBeyond } from '../admission/large-work.ts'
import { type Authenticator, type Caller, recheckAfter } from '../auth/authenticator.ts'
import type { IdempotencyStore, KeyedResponse } from '../idempotency/stored-responses.ts'
import { versionOf } from '../journal/body.ts'
import type { RequestContext, ResponseToStore } from '../journal/change.ts'
import { OrganizationNotServed } from '../journal/not-served.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { freeBytes } from '../kernel/free-bytes.ts'
import type { Outcome, Result, StoredResponse } from '../kernel/outcome.ts'
import { type Answer, type Operation, type ReadParameter, refusesParameters } from '../openapi/api-module.ts'
import { actingTeammate, callerOf, recheckCaller, requireKey, type TokenExchange } from './authenticate.ts'
import { entityTag } from './entity-tag.ts'
import { idempotencyOf, runOnce } from './idempotency.ts'
import { readQuery, unknownParameter, type Values } from './list-parameters.ts'
import { sendProblem } from './problem-reply.ts'
import { pathOf, type Sent, searchParameters } from './replies.ts'
import { withoutSlash } from './unknown-address.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly route?: Operation
    /** Refuses a request without the key of the route's own (`Route.admits`). */
    readonly admits?: (request: FastifyRequest) => Problem | null
  }
}

export interface Call<Name extends string = string, Query = unknown, Body = unknown> {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The owner of its key. Throws where the route needs no key. */
  readonly caller: Caller
  /** The parameters of the path, as they were sent. */
  readonly params: Readonly<Record<Name, string>>
  /** The query, read as the route declares it, or the first error in it. */
  query(): Result<Query, Problem>
  readonly body: Body
  /** What the commit stores the response under; null without an Idempotency-Key. */
  readonly record: ResponseToStore | null
  /**
   * Refuses a caller whose key has been revoked or narrowed; null: it may go on, and `caller` is current. A check less
   * than `goodFor` milliseconds ago is not repeated.
   * @throws OrganizationNotServed when the organization has moved to another database.
   */
  recheck(goodFor?: number): Promise<Problem | null>
}

/** The context of a change that this call makes. Its headers have been checked. */
export function requestContextOf({
  request,
  caller: { apiKeyId, sessionId },
}: Pick<Call, 'request' | 'caller'>): RequestContext {
  const acting = actingTeammate(request)
  const cause = {
    key: apiKeyId,
    ...(sessionId !== undefined && { session: sessionId }),
    ...(acting.ok && acting.value !== null && { actingFor: acting.value }),
    request: request.id,
  }
  return { cause, signal: request.disconnected }
}

/** The value of an outcome is sent as the first of the route's answers. */
type Handled = Outcome<unknown> | Sent | Promise<Outcome<unknown> | Sent>

export interface Route<Services> extends Operation {
  readonly handle: (services: Services, call: Call) => Handled
  /** The route reads the body instead of the server, up to so many bytes: `call.body` is the result. */
  readonly reads?: {
    readonly bodyLimit: number
    /** Whether these bytes ask for no more work than one object may. Others are offloaded. */
    readonly isLight: (bytes: Buffer) => boolean
    readonly read: (bytes: Buffer | null) => Promise<Result<unknown, Problem>>
  }
  /** Of a public route with a key of its own: refuses a request without it, before its body is read. */
  readonly admits?: (services: Services, request: FastifyRequest) => Problem | null
  /** The token in the body by which a route without a key finds its organization. */
  readonly ownedBy?: (body: unknown) => string | null
  /** Removes what the caller may not read from responses and refusals. */
  readonly redact?: {
    readonly body: (caller: Caller, body: string) => string
    readonly problem: (caller: Caller, refusal: Problem) => Problem
  }
  /** Refuses to send a stored response with a token or secret to this caller; null: it may have it. */
  readonly withhold?: (services: Services, caller: Caller, stored: string) => Promise<Problem | null>
  /**
   * What follows the commit, also when the request is repeated: returns the response to send. It has committed, so this never fails.
   */
  readonly finish?: (services: Services, call: Call, response: string) => Promise<string>
}

/** The names between braces of a path: `/v1/webhooks/{id}` has `id`. */
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never

type Declared<Services, Path extends string, Query extends Operation['query'], Body> = Omit<
  Route<Services>,
  'path' | 'query' | 'handle' | 'reads'
> & {
  readonly path: Path
  readonly query?: Query
  readonly reads?: {
    readonly bodyLimit: number
    readonly isLight: (bytes: Buffer) => boolean
    readonly read: (bytes: Buffer | null) => Promise<Body>
  }
  readonly handle: (services: Services, call: Call<NamesIn<Path>, Values<Query>, Body>) => Handled
}

/** Declares the routes of a module: `const route = routesOf<Services>()`. */
export function routesOf<Services>() {
  return <const Path extends string, const Query extends Operation['query'] = undefined, Body = unknown>(
    declared: Declared<Services, Path, Query, Body>,
  ): Route<Services> => declared as unknown as Route<Services>
}

interface Access {
  readonly authenticator: Authenticator
  readonly idempotency: IdempotencyStore
  /** Default: only tokens of this installation are accepted. */
  readonly exchange?: TokenExchange | null
}

type Guard = Pick<Access, 'authenticator' | 'exchange'>

/** Routes with their services. The shards have the same routes; those of the first are registered. */
export interface BoundRoutes {
  readonly routes: () => readonly Route<unknown>[]
  readonly services: unknown
}

export function bindRoutes<Services>(
  routes: () => readonly Route<Services>[],
  services: Services,
): BoundRoutes {
  return { routes: routes as () => readonly Route<unknown>[], services }
}

interface ShardRoutes {
  readonly parts: readonly BoundRoutes[]
  readonly idempotency: IdempotencyStore
}

export interface ShardRouter {
  /** The index of the shard that has the token; null: unknown. */
  shardOf(token: string): Promise<number | null>
  /** The caller after this error, with its shard as it is now; null: give up. May wait. */
  follow(caller: Caller, error: unknown, tried: number): Promise<Caller | null>
}

/** Registers routes of one database. Throws where one needs a key and there is no `access`. */
export function registerRoutes<Services>(
  server: FastifyInstance,
  routes: readonly Route<Services>[],
  services: Services,
  access: Access | null,
): void {
  const shard = { services, idempotency: access?.idempotency ?? null }
  for (const route of routes) register(server, route, [shard], { access, shardRouter: null })
}

/** Registers the routes of all shards. The shard of the caller's organization handles a request. */
export function registerSharded(
  server: FastifyInstance,
  all: readonly ShardRoutes[],
  access: Guard,
  shardRouter: ShardRouter | null,
): void {
  all[0]?.parts.forEach(({ routes }, part) => {
    const shards = all.map(({ parts, idempotency }) => ({ services: parts[part]?.services, idempotency }))
    for (const route of routes()) register(server, route, shards, { access, shardRouter })
  })
}

interface Shard<Services> {
  readonly services: Services
  readonly idempotency: IdempotencyStore | null
}

interface ServerParts {
  readonly access: Guard | null
  readonly shardRouter: ShardRouter | null
}

function register<Services>(
  server: FastifyInstance,
  route: Route<Services>,
  shards: readonly Shard<Services>[],
  parts: ServerParts,
): void {
  const { method, path, reads, admits } = route
  const authenticate = guardOf(route, parts.access)
  const ownKey =
    admits && ((request: FastifyRequest) => admits((shards[0] as Shard<Services>).services, request))
  const bodyLimit = reads?.bodyLimit ?? (authenticate === null ? publicBodyLimit : undefined)
  server.route({
    method: method.toUpperCase(),
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    ...(authenticate === null ? {} : { onRequest: authenticate }),
    ...(ownKey === undefined ? {} : { onRequest: refuseWithout(ownKey) }),
    ...(authenticate === null || !path.includes('{') ? {} : { preParsing: refuseEmpty }),
    ...(bodyLimit === undefined ? {} : { bodyLimit }),
    config: {
      route,
      ...(reads === undefined ? {} : { readsBody: { isLight: reads.isLight } }),
      ...(ownKey === undefined ? {} : { admits: ownKey }),
    },
    handler: handlerOf(route, shards, parts),
  })
}

/** Bytes of a body that is read without a caller, who could be offloaded and limited. */
const publicBodyLimit = largeBeyond.bodyBytes

function refuseWithout(ownKey: (request: FastifyRequest) => Problem | null) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const refusal = ownKey(request)
    if (refusal !== null) sendProblem(reply, refusal)
  }
}

/** Refuses a path without its id, such as that of a list with a slash at its end. */
function refuseEmpty(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: RequestPayload,
  next: PreParsed,
): void {
  const [name] = Object.entries(request.params as object).find(([, value]) => value === '') ?? []
  if (name === undefined) {
    next(null, payload)
    return
  }
  const path = pathOf(request)
  const template = request.routeOptions.url?.replaceAll(/:(\w+)/g, '{$1}')
  const detail = `There is no ${path}: it lacks the ${name} of ${template}.${withoutSlash(request)}`
  sendProblem(reply, problem('not_found', detail))
}

type PreParsed = (error: null, payload: RequestPayload) => void

function guardOf({ access: needed, path }: Operation, access: Guard | null) {
  if (needed === 'public') return null
  if (access === null) throw new Error(`${path} needs a key, and no keys can be checked here`)
  return requireKey(access.authenticator, needed, access.exchange ?? null)
}

function handlerOf<Services>(
  route: Route<Services>,
  shards: readonly Shard<Services>[],
  { access, shardRouter }: ServerParts,
) {
  const { redact, reads, once, withhold, finish } = route
  const { status, send } = firstAnswer(route)

  /** Maps an outcome to the response: the only place, except for routes that send theirs. */
  async function respond(
    call: RouteCall,
    services: Services,
    outcome: Outcome<unknown> | Sent,
  ): Promise<FastifyReply> {
    switch (outcome.outcome) {
      case 'done':
        return send(call, finish ? await finish(services, call, String(outcome.value)) : outcome.value)
      case 'unchanged':
        return send(call, outcome.value)
      case 'refused':
        return refuse(call, outcome.error)
      case 'replayed':
        return replay(call, services, outcome.stored)
      case 'sent':
        return call.reply
    }
  }

  function refuse({ request, reply }: RouteCall, refusal: Problem): FastifyReply {
    return sendProblem(reply, redact === undefined ? refusal : redact.problem(callerOf(request), refusal))
  }

  async function replay(call: RouteCall, services: Services, stored: StoredResponse | undefined) {
    if (stored === undefined) throw new Error(`${route.id}: an idempotency key has no stored response`)
    const refusal = (await withhold?.(services, call.caller, stored.body)) ?? null
    if (refusal !== null) return refuse(call, refusal)
    call.reply.header('idempotent-replayed', 'true')
    return send(call, finish ? await finish(services, call, stored.body) : stored.body, stored.status)
  }

  function handleOnce(call: RouteCall, services: Services, idempotency: IdempotencyStore) {
    const { caller, record } = call
    return runOnce(idempotency, { organizationId: caller.organizationId, record }, async () => {
      const outcome = await route.handle(services, call)
      if (outcome.outcome === 'sent')
        throw new Error(`${route.id} has sent its response without its Idempotency-Key`)
      return outcome
    })
  }

  async function handle(call: RouteCall, { services, idempotency }: Shard<Services>) {
    if (!once) return route.handle(services, call)
    if (idempotency === null) throw new Error(`${route.id} needs a store of responses`)
    return handleOnce(call, services, idempotency)
  }

  async function handleOn(call: RouteCall, shard: Shard<Services>) {
    const early = await call.recheck(recheckAfter)
    if (early !== null) return refuse(call, early)
    const outcome = await handle(call, shard)
    // Meanwhile the caller may have lost its key, and rows that were not found may have been dropped after a move.
    const late = hasOnlyRead(outcome) ? await call.recheck(recheckAfter) : null
    return late === null ? respond(call, shard.services, outcome) : refuse(call, late)
  }

  /** Whether the request changed nothing, so that it may be refused, or handled again elsewhere. */
  function hasOnlyRead({ outcome }: Outcome<unknown> | Sent): boolean {
    return outcome === 'refused' || outcome === 'unchanged' || (outcome === 'done' && route.method === 'get')
  }

  /** The shard of the organization; the first where nothing says which. */
  async function shardOf({ request, body }: RouteCall): Promise<Shard<Services>> {
    const token = shardRouter === null ? null : (route.ownedBy?.(body) ?? null)
    const index = request.caller?.shard ?? (token === null ? null : await shardRouter?.shardOf(token)) ?? 0
    const shard = shards[index]
    if (shard === undefined) throw new Error(`there is no shard ${index}`)
    return shard
  }

  /** A former database of the organization refuses and changes nothing: its present one handles the request. */
  async function handleOnShard(call: RouteCall, shardRouter: ShardRouter): Promise<FastifyReply> {
    for (let tried = 1; ; tried++) {
      try {
        return await handleOn(call, await shardOf(call))
      } catch (error) {
        const { request, reply } = call
        const caller =
          request.caller === null || reply.sent || request.disconnected.aborted
            ? null
            : await shardRouter.follow(request.caller, error, tried)
        if (caller === null) throw error
        request.caller = caller
      }
    }
  }

  const [first] = shards
  if (first === undefined) throw new Error(`${route.id} has no shard`)
  if (once && shards.some(({ idempotency }) => idempotency === null))
    throw new Error(`${route.id} needs a store of responses`)
  const takesNone = route.query === undefined && refusesParameters(route)
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const call = new RouteCall(route, request, reply, access?.authenticator ?? null)
    const unknown = takesNone ? unknownParameter(searchParameters(request), []) : null
    if (unknown !== null) return refuse(call, unknown)
    if (reads !== undefined) {
      const body = await reads.read(request.rawBody)
      // A body that is not JSON is refused before its Idempotency-Key is read.
      if (!body.ok && body.error.code === 'malformed_json') return refuse(call, body.error)
      call.body = body
    }
    if (route.events !== undefined) {
      const acting = actingTeammate(request)
      if (!acting.ok) return refuse(call, acting.error)
    }
    if (once) {
      const record = idempotencyOf(request, status, call.caller.apiKeyId)
      if (!record.ok) return refuse(call, record.error)
      call.record = record.value
      // The body is read, and the record has its hash.
      if (reads !== undefined && request.rawBody !== null) {
        freeBytes(request.rawBody)
        request.rawBody = null
      }
    }
    return shardRouter === null ? handleOn(call, first) : handleOnShard(call, shardRouter)
  }
}

/** The status of a route's first response, and a function that sends a value as that, with its headers. */
function firstAnswer({ path, answers, redact }: Pick<Route<never>, 'path' | 'answers' | 'redact'>) {
  const [first] = Object.entries(answers)
  if (first === undefined) throw new Error(`${path} has no answer`)
  const status = Number(first[0])
  const answer: Answer = first[1]
  const { headers = [], schema, mediaType = 'application/json', shownOnce = false } = answer
  const withTag = headers.includes('ETag')
  const withLocation = headers.includes('Location')
  const contentType = `${mediaType}; charset=utf-8`

  function send(
    { request, reply }: Pick<Call, 'request' | 'reply'>,
    value: unknown,
    as = status,
  ): FastifyReply {
    reply.code(as)
    if (schema === undefined) return reply.send()
    let body = isReady(value) ? value : JSON.stringify(value)
    if (typeof body === 'string') {
      if (withTag) reply.header('etag', entityTag(versionOf(body)))
      if (withLocation) reply.header('location', `${path}/${(readJson(body) as { id: string }).id}`)
      if (redact !== undefined) body = redact.body(callerOf(request), body)
    }
    if (shownOnce) reply.header('cache-control', 'no-store')
    return reply.header('content-type', contentType).send(body)
  }

  return { status, send }
}

/** Whether a value is sent as it is; any other is written as JSON. */
function isReady(value: unknown): value is string | Uint8Array | NodeJS.ReadableStream {
  return (
    typeof value === 'string' ||
    value instanceof Uint8Array ||
    (typeof value === 'object' && value !== null && 'pipe' in value)
  )
}

class RouteCall implements Call {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  body: unknown
  record: KeyedResponse | null = null
  readonly #route: Operation
  readonly #authenticator: Authenticator | null
  /** When the caller was checked, in milliseconds since the request came. */
  #checkedAt = 0

  constructor(
    route: Operation,
    request: FastifyRequest,
    reply: FastifyReply,
    authenticator: Authenticator | null,
  ) {
    this.#route = route
    this.#authenticator = authenticator
    this.request = request
    this.reply = reply
    this.body = request.body
  }

  get caller(): Caller {
    return callerOf(this.request)
  }

  get params(): Readonly<Record<string, string>> {
    return this.request.params as Readonly<Record<string, string>>
  }

  async recheck(goodFor = 0): Promise<Problem | null> {
    const { caller } = this.request
    const now = this.reply.elapsedTime
    if (this.#authenticator === null || caller === null || now - this.#checkedAt < goodFor) return null
    const found = await recheckCaller(this.#authenticator, this.request, this.#route.access)
    if (!found.ok) return found.error
    if (found.value.shard !== caller.shard) throw new OrganizationNotServed()
    this.request.caller = found.value
    this.#checkedAt = now
    return null
  }

  query(): Result<unknown, Problem> {
    const { query = {} } = this.#route
    return readQuery(
      searchParameters(this.request),
      query as Readonly<Record<string, ReadParameter<unknown>>>,
    )
  }
}
