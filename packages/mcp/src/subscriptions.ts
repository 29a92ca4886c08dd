/**
 * Events by webhook: `events/subscribe`, which also refreshes, and `events/unsubscribe`. A subscription is an endpoint
 * of the API, of the key that subscribes, with an end and the format of this extension; its metadata say which
 * subscription it is.
 */
import { createHash } from 'node:crypto'
import { DeskwireError } from '@deskwire/sdk'
import { type McpServer, ProtocolError } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Api, Json } from './api.ts'
import { codes, protocolError } from './event-errors.ts'
import type { EventLog, Occurrence } from './event-log.ts'
import { holds } from './tool.ts'

/** Needed besides the scope of the event, as for every endpoint. */
const needed = ['webhooks:read', 'webhooks:write']

export const maySubscribe = (scopes: readonly string[]): boolean =>
  needed.every((scope) => holds(scopes, scope))

/** Milliseconds that a subscription lasts: as long as the client asks, within these. The API takes a minute or more. */
const shortest = 120_000
const longest = 86_400_000

/** What its metadata have. */
interface Known {
  /** Its id. */
  readonly subscription: string
  /** Every event before it has arrived. */
  readonly cursor: string
}

/** Of the API, as far as it matters. */
interface Endpoint {
  readonly id: string
  readonly url: string
  readonly apiKeyId: string
  readonly missedSince: string | null
  readonly metadata?: Partial<Known>
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
type Identity = z.output<typeof identity>
type Asked = z.output<typeof subscribing>

interface Caller {
  readonly scopes: readonly string[]
  /** The id of the API key. */
  readonly key: string
  readonly api: Api
  readonly log: EventLog
  readonly now: () => number
}

/** What a subscription is made or refreshed with. */
interface Parts {
  readonly id: string
  readonly expiresAt: string
  /** The cursor to replay from; null: from now. */
  readonly from: string | null
  /** The cursor of now. */
  readonly end: string
}

interface Reached {
  readonly cursor: string
  /** The client gets only a part of what was after its cursor. */
  readonly truncated: boolean
}

/** `allow`: throws unless the caller may have the event. */
export function serveSubscriptions(
  server: McpServer,
  allow: (name: string) => void,
  { scopes, key, api, log, now }: Caller,
): void {
  server.server.setRequestHandler('events/subscribe', { params: subscribing }, async (params) => {
    check(params.name)
    const { mode } = params.delivery
    if (mode !== 'webhook')
      throw new ProtocolError(codes.unsupported, `There is no delivery by ${mode} here.`, {
        feature: 'deliveryMode',
        value: mode,
      })
    return { ...(await subscribe(params).catch(refused)) }
  })

  server.server.setRequestHandler('events/unsubscribe', { params: identity }, async (params) => {
    check(params.name)
    const id = idOf(key, params)
    const found = (await ofKey().catch(refused)).filter(({ metadata }) => metadata?.subscription === id)
    if (found.length === 0) throw noSubscription
    await remove(found).catch(refused)
    return {}
  })

  function check(name: string): void {
    allow(name)
    if (!maySubscribe(scopes))
      throw new ProtocolError(codes.forbidden, `This needs a key with the scopes ${needed.join(' and ')}.`)
  }

  async function subscribe(asked: Asked): Promise<Json> {
    const { cursor = null, ttlMs } = asked
    const isCut = cursor !== null && (await oldestAfter(cursor, asked)) === 'dropped'
    // Before the endpoint is looked at: whatever it lacks then is after this.
    const end = await log.end(asked.name)
    const id = idOf(key, asked)
    const expiresAt = new Date(now() + Math.min(Math.max(ttlMs ?? longest, shortest), longest)).toISOString()
    const parts = { id, expiresAt, from: isCut ? null : cursor, end }
    const { cursor: reached, truncated } = await reach(asked, parts, 3)
    return { cursor: reached, id, refreshBefore: expiresAt, truncated: isCut || truncated }
  }

  /** Makes the endpoint or refreshes it; again when another call removes it meanwhile. */
  async function reach(asked: Asked, parts: Parts, tries: number): Promise<Reached> {
    try {
      const isThis = ({ metadata }: Endpoint) => metadata?.subscription === parts.id
      const known = await ofKey()
      const made = known.some(isThis) ? null : await begin(asked, known, parts)
      // Of several that calls at once have made the first stays, for all.
      const [first, ...repeated] = (made === null ? known : await ofKey()).filter(isThis)
      if (first === undefined) throw noSubscription
      await remove(repeated)
      if (first.id === made?.endpointId) return made
      return { cursor: await refresh(first, { ...parts, secret: asked.delivery.secret }), truncated: false }
    } catch (error) {
      if (tries > 1 && isGone(error)) return reach(asked, parts, tries - 1)
      throw error
    }
  }

  async function begin(
    asked: Asked,
    known: readonly Endpoint[],
    { id, expiresAt, from, end }: Parts,
  ): Promise<Reached & { readonly endpointId: string }> {
    const { name, arguments: args, delivery } = asked
    const { url, secret } = delivery
    const cursor = from ?? end
    const metadata: Known = { subscription: id, cursor }
    // It has agreed to deliveries of this key before.
    const isVerified = known.some((one) => one.url === url && one.metadata?.subscription !== undefined)
    const subject = args?.subject
    const made = await api.send('POST', '/webhooks', {
      url,
      secret,
      events: [name],
      ...(subject === undefined ? {} : { conditions: [{ field: 'id', op: 'equals', value: subject }] }),
      format: 'mcp',
      signatures: ['service', 'standard'],
      headers: { 'X-MCP-Subscription-Id': id },
      metadata,
      expiresAt,
      verify: !isVerified,
    })
    const endpointId = String(made.id)
    return { endpointId, cursor, truncated: from !== null && (await replay(endpointId, from, asked)) }
  }

  /** Sends the endpoint what was after a cursor before it was there. Returns whether the client wants only a part. */
  async function replay(endpointId: string, cursor: string, asked: Asked): Promise<boolean> {
    const oldest = await oldestAfter(cursor, asked)
    if (oldest === 'dropped') return true
    if (oldest === null) return false
    const began = Date.parse(oldest.createdAt)
    const floor = asked.maxAgeMs == null ? 0 : now() - asked.maxAgeMs
    await recover(endpointId, new Date(Math.max(began, floor)).toISOString())
    return began < floor
  }

  /** Returns the cursor after all that has arrived. */
  async function refresh(
    live: Endpoint,
    { secret, expiresAt, end }: Parts & { readonly secret: string },
  ): Promise<string> {
    const path = `/webhooks/${live.id}`
    const cursor = (await isBehind(live)) ? (live.metadata?.cursor ?? end) : end
    const change = { status: 'active', expiresAt, metadata: { cursor } }
    const { missedSince } = (await api.send('PATCH', path, change)) as unknown as Endpoint
    await api.send('POST', `${path}/rotate-secret`, { secret })
    if (missedSince !== null) await recover(live.id, missedSince)
    return cursor
  }

  /** Whether something is still to be sent to it. */
  async function isBehind({ id, missedSince }: Endpoint): Promise<boolean> {
    if (missedSince !== null) return true
    const path = `/webhooks/${id}`
    const pending = await api.get(`${path}/deliveries`, { status: 'pending', limit: 1 })
    const { data } = await api.get(`${path}/recoveries`, { limit: 1 })
    const [latest] = data as readonly { readonly status: string }[]
    return (pending.data as readonly unknown[]).length > 0 || latest?.status === 'running'
  }

  async function recover(endpointId: string, since: string): Promise<void> {
    await api.send('POST', `/webhooks/${endpointId}/recover`, { since, includeBeforeCreation: true })
  }

  async function oldestAfter(
    cursor: string,
    { name: types, arguments: args }: Identity,
  ): Promise<Occurrence | 'dropped' | null> {
    for (let from = cursor; ; ) {
      const page = await log.after(from, { types, subject: args?.subject, limit: 1 })
      if (page === null) return 'dropped'
      const [oldest = null] = page.data
      if (oldest !== null || !page.pagination.hasMore) return oldest
      from = page.pagination.nextCursor
    }
  }

  /** Those that the caller's key has registered, oldest first. */
  async function ofKey(): Promise<readonly Endpoint[]> {
    const { data } = await api.get('/webhooks', { limit: 100 })
    return (data as readonly Endpoint[]).filter(({ apiKeyId }) => apiKeyId === key).reverse()
  }

  /** Also when another call is removing them. */
  async function remove(endpoints: readonly Endpoint[]): Promise<void> {
    for (const { id } of endpoints) {
      await api.send('DELETE', `/webhooks/${id}`).catch((error) => {
        if (!isGone(error)) throw error
      })
    }
  }
}

function isGone(error: unknown): boolean {
  return error === noSubscription || (error instanceof DeskwireError && error.code === 'not_found')
}

/** The same for the same key, address, event and arguments, in every process. */
function idOf(key: string, { name, arguments: args, delivery }: Identity): string {
  const of = JSON.stringify([key, delivery.url, name, args ?? {}])
  return `sub_${createHash('sha256').update(of).digest('hex').slice(0, 32)}`
}

const noSubscription = new ProtocolError(
  codes.notFound,
  'This key has no subscription to this event with these arguments and this URL.',
  { kind: 'subscription' },
)

function refused(error: unknown): never {
  if (!(error instanceof DeskwireError)) throw error
  const { code, detail, problem } = error
  switch (code) {
    case 'limit_reached':
      throw new ProtocolError(codes.exhausted, detail, { limit: 'subscriptions' })
    case 'receiver_not_verified':
      throw new ProtocolError(codes.callback, detail, { reason: problem.reason })
    case 'url_not_public':
    case 'url_not_resolvable':
      throw new ProtocolError(codes.callback, detail, { reason: 'connection_refused' })
    default:
      throw protocolError(error)
  }
}
