/** Registers routes. After the steps of `pipeline.ts` a request passes those of its route: `checksOf`, then `steps`. */
import { readJson } from '@deskwire/sdk/json'
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import { type Authenticator, type Caller, recheckAfter } from '../auth/authenticator.ts'
import { OrganizationNotServed } from '../db/not-served.ts'
import type { IdempotencyStore, KeyedResponse } from '../idempotency/stored-responses.ts'
import { versionOf } from '../journal/body.ts'
import type { RequestContext } from '../journal/change.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import type { Outcome, Result } from '../kernel/outcome.ts'
import {
  type Answer,
  type Call,
  type ReadParameter,
  type Route,
  refusesParameters,
  type Sent,
} from '../openapi/api-module.ts'
import { actingTeammate, callerOf, recheckCaller, requireKey, type TokenExchange } from './authenticate.ts'
import { idempotencyOf, runOnce } from './idempotency.ts'
import { readQuery, unknownParameter } from './list-parameters.ts'
import { sendProblem } from './problem-reply.ts'
import { freeBytes, offloadBeyond } from './read-body.ts'
import { entityTag, pathOf, searchParameters } from './replies.ts'
import { withoutSlash } from './unknown-address.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly route?: Route
    /** Refuses a request without the key of the route's own (`Route.admits`). */
    readonly admits?: (request: FastifyRequest) => Problem | null
  }
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
  return { cause, signal: request.disconnected, ...(isDryRun(request) && { dryRun: true }) }
}

function isDryRun(request: FastifyRequest): boolean {
  return searchParameters(request).get('dryRun') === 'true'
}

interface Guard {
  readonly authenticator: Authenticator
  /** Default: only tokens of this installation are accepted. */
  readonly exchange?: TokenExchange | null
}

/** Routes with their services. The shards have the same routes; those of the first are registered. */
export interface BoundRoutes {
  readonly routes: () => readonly Route<unknown>[]
  readonly services: unknown
}

/** Binds routes to their services, which nothing beyond knows. */
export function bindRoutes<Services>(
  routes: () => readonly Route<Services>[],
  services: Services,
): BoundRoutes {
  return { routes: routes as () => readonly Route<unknown>[], services }
}

interface ShardRoutes {
  readonly parts: readonly BoundRoutes[]
  readonly idempotency: IdempotencyStore | null
}

export interface ShardRouter {
  /** The index of the shard that has the token; null: unknown. */
  shardOf(token: string): Promise<number | null>
  /** The caller after this error, with its shard as it is now; null: give up. May wait. */
  follow(caller: Caller, error: unknown, tried: number): Promise<Caller | null>
}

/** Registers routes that need no key, of no database. */
export function registerRoutes<Services>(
  server: FastifyInstance,
  routes: readonly Route<Services>[],
  services: Services,
): void {
  registerSharded(server, [{ parts: [bindRoutes(() => routes, services)], idempotency: null }], null, null)
}

/** Registers the routes of all shards. The shard of the caller's organization handles a request. */
export function registerSharded(
  server: FastifyInstance,
  all: readonly ShardRoutes[],
  guard: Guard | null,
  shardRouter: ShardRouter | null,
): void {
  all[0]?.parts.forEach(({ routes }, part) => {
    const shards = all.map(({ parts, idempotency }) => ({ services: parts[part]?.services, idempotency }))
    for (const route of routes()) register(server, { route, shards, guard, shardRouter })
  })
}

interface Shard {
  readonly services: unknown
  readonly idempotency: IdempotencyStore | null
}

interface ServedRoute {
  readonly route: Route<unknown>
  readonly shards: readonly Shard[]
  readonly guard: Guard | null
  readonly shardRouter: ShardRouter | null
}

function register(server: FastifyInstance, served: ServedRoute): void {
  const { route, shards, guard } = served
  const { method, path, reads, admits } = route
  const authenticate = guardOf(route, guard)
  const ownKey = admits && ((request: FastifyRequest) => admits(shards[0]?.services, request))
  // A body that is read without a caller can be neither limited nor offloaded.
  const bodyLimit = reads?.bodyLimit ?? (authenticate === null ? offloadBeyond : undefined)
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
    handler: handlerOf(served),
  })
}

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

function guardOf({ access: needed, path }: Route<unknown>, guard: Guard | null) {
  if (needed === 'public') return null
  if (guard === null) throw new Error(`${path} needs a key, and no keys can be checked here`)
  return requireKey(guard.authenticator, needed, guard.exchange ?? null)
}

/** Refuses the request, or lets it go on. */
type Step = (call: RouteCall) => Problem | null | Promise<Problem | null>

/** What the request says, checked in this order. */
function checksOf(route: Route<unknown>): readonly Step[] {
  const checks = [
    route.query === undefined && refusesParameters(route) && refuseParameters,
    route.reads !== undefined && readBody,
    route.events !== undefined && checkActingTeammate,
    route.once === true && readIdempotencyKey,
  ]
  return checks.filter((check) => check !== false)
}

/** What happens in the organization's database, in this order; again in another one when the organization has moved. */
const steps: readonly Step[] = [findShard, recheckKey, handle, recheckUnlessChanged]

function handlerOf(served: ServedRoute) {
  const { route, shards } = served
  const checks = checksOf(route)
  const answer = firstAnswer(route)
  if (route.once && shards.some(({ idempotency }) => idempotency === null))
    throw new Error(`${route.id} needs a store of responses`)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const call = new RouteCall(served, answer, request, reply)
    const refusal = await firstRefusal(call, checks)
    if (refusal !== null) return refuse(call, refusal)
    for (let tried = 1; ; tried++) {
      try {
        const refusal = await firstRefusal(call, steps)
        return await (refusal === null ? respond(call) : refuse(call, refusal))
      } catch (error) {
        await follow(call, error, tried)
      }
    }
  }
}

async function firstRefusal(call: RouteCall, steps: readonly Step[]): Promise<Problem | null> {
  for (const step of steps) {
    const refusal = await step(call)
    if (refusal !== null) return refusal
  }
  return null
}

function refuseParameters({ request }: RouteCall): Problem | null {
  return unknownParameter(searchParameters(request), [])
}

/** A body that is not JSON is refused before its Idempotency-Key is read; any other is judged by the route. */
async function readBody(call: RouteCall): Promise<Problem | null> {
  const body = await call.route.reads?.read(call.request.rawBody)
  call.body = body
  return body?.ok === false && body.error.code === 'malformed_json' ? body.error : null
}

function checkActingTeammate({ request }: RouteCall): Problem | null {
  const acting = actingTeammate(request)
  return acting.ok ? null : acting.error
}

/** A dry run makes nothing, so it stores no response. */
function readIdempotencyKey(call: RouteCall): Problem | null {
  const { request, route } = call
  if (isDryRun(request)) return null
  const record = idempotencyOf(request, call.answer.status, call.caller.apiKeyId)
  if (!record.ok) return record.error
  call.record = record.value
  // The body is read, and the record has its hash.
  if (route.reads !== undefined && request.rawBody !== null) {
    freeBytes(request.rawBody)
    request.rawBody = null
  }
  return null
}

/** The shard of the organization; the first where nothing says which. */
async function findShard(call: RouteCall): Promise<null> {
  const { request, body, route, shards, shardRouter } = call
  const token = shardRouter === null ? null : (route.ownedBy?.(body) ?? null)
  const index = request.caller?.shard ?? (token === null ? null : await shardRouter?.shardOf(token)) ?? 0
  const shard = shards[index]
  if (shard === undefined) throw new Error(`there is no shard ${index}`)
  call.shard = shard
  return null
}

function recheckKey(call: RouteCall): Promise<Problem | null> {
  return call.recheck(recheckAfter)
}

async function handle(call: RouteCall): Promise<null> {
  const { route, record } = call
  const { services, idempotency } = call.shard
  const run = async () => route.handle(services, call)
  call.outcome =
    record === null || idempotency === null
      ? await run()
      : await runOnce(idempotency, { organizationId: call.caller.organizationId, record }, async () => {
          const outcome = await run()
          if (outcome.outcome === 'sent')
            throw new Error(`${route.id} has sent its response without its Idempotency-Key`)
          return outcome
        })
  return null
}

/**
 * Meanwhile the caller may have lost its key, and rows that were not found may have been dropped after a move. A
 * request that changed nothing may be refused, or handled again elsewhere.
 */
function recheckUnlessChanged(call: RouteCall): Promise<Problem | null> | null {
  const { outcome } = call.outcome
  const changedNothing =
    outcome === 'refused' || outcome === 'unchanged' || (outcome === 'done' && call.route.method === 'get')
  return changedNothing ? call.recheck(recheckAfter) : null
}

/** Maps an outcome to the response: the only place, except for routes that send theirs. */
async function respond(call: RouteCall): Promise<FastifyReply> {
  const { outcome, answer, route } = call
  const { services } = call.shard
  const finished = async (body: string) => (route.finish ? route.finish(services, call, body) : body)
  switch (outcome.outcome) {
    case 'done':
      return answer.send(call, route.finish ? await finished(String(outcome.value)) : outcome.value)
    case 'unchanged':
      return answer.send(call, outcome.value)
    case 'refused':
      return refuse(call, outcome.error)
    case 'replayed': {
      const { stored } = outcome
      if (stored === undefined) throw new Error(`${route.id}: an idempotency key has no stored response`)
      const refusal = (await route.withhold?.(services, call.caller, stored.body)) ?? null
      if (refusal !== null) return refuse(call, refusal)
      call.reply.header('idempotent-replayed', 'true')
      return answer.send(call, await finished(stored.body), stored.status)
    }
    case 'sent':
      return call.reply
  }
}

function refuse({ request, reply, route: { redact } }: RouteCall, refusal: Problem): FastifyReply {
  return sendProblem(reply, redact === undefined ? refusal : redact.problem(callerOf(request), refusal))
}

/** A former database of the organization refuses and changes nothing: its present one handles the request. */
async function follow({ request, reply, shardRouter }: RouteCall, error: unknown, tried: number) {
  if (shardRouter === null || request.caller === null || reply.sent || request.disconnected.aborted)
    throw error
  const caller = await shardRouter.follow(request.caller, error, tried)
  if (caller === null) throw error
  request.caller = caller
}

type FirstAnswer = ReturnType<typeof firstAnswer>

/** The status of a route's first response, and a function that sends a value as that, with its headers. */
function firstAnswer({ path, answers, redact }: Pick<Route, 'path' | 'answers' | 'redact'>) {
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

/** A request on its way through the steps: what each has found for the next. */
class RouteCall implements Call {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly answer: FirstAnswer
  body: unknown
  record: KeyedResponse | null = null
  /** Set by `findShard`. */
  declare shard: Shard
  /** Set by `handle`. */
  declare outcome: Outcome<unknown> | Sent
  readonly #served: ServedRoute
  /** When the caller was checked, in milliseconds since the request came. */
  #checkedAt = 0

  constructor(served: ServedRoute, answer: FirstAnswer, request: FastifyRequest, reply: FastifyReply) {
    this.#served = served
    this.answer = answer
    this.request = request
    this.reply = reply
    this.body = request.body
  }

  get route(): Route<unknown> {
    return this.#served.route
  }

  get shards(): readonly Shard[] {
    return this.#served.shards
  }

  get shardRouter(): ShardRouter | null {
    return this.#served.shardRouter
  }

  get caller(): Caller {
    return callerOf(this.request)
  }

  get params(): Readonly<Record<string, string>> {
    return this.request.params as Readonly<Record<string, string>>
  }

  async recheck(goodFor = 0): Promise<Problem | null> {
    const { guard, route } = this.#served
    const { caller } = this.request
    const now = this.reply.elapsedTime
    if (guard === null || caller === null || now - this.#checkedAt < goodFor) return null
    const found = await recheckCaller(guard.authenticator, this.request, route.access)
    if (!found.ok) return found.error
    if (found.value.shard !== caller.shard) throw new OrganizationNotServed()
    this.request.caller = found.value
    this.#checkedAt = now
    return null
  }

  query(): Result<unknown, Problem> {
    const { query = {} } = this.route
    return readQuery(
      searchParameters(this.request),
      query as Readonly<Record<string, ReadParameter<unknown>>>,
    )
  }
}
