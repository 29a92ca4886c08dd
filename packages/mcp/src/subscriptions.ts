/** Events by webhook: `events/subscribe`, which also refreshes, and `events/unsubscribe`. */
import { type McpServer, ProtocolError } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Json } from './api.ts'
import { codes, protocolError, type Refusal } from './event-errors.ts'
import { holds } from './tool.ts'

/** Needed besides the scope of the event, as for every endpoint. */
const scope = 'webhooks:write'

export const maySubscribe = (scopes: readonly string[]): boolean => holds(scopes, scope)

interface Identity {
  readonly name: string
  readonly url: string
  readonly subject: string | null
}

/** What a caller asks for; the times are milliseconds. */
export interface Asked extends Identity {
  readonly secret: string
  readonly ttl: number | null
  readonly maxAge: number | null
  readonly cursor: string | null
}

/** Those of one caller. */
export interface Subscriptions {
  /**
   * Makes or refreshes one. Returns what the client is told of it, or why the API refuses it, or why its receiver did
   * not agree, in a word of the extension.
   */
  subscribe(
    asked: Asked,
  ): Promise<{ readonly made: Json } | { readonly refused: Refusal } | { readonly callback: string }>
  /** Null, or why there is none to end. */
  unsubscribe(subscription: Identity): Promise<Refusal | null>
  /** Of an organization at most. */
  readonly limit: number
}

const identity = z.looseObject({
  name: z.string(),
  arguments: z.strictObject({ subject: z.uuid().toLowerCase().optional() }).nullish(),
  delivery: z.looseObject({ url: z.string() }),
})
const subscribing = identity.extend({
  delivery: z.looseObject({ mode: z.string().default('webhook'), url: z.string(), secret: z.string() }),
  cursor: z.string().nullish(),
  maxAgeMs: z.int().nonnegative().nullish(),
  ttlMs: z.int().positive().nullish(),
})

/** `allow`: throws unless the caller may have the event. */
export function serveSubscriptions(
  server: McpServer,
  allow: (name: string) => void,
  { scopes, subscriptions }: { readonly scopes: readonly string[]; readonly subscriptions: Subscriptions },
): void {
  server.server.setRequestHandler('events/subscribe', { params: subscribing }, async (params) => {
    const { name, delivery, arguments: args, ttlMs = null, maxAgeMs: maxAge = null, cursor = null } = params
    check(name)
    const { mode, url, secret } = delivery
    if (mode !== 'webhook')
      throw new ProtocolError(codes.unsupported, `There is no delivery by ${mode} here.`, {
        feature: 'deliveryMode',
        value: mode,
      })
    const asked = { name, url, secret, subject: args?.subject ?? null, ttl: ttlMs, maxAge, cursor }
    const outcome = await subscriptions.subscribe(asked)
    if ('made' in outcome) return { ...outcome.made }
    if ('refused' in outcome) throw refusalOf(outcome.refused)
    throw new ProtocolError(codes.callback, 'The URL did not agree to deliveries.', {
      reason: outcome.callback,
    })
  })

  server.server.setRequestHandler('events/unsubscribe', { params: identity }, async (params) => {
    const { name, arguments: args, delivery } = params
    check(name)
    const of = { name, url: delivery.url, subject: args?.subject ?? null }
    const refused = await subscriptions.unsubscribe(of)
    if (refused !== null) throw new ProtocolError(codes.notFound, refused.detail, { kind: 'subscription' })
    return {}
  })

  function check(name: string): void {
    allow(name)
    if (!maySubscribe(scopes))
      throw new ProtocolError(codes.forbidden, `This needs a key with the scope ${scope}.`)
  }

  function refusalOf(refused: Refusal): ProtocolError {
    if (refused.code !== 'limit_reached') return protocolError(refused)
    const data = { limit: 'subscriptions', max: subscriptions.limit }
    return new ProtocolError(codes.exhausted, refused.detail, data)
  }
}
