/** Addresses and methods that no route has. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import findMyWay from 'find-my-way'
import { problem } from '../kernel/errors.ts'
import { sendProblem } from './problem-reply.ts'
import { pathOf } from './replies.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The methods of an address, for `Allow`; null: unknown, or before `refuseOtherMethods`. */
    allowedAt: (url: string) => string | null
  }
}

export const maxParamLength = 200

/** Refuses an address that no route has, or a method that no route of it has. */
export function refuseUnknown(request: FastifyRequest, reply: FastifyReply): void {
  const { server } = request
  const allow = server.allowedAt(request.url)
  if (allow !== null) return void refuseMethod(request, allow, reply)
  const path = pathOf(request)
  const suggestion = suggestionFor(path, (other) => server.allowedAt(other) !== null)
  sendProblem(reply, problem('not_found', `There is no ${path}. ${suggestion}`))
}

/**
 * Whether a path is written as its route is, apart from parameters. The router also decodes the fixed parts, so a proxy
 * that closes `/metrics` could be passed with `/%6detrics`.
 */
export function isLiteral(request: FastifyRequest): boolean {
  const path = pathOf(request)
  if (!/[%#]/.test(path)) return true
  const sent = path.replace(/^https?:\/\/[^/]*/i, '').split('/')
  const declared = (request.routeOptions.url ?? '').split('/')
  return declared.every((part, n) => part.startsWith(':') || part === '*' || part === sent[n])
}

/** Refuses a path that is not literal. */
export function refuseEscaped(request: FastifyRequest, reply: FastifyReply): void {
  const template = request.routeOptions.url?.replaceAll(/:(\w+)/g, '{$1}')
  const detail = `There is no ${pathOf(request)}: write the fixed parts of ${template} without escapes.`
  sendProblem(reply, problem('not_found', detail))
}

/**
 * Refuses every other method of these paths with 405 and Allow. Call it once, after all routes.
 * Methods in use get routes of their own, so that `/tickets/batch` is never taken for a ticket. For the other thirty
 * the address is looked up: routes for them took 0.1 s of each start.
 */
export function refuseOtherMethods(
  server: FastifyInstance,
  allowed: ReadonlyMap<string, ReadonlySet<string>>,
): void {
  const inUse = [...new Set([...allowed.values()].flatMap((methods) => [...methods]))]
  const addresses = findMyWay({ maxParamLength })
  for (const [url, known] of allowed) {
    const allow = [...known].sort().join(', ')
    addresses.on('GET', url, () => {}, allow)
    const others = inUse.filter((method) => !known.has(method))
    if (others.length === 0) continue
    server.route({
      method: others,
      url,
      onRequest: (request, reply) => refuseMethod(request, allow, reply),
      handler: (request, reply) => refuseMethod(request, allow, reply),
    })
  }
  server.allowedAt = (url) => addresses.find('GET', url)?.store ?? null
}

async function refuseMethod(request: FastifyRequest, allow: string, reply: FastifyReply) {
  reply.header('allow', allow)
  const refused = `${request.method} is not allowed here; allowed: ${allow}.`
  return sendProblem(reply, problem('method_not_allowed', refused + withoutSlash(request)))
}

/** A sentence for the end of an error. `exists` says whether a path is known. */
function suggestionFor(path: string, exists: (path: string) => boolean): string {
  const found = path.includes('//')
    ? undefined
    : [...alternatives(path)].find((one) => one !== path && exists(one))
  if (found !== undefined) return `Did you mean ${found}?`
  if (path.includes('//')) return 'A part between two slashes is empty: fill it in, or leave one slash out.'
  return 'See /openapi.json for what there is.'
}

/** The usual mistakes: a slash at the end or escaped, no version or another one, something before it, capitals. */
function* alternatives(path: string): Generator<string> {
  const trimmed = path.replace(/\/$/, '').replaceAll(/%2f/gi, '/')
  for (const one of new Set([trimmed, trimmed.toLowerCase()])) {
    yield one
    yield `/v1${one}`
    yield one.replace(/^.*(?=\/v1\/)/, '')
    yield one.replace(/^\/[^/]+(?=\/)/, '/v1')
    yield one.replace(/^\/v1(?=\/)/, '')
  }
}

/** With a slash at its end, a list's path is that of an object without an id. Empty where there is no such list. */
export function withoutSlash(request: FastifyRequest): string {
  const path = pathOf(request)
  const list = path.endsWith('/') ? path.slice(0, -1) : ''
  const allow = request.server.allowedAt(list)
  return allow === null ? '' : ` Without the slash at the end, ${list} allows ${allow}.`
}
