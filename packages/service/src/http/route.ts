/**
 * A route as one value: what it takes, who may ask, what it answers and refuses, and what it does. The server's registration
 * and `openapi.json` are both made from it, so that neither can say what the other does not.
 */
import { readJson } from '@deskwire/sdk/json'
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import type { Admission } from '../auth/authentication.ts'
import type { Caller } from '../auth/look-up.ts'
import type { IdempotencyStore, KeyedResponse } from '../idempotency/stored-responses.ts'
import { OrganizationAway } from '../journal/away.ts'
import { versionOf } from '../journal/body.ts'
import type { ResponseToStore } from '../journal/change.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import { freeBytes } from '../kernel/free-bytes.ts'
import { type Outcome, refused, type StoredResponse } from '../kernel/outcome.ts'
import type { Result } from '../kernel/result.ts'
import type { Answer, Operation, ReadParameter } from '../openapi/part.ts'
import { admit, callerOf, lookAgain } from './authenticate.ts'
import { entityTag } from './entity-tag.ts'
import { answerOnce, idempotencyOf } from './idempotency.ts'
import { unstorableText } from './json-body.ts'
import { readQuery, type Values } from './list-parameters.ts'
import { sendProblem } from './problem-reply.ts'
import { pathOf, type Sent, searchParameters } from './replies.ts'
import { withoutSlash } from './wrong-address.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route that answers, as it is declared. */
    readonly route?: Operation
  }
}

/** One request, as its route sees it. */
export interface Call<Name extends string = string, Query = unknown, Body = unknown> {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Whose key it came with. Throws where the route asks for none. */
  readonly caller: Caller
  /** What stands in the path, as it was sent. */
  readonly params: Readonly<Record<Name, string>>
  /** The query, read as the route declares it, or the first thing that is wrong with it. */
  query(): Result<Query, Problem>
  readonly body: Body
  /** What the answer is to be kept under, in the commit; null without an Idempotency-Key. */
  readonly record: ResponseToStore | null
  /**
   * Why the caller may not do this any more; null when it may. From then on `caller` is as it is now. What was found less than `goodFor`
   * milliseconds ago is believed. @throws OrganizationAway when the organization is answered for elsewhere by now.
   */
  standing(goodFor?: number): Promise<Problem | null>
}

/**
 * What waited for longer since its caller was looked at, in a queue, for a body or for a statement, is looked at again, in milliseconds.
 * Nearly everything is done by then, so that it costs nothing.
 */
export const standingGoodFor = 100

/** The outcome has a value for the first of the route's answers, unless the route has sent another of them itself. */
type Handled = Outcome<unknown> | Sent | Promise<Outcome<unknown> | Sent>

/** A route that works with services of this type. */
export interface Route<Services> extends Operation {
  readonly handle: (services: Services, call: Call) => Handled
  /** Reads the body by itself, piece by piece, up to so many bytes: `call.body` is what it resolves to. */
  readonly reads?: {
    readonly bodyLimit: number
    /** Whether these bytes ask for no more work than the body of one object may: then nobody else has to do it. */
    readonly isLight: (bytes: Buffer) => boolean
    readonly read: (bytes: Buffer | null) => Promise<Result<unknown, Problem>>
  }
  /** The token in its body by which its organization is found: of a route that needs no key, and answers for one organization. */
  readonly ownedBy?: (body: unknown) => string | null
  /** What a caller is told of an answer and of a refusal, where that is less than either says. */
  readonly told?: {
    readonly answer: (caller: Caller, body: string) => string
    readonly refusal: (caller: Caller, refusal: Problem) => Problem
  }
  /** Why a stored response, which holds what is shown once, is not given to this caller now; null when it is. */
  readonly withhold?: (services: Services, caller: Caller, kept: string) => Promise<Problem | null>
}

/** The names between braces of a path: `/v1/webhooks/{id}` has `id`. */
type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never

/** A route whose handler knows what its path, its query and its body hold. */
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

/** What a module declares its routes with: `const route = routesOf<Services>()`. */
export function routesOf<Services>() {
  return <const Path extends string, const Query extends Operation['query'] = undefined, Body = unknown>(
    declared: Declared<Services, Path, Query, Body>,
  ): Route<Services> => declared as unknown as Route<Services>
}

/** What routes are let in by, and repeated under. */
interface Access {
  readonly admission: Admission
  readonly idempotency: IdempotencyStore
}

/** Routes with what they work with. Of several databases, those of the first are made, and the others have the same. */
export interface Part {
  readonly routes: () => readonly Route<unknown>[]
  readonly services: unknown
}

/** These routes with these services, which a list of parts does not know the type of. */
export function partOf<Services>(routes: () => readonly Route<Services>[], services: Services): Part {
  return { routes: routes as () => readonly Route<unknown>[], services }
}

/** What answers a request, in one database. */
interface Answering {
  readonly parts: readonly Part[]
  readonly idempotency: IdempotencyStore
}

/** How several databases are told apart. */
export interface Placing {
  /** The place of the one in which a token is; null where nobody knows it. */
  placeOf(token: string): Promise<number | null>
  /** The caller as it is to be answered now, after such an error; null where that is what it came to. May wait. */
  follow(caller: Caller, error: unknown, tried: number): Promise<Caller | null>
}

/** Has the server answer these routes. Throws where one needs a key and there is no `access`. */
export function registerRoutes<Services>(
  server: FastifyInstance,
  routes: readonly Route<Services>[],
  services: Services,
  access: Access | null,
): void {
  const backing = { services, idempotency: access?.idempotency ?? null }
  for (const route of routes) register(server, route, [backing], { access, placing: null })
}

/**
 * Has the server answer the routes that all of these have: each request by the one in whose database its organization is. With one
 * there is nothing to tell apart, and no `placing`.
 */
export function registerAnswering(
  server: FastifyInstance,
  all: readonly Answering[],
  access: Pick<Access, 'admission'>,
  placing: Placing | null,
): void {
  all[0]?.parts.forEach(({ routes }, part) => {
    const backings = all.map(({ parts, idempotency }) => ({ services: parts[part]?.services, idempotency }))
    for (const route of routes()) register(server, route, backings, { access, placing })
  })
}

interface Backing<Services> {
  readonly services: Services
  readonly idempotency: IdempotencyStore | null
}

interface Entrance {
  readonly access: Pick<Access, 'admission'> | null
  readonly placing: Placing | null
}

function register<Services>(
  server: FastifyInstance,
  route: Route<Services>,
  backings: readonly Backing<Services>[],
  entrance: Entrance,
): void {
  const { method, path, reads } = route
  const letIn = guardOf(route, entrance.access)
  server.route({
    method: method.toUpperCase(),
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    ...(letIn === null ? {} : { onRequest: letIn }),
    ...(letIn === null || !path.includes('{') ? {} : { preParsing: refuseEmpty }),
    ...(reads === undefined ? {} : { bodyLimit: reads.bodyLimit }),
    config: { route, ...(reads === undefined ? {} : { readsBody: { isLight: reads.isLight } }) },
    handler: handlerOf(route, backings, entrance),
  })
}

/** A path that lacks an id, as that of a list with a slash at its end does. */
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
  const whole = request.routeOptions.url?.replaceAll(/:(\w+)/g, '{$1}')
  const detail = `There is no ${path}: it lacks the ${name} of ${whole}.${withoutSlash(request)}`
  sendProblem(reply, problem('not_found', detail))
}

type PreParsed = (error: null, payload: RequestPayload) => void

function guardOf({ access: needed, path }: Operation, access: Pick<Access, 'admission'> | null) {
  if (needed === 'public') return null
  if (access === null) throw new Error(`${path} needs a key, and nobody here knows any`)
  return admit(access.admission, needed)
}

function handlerOf<Services>(
  route: Route<Services>,
  backings: readonly Backing<Services>[],
  { access, placing }: Entrance,
) {
  const { told, reads, once, withhold } = route
  const { status, send } = firstAnswer(route)

  /** Every response of a route that does not send it itself. */
  async function respond(
    call: RouteCall,
    services: Services,
    outcome: Outcome<unknown> | Sent,
  ): Promise<FastifyReply> {
    switch (outcome.outcome) {
      case 'done':
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
    return sendProblem(reply, told === undefined ? refusal : told.refusal(callerOf(request), refusal))
  }

  async function replay(call: RouteCall, services: Services, stored: StoredResponse | undefined) {
    if (stored === undefined) throw new Error(`${route.id}: an idempotency key has no stored response`)
    const refusal = (await withhold?.(services, call.caller, stored.body)) ?? null
    if (refusal !== null) return refuse(call, refusal)
    call.reply.header('idempotent-replayed', 'true')
    return send(call, stored.body, stored.status)
  }

  /** A POST under its Idempotency-Key, if it has one. */
  function handleOnce(call: RouteCall, services: Services, idempotency: IdempotencyStore) {
    const { caller, record } = call
    return answerOnce(idempotency, { organizationId: caller.organizationId, record }, async () => {
      const outcome = await route.handle(services, call)
      if (outcome.outcome === 'sent') throw new Error(`${route.id} has answered past its Idempotency-Key`)
      return outcome
    })
  }

  /** What is read for long is not shown to whoever may not see it any more. */
  async function handleRead(call: RouteCall, services: Services): Promise<Outcome<unknown> | Sent> {
    const outcome = await route.handle(services, call)
    const refusal = outcome.outcome === 'done' ? await call.standing(standingGoodFor) : null
    return refusal === null ? outcome : refused(refusal)
  }

  async function answerWith(call: RouteCall, { services, idempotency }: Backing<Services>) {
    const refusal = await call.standing(standingGoodFor)
    if (refusal !== null) return refuse(call, refusal)
    if (route.method === 'get') return respond(call, services, await handleRead(call, services))
    if (!once) return respond(call, services, await route.handle(services, call))
    if (idempotency === null) throw new Error(`${route.id} is made once, and nobody here keeps its answer`)
    return respond(call, services, await handleOnce(call, services, idempotency))
  }

  /** The one in whose database the organization is: the first, where nothing says that it is another. */
  async function backingOf({ request, body }: RouteCall): Promise<Backing<Services>> {
    const token = placing === null ? null : (route.ownedBy?.(body) ?? null)
    const place = request.caller?.home ?? (token === null ? null : await placing?.placeOf(token)) ?? 0
    const backing = backings[place]
    if (backing === undefined) throw new Error(`there is no database ${place}`)
    return backing
  }

  /** What a database refuses whose organization has moved meanwhile has changed nothing: the other one is asked. */
  async function answerWhereItIs(call: RouteCall, placing: Placing): Promise<FastifyReply> {
    for (let tried = 1; ; tried++) {
      try {
        return await answerWith(call, await backingOf(call))
      } catch (error) {
        const { request, reply } = call
        const caller =
          request.caller === null || reply.sent ? null : await placing.follow(request.caller, error, tried)
        if (caller === null) throw error
        request.caller = caller
      }
    }
  }

  const [first] = backings
  if (first === undefined) throw new Error(`${route.id} has nothing to answer with`)
  if (once && backings.some(({ idempotency }) => idempotency === null))
    throw new Error(`${route.id} is made once, and nobody here keeps its answer`)
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const call = new RouteCall(route, request, reply, access?.admission ?? null)
    if (reads !== undefined) {
      const body = await reads.read(request.rawBody)
      // A body that is no JSON is nobody's: it is refused before its Idempotency-Key is looked at.
      if (!body.ok && body.error.code === 'malformed_json') return refuse(call, body.error)
      call.body = body
    } else if (route.body !== undefined) {
      const refusal = unstorableText(request.rawBody, request.body)
      if (refusal !== null) return refuse(call, refusal)
    }
    if (once) {
      const record = idempotencyOf(request, status)
      if (!record.ok) return refuse(call, record.error)
      call.record = record.value
      // Its pieces are read, and the record has its hash.
      if (reads !== undefined && request.rawBody !== null) {
        freeBytes(request.rawBody)
        request.rawBody = null
      }
    }
    return placing === null ? answerWith(call, first) : answerWhereItIs(call, placing)
  }
}

/** The status of a route's first answer, and what sends a value as that: whatever headers it declares, it has. */
function firstAnswer({ path, answers, told }: Pick<Route<never>, 'path' | 'answers' | 'told'>) {
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
      if (told !== undefined) body = told.answer(callerOf(request), body)
    }
    if (shownOnce) reply.header('cache-control', 'no-store')
    return reply.header('content-type', contentType).send(body)
  }

  return { status, send }
}

/** Whether it is what is sent, and nothing to be written down first. */
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
  readonly #admission: Admission | null
  /** When the caller was looked at, in milliseconds since the request came. */
  #lookedAt = 0

  constructor(route: Operation, request: FastifyRequest, reply: FastifyReply, admission: Admission | null) {
    this.#route = route
    this.#admission = admission
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

  async standing(goodFor = 0): Promise<Problem | null> {
    const { caller } = this.request
    const asked = this.reply.elapsedTime
    if (this.#admission === null || caller === null || asked - this.#lookedAt < goodFor) return null
    const found = await lookAgain(this.#admission, this.request, this.#route.access)
    if (!found.ok) return found.error
    if (found.value.home !== caller.home) throw new OrganizationAway('moved')
    this.request.caller = found.value
    this.#lookedAt = asked
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
