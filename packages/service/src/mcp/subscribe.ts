/** Events by webhook: `events/subscribe`, which also refreshes, and `events/unsubscribe`. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { readJson } from '@deskwire/sdk/json'
import { type McpServer, ProtocolError } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { createRateLimiter } from '../admission/rate-limit.ts'
import type { Caller } from '../auth/authenticator.ts'
import { grants } from '../auth/scopes.ts'
import type { Sender } from '../delivery/send/send.ts'
import { createSigner } from '../delivery/signer.ts'
import type { SendOutcome } from '../delivery/verdict.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import type { Clock } from '../kernel/timestamps.ts'
import { version } from '../kernel/version.ts'
import { type Challenge, type Subscriptions, subscriptionLimit } from '../webhooks/subscriptions.ts'
import { codes, protocolError } from './event-errors.ts'

/** Needed besides the scope of the event, as for every endpoint. */
const scope = 'webhooks:write'

export const maySubscribe = (scopes: readonly string[]): boolean => grants(scopes, scope)

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

/** Why the receiver did not agree to deliveries: one of the categories that the extension has. */
interface Refused {
  readonly callback: string
}

/** `allow`: throws unless the caller may have the event. */
export function serveSubscriptions(
  server: McpServer,
  allow: (name: string) => void,
  options: {
    readonly caller: Caller
    readonly subscriptions: Subscriptions
    readonly challenge: (caller: Caller) => Challenge<Refused | Problem>
  },
): void {
  const { caller, subscriptions, challenge } = options

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
    const came = await subscriptions.subscribe(caller, asked, challenge(caller))
    if (came.outcome === 'done') return { ...came.value }
    throw came.outcome === 'refused'
      ? refusal(came.error)
      : new Error(`a subscription came to ${came.outcome}`)
  })

  server.server.setRequestHandler('events/unsubscribe', { params: identity }, async (params) => {
    const { name, arguments: args, delivery } = params
    check(name)
    const came = await subscriptions.unsubscribe(caller, {
      name,
      url: delivery.url,
      subject: args?.subject ?? null,
    })
    if (came.outcome === 'refused')
      throw new ProtocolError(codes.notFound, came.error.detail, { kind: 'subscription' })
    return {}
  })

  function check(name: string): void {
    allow(name)
    if (!maySubscribe(caller.scopes))
      throw new ProtocolError(codes.forbidden, `This needs a key with the scope ${scope}.`)
  }
}

function refusal(error: Problem | Refused): ProtocolError {
  if ('callback' in error)
    return new ProtocolError(codes.callback, 'The URL did not agree to deliveries.', {
      reason: error.callback,
    })
  if (error.code !== 'limit_reached') return protocolError(error)
  return new ProtocolError(codes.exhausted, error.detail, { limit: 'subscriptions', max: subscriptionLimit })
}

/** Challenges sent to one host, by all callers together; and challenges under way at once, to all hosts. */
const toOneHost = { perSecond: 1, burst: 20 }
export const askedAtOnce = 32

/** Asks receivers, over the connections and with the address checks of deliveries. */
export function createChallenge(
  sender: Sender,
  clock: Clock,
): (caller: Caller) => Challenge<Refused | Problem> {
  let underWay = 0
  const asked = createRateLimiter(toOneHost, clock)
  const signer = createSigner(
    (secret) => secret.toString(),
    () => [],
  )
  return ({ organizationId }) =>
    async (subscriptionId, { url, secret }) => {
      const { host } = new URL(url)
      if (underWay === askedAtOnce || !asked.count(host).allowed) return askedTooOften
      const challenge = randomBytes(24).toString('base64url')
      const body = JSON.stringify({ type: 'verification', challenge })
      const signing = { sealedSecrets: [Buffer.from(secret)], standardSignatures: true }
      // A subscription has no endpoint yet; no secret is kept under this name.
      const sign = signer(signing, { organizationId, webhookId: subscriptionId })
      const id = `msg_verification_${randomBytes(12).toString('hex')}`
      underWay++
      const sent = sender.send({
        organizationId,
        url,
        headers: {
          'content-type': 'application/json',
          'user-agent': `Deskwire/${version}`,
          'x-mcp-subscription-id': subscriptionId,
          ...sign(id, Math.floor(clock.now() / 1_000), body),
        },
        body,
        ownConnection: true,
      })
      const reason = reasonOf(await sent.finally(() => underWay--), challenge)
      return reason === null ? null : { callback: reason }
    }
}

const askedTooOften = problem(
  'rate_limited',
  'Too many URLs of this host are being verified. Send it again later.',
)

/** Never the receiver's own words, which could tell of a network that the caller cannot reach. */
function reasonOf(answered: SendOutcome, challenge: string): string | null {
  if (answered.kind === 'failed')
    return answered.code === 'timeout' || answered.code === 'tls_error' ? answered.code : 'connection_refused'
  const { status, responseBody } = answered
  if (status >= 400) return status < 500 ? 'http_4xx' : 'http_5xx'
  return status >= 200 && status < 300 && echoes(responseBody, challenge) ? null : 'challenge_failed'
}

function echoes(body: string, challenge: string): boolean {
  let echoed: unknown
  try {
    echoed = (readJson(body) as { challenge?: unknown } | null)?.challenge
  } catch {
    return false
  }
  const [given, expected] = [Buffer.from(String(echoed)), Buffer.from(challenge)]
  return given.length === expected.length && timingSafeEqual(given, expected)
}
