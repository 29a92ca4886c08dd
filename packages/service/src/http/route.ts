/**
 * A route as one value: what it takes, who may ask, what it answers and refuses, and what it does. The server's registration
 * and `openapi.json` are both made from it, so that neither can say what the other does not.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Admission } from '../access/admission.ts'
import type { Caller } from '../access/directory.ts'
import { versionOf } from '../journal/body.ts'
import type { ResponseToStore } from '../journal/change.ts'
import type { Problem } from '../kernel/errors.ts'
import type { Result } from '../kernel/result.ts'
import type { Answer, Operation, ReadParameter } from '../openapi/part.ts'
import { callerOf, requireKey, requireScope } from './authenticate.ts'
import { entityTag } from './entity-tag.ts'
import { answerOnce, type IdempotencyStore, idempotencyOf } from './idempotency.ts'
import { readQuery, type Values } from './list-parameters.ts'
import { sendProblem } from './problem-reply.ts'
import { type Outcome, type Sent, searchParameters, type Unchanged } from './replies.ts'

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
}

/** What a route came to: a value for its first answer, or a refusal; or it has sent another of its answers by itself. */
export type Answered = Outcome<unknown> | Unchanged | Sent

/** A route that works with services of this type. */
export interface Route<Services> extends Operation {
  readonly handle: (services: Services, call: Call) => Answered | Promise<Answered>
  /** Reads the body by itself, piece by piece, up to so many bytes: `call.body` is what it resolves to. */
  readonly reads?: {
    readonly bodyLimit: number
    /** Whether these bytes ask for no more work than the body of one object may: then nobody else has to do it. */
    readonly isLight: (bytes: Buffer) => boolean
    readonly read: (bytes: Buffer | null) => Promise<Result<unknown, Problem>>
  }
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
  readonly handle: (
    services: Services,
    call: Call<NamesIn<Path>, Values<Query>, Body>,
  ) => Answered | Promise<Answered>
}

/** What a module declares its routes with: `const route = routesOf<Services>()`. */
export function routesOf<Services>() {
  return <const Path extends string, const Query extends Operation['query'] = undefined, Body = unknown>(
    declared: Declared<Services, Path, Query, Body>,
  ): Route<Services> => declared as unknown as Route<Services>
}

/** What routes are let in by, and repeated under. */
export interface Access {
  readonly admission: Admission
  readonly idempotency: IdempotencyStore
}

/** Has the server answer these routes. Throws where one needs a key and there is no `access`. */
export function registerRoutes<Services>(
  server: FastifyInstance,
  routes: readonly Route<Services>[],
  services: Services,
  access: Access | null,
): void {
  for (const route of routes) {
    const { method, path, reads } = route
    const letIn = guardOf(route, access)
    server.route({
      method: method.toUpperCase(),
      url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      ...(letIn === null ? {} : { onRequest: letIn }),
      ...(reads === undefined ? {} : { bodyLimit: reads.bodyLimit }),
      config: { route, ...(reads === undefined ? {} : { readsBody: { isLight: reads.isLight } }) },
      handler: handlerOf(route, services, access),
    })
  }
}

function guardOf({ access: needed, path }: Operation, access: Access | null) {
  if (needed === 'public') return null
  if (access === null) throw new Error(`${path} needs a key, and nobody here knows any`)
  return needed === 'any key' ? requireKey(access.admission) : requireScope(access.admission, needed)
}

function handlerOf<Services>(route: Route<Services>, services: Services, access: Access | null) {
  const { told, reads, once, withhold } = route
  const { status, send } = firstAnswer(route)

  function answer(call: RouteCall, answered: Answered): FastifyReply {
    switch (answered.outcome) {
      case 'done':
      case 'unchanged':
        return send(call, answered.value)
      case 'refused':
        return refuse(call, answered.problem)
      case 'sent':
        return call.reply
      case 'replayed':
        throw new Error(`${route.id} carries no idempotency key`)
    }
  }

  function refuse({ request, reply }: RouteCall, refusal: Problem): FastifyReply {
    return sendProblem(reply, told === undefined ? refusal : told.refusal(callerOf(request), refusal))
  }

  /** A POST under its Idempotency-Key, if it has one. */
  async function handleOnce(call: RouteCall, idempotency: IdempotencyStore): Promise<FastifyReply> {
    const { request, reply, caller } = call
    const record = idempotencyOf(request, status)
    if (!record.ok) return refuse(call, record.error)
    call.record = record.value
    // Its pieces are read, and the record has its hash.
    if (reads !== undefined) request.rawBody = null
    const { organizationId } = caller
    const came = await answerOnce(idempotency, { organizationId, record: record.value }, async () => {
      const answered = await route.handle(services, call)
      if (answered.outcome === 'sent') throw new Error(`${route.id} has answered past its Idempotency-Key`)
      return answered
    })
    if (came.outcome !== 'kept') return answer(call, came)
    const { body, status: then } = came.answer
    const refusal = (await withhold?.(services, caller, body)) ?? null
    if (refusal !== null) return refuse(call, refusal)
    reply.header('idempotent-replayed', 'true')
    return send(call, body, then)
  }

  const idempotency = once ? access?.idempotency : null
  if (idempotency === undefined) throw new Error(`${route.id} is made once, and nobody here keeps its answer`)
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const call = new RouteCall(route, request, reply)
    if (reads !== undefined) {
      const body = await reads.read(request.rawBody)
      // A body that is no JSON is nobody's: it is refused before its Idempotency-Key is looked at.
      if (!body.ok && body.error.code === 'malformed_json') return refuse(call, body.error)
      call.body = body
    }
    if (idempotency !== null) return handleOnce(call, idempotency)
    return answer(call, await route.handle(services, call))
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
      if (withLocation) reply.header('location', `${path}/${(JSON.parse(body) as { id: string }).id}`)
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
  record: ResponseToStore | null = null
  readonly #route: Operation

  constructor(route: Operation, request: FastifyRequest, reply: FastifyReply) {
    this.#route = route
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

  query(): Result<unknown, Problem> {
    const { query = {} } = this.#route
    return readQuery(
      searchParameters(this.request),
      query as Readonly<Record<string, ReadParameter<unknown>>>,
    )
  }
}
