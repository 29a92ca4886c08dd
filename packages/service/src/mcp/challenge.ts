/** Asks the receiver of a subscription whether it wants deliveries. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { readJson } from '@deskwire/sdk/json'
import { createRateLimiter } from '../admission/rate-limit.ts'
import type { Caller } from '../auth/authenticator.ts'
import type { Sender } from '../delivery/send/send.ts'
import { createSigner } from '../delivery/signer.ts'
import type { SendOutcome } from '../delivery/verdict.ts'
import { type Problem, problem } from '../kernel/errors.ts'
import type { Clock } from '../kernel/timestamps.ts'
import { version } from '../kernel/version.ts'
import type { Challenge } from '../webhooks/subscriptions.ts'

/** Why the receiver did not agree to deliveries: one of the categories that the extension has. */
export interface Refused {
  readonly callback: string
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
