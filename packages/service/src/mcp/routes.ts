/**
 * `/mcp` (specification 15): a request passes the pipeline as any other, with its key, limits and permit. The protocol
 * and `@deskwire/mcp` are loaded by the first request, so an installation without clients pays nothing.
 */
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { Mcp } from '@deskwire/mcp'
import { endpointEvents, endpointScope } from '../delivery/endpoint/event-types.ts'
import { countJson, parseJson } from '../http/read-body.ts'
import { sent } from '../http/replies.ts'
import { first } from '../http/static-content.ts'
import { done, fail, ok, type Result } from '../kernel/outcome.ts'
import type { Clock } from '../kernel/timestamps.ts'
import { version } from '../kernel/version.ts'
import type { Kind } from '../kinds/model/kind.ts'
import { type Json, type Route, routesOf } from '../openapi/api-module.ts'
import { asFetched, inProcess } from './in-process.ts'

interface McpServices {
  /** Loads it once. */
  readonly mcp: () => Promise<Mcp>
  /** Origins of pages that may call. */
  readonly origins: ReadonlySet<string>
  readonly publicUrl: string | null
}

export function createMcpServices(options: {
  readonly kinds: readonly Kind[]
  readonly clock: Clock
  readonly origins: readonly string[]
  readonly publicUrl: string | null
  /** `openapi.json`. */
  readonly document: () => Promise<Json>
}): McpServices & { readonly close: () => Promise<void> } {
  const { kinds, clock, origins, publicUrl } = options
  let loaded: Mcp | null = null
  const mcp = first(async () => {
    const [{ createMcp }, document] = await Promise.all([import('@deskwire/mcp'), options.document()])
    const { schemas } = document.components as { schemas: Record<string, Json> }
    const otherSubjects = [{ events: endpointEvents, scope: endpointScope, schema: 'Webhook' }]
    loaded = createMcp({ schemas, kinds, otherSubjects, version, now: () => clock.now() })
    return loaded
  })
  return {
    mcp,
    close: async () => loaded?.close(),
    origins: new Set(origins),
    publicUrl,
  }
}

/** Values of a message, as of an object: each that is wrong costs an error. */
const mostValues = 1_000

/** Reads a message; refuses what would cost more than its size, and what the API does not keep exactly. */
function readMessage(bytes: Buffer): Result<unknown, Json> {
  if (/^\s*\[/.test(bytes.toString('latin1', 0, 64)))
    return fail(
      errorMessage(-32_600, 'A list of messages is not supported: send one message in each request.'),
    )
  if (countJson(bytes).values > mostValues)
    return fail(errorMessage(-32_600, `The message has more than ${mostValues} values. Send fewer.`))
  const parsed = parseJson(bytes)
  if (parsed.ok) return parsed
  const { code, detail } = parsed.error
  return fail(errorMessage(code === 'malformed_json' ? -32_700 : -32_602, detail))
}

const message = { description: 'A message of the protocol, or a stream of them.' }

const post = routesOf<McpServices>()({
  method: 'post',
  path: '/mcp',
  id: 'mcp',
  tag: 'service',
  summary: 'The Model Context Protocol',
  access: 'any key',
  // Its own errors are messages too.
  answers: Object.fromEntries(
    [200, 202, 400, 403, 404, 406, 413, 415, 500].map((status) => [status, message]),
  ),
  reads: {
    bodyLimit: 2 ** 20,
    isLight: () => true,
    read: async (bytes) => ok(bytes === null || bytes.length === 0 ? ok(undefined) : readMessage(bytes)),
  },
  async handle({ mcp, origins, publicUrl }, { request, reply, body, caller }) {
    const { origin } = request.headers
    // The protocol demands it; a page of another site has no key to send anyway.
    if (origin !== undefined && !isOwn(origin, request.origin, publicUrl) && !origins.has(origin)) {
      reply.code(403).send(errorMessage(-32_000, 'Origin not allowed'))
      return sent
    }
    const { value: parsed } = body
    if (!parsed.ok) {
      reply.code(400).send(parsed.error)
      return sent
    }
    // The calls that the tools make are admitted one by one: a permit held meanwhile could be the one they wait for.
    request.admitted?.releaseWhileWaiting()
    const session = {
      key: caller.apiKeyId,
      // An access token of another authority ends by itself.
      caller: request.renewCaller === null ? `${caller.apiKeyId} ${caller.sessionId ?? ''}` : request.id,
      scopes: caller.scopes,
      fetch: inProcess(request),
      baseUrl: request.origin,
    }
    const response = await (await mcp()).answer(asFetched(request), parsed.value, session)
    // A client that has gone is sent nothing.
    request.disconnected.throwIfAborted()
    reply.code(response.status)
    for (const [name, value] of response.headers) reply.header(name, value)
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    if (isStream) reply.send(Readable.fromWeb(response.body as ReadableStream))
    else reply.send(await response.text())
    return sent
  },
})

/** Of JSON-RPC, for a request that is not looked at further. */
function errorMessage(code: number, message: string): Json {
  return { jsonrpc: '2.0', id: null, error: { code, message } }
}

/** Without a public URL, any name whose address was changed to the service's (DNS rebinding) would be its own. */
function isOwn(origin: string, own: string, publicUrl: string | null): boolean {
  if (origin !== own || publicUrl !== null) return origin === own
  const { hostname } = new URL(own)
  return hostname === 'localhost' || hostname.startsWith('[') || isIP(hostname) !== 0
}

export const mcpRoutes: readonly Route<McpServices>[] = [post]

/** Where clients learn whose tokens `/mcp` accepts (RFC 9728). */
interface ResourceServices {
  readonly resource: string
  readonly issuer: string
}

const metadata = (path: string) =>
  routesOf<ResourceServices>()({
    method: 'get',
    path,
    id: 'protectedResource',
    tag: 'service',
    summary: 'The issuer of access tokens for /mcp',
    access: 'public',
    answers: { 200: { description: 'The metadata.', schema: { type: 'object' } } },
    handle: ({ resource, issuer }) =>
      done({
        resource,
        authorization_servers: [issuer],
        bearer_methods_supported: ['header'],
        resource_name: 'Deskwire',
      }),
  })

export const resourceRoutes: readonly Route<ResourceServices>[] = [
  metadata('/.well-known/oauth-protected-resource'),
  metadata('/.well-known/oauth-protected-resource/mcp'),
]
