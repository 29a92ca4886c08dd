/** Asks a receiver, before its endpoint exists, whether it wants deliveries (specification 9.1). */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { readJson } from '@deskwire/sdk/json'
import { createRateLimiter } from '../../admission/rate-limit.ts'
import { type Problem, problem } from '../../kernel/errors.ts'
import { version } from '../../kernel/version.ts'
import { createSigner } from '../queue/signer.ts'
import { createSender, type SenderOptions } from '../send/send.ts'
import type { SendOutcome } from '../verdict.ts'

/** Challenges sent to one host, by all callers together; and challenges under way at once, to all hosts. */
const toOneHost = { perSecond: 1, burst: 20 }
const askedAtOnce = 32

interface Receiver {
  readonly organizationId: string
  readonly webhookId: string
  readonly url: string
  readonly secret: string
  /** Of the endpoint's own. */
  readonly headers: Readonly<Record<string, string>>
}

/** Null: the receiver has agreed. Rejects with the signal's reason once that aborts. */
export type VerifyReceiver = (receiver: Receiver, signal: AbortSignal) => Promise<Problem | null>

/** Asks over connections and with address checks as of deliveries, which close with each answer. */
export function createVerifyReceiver(options: Omit<SenderOptions, 'maxSockets'>): VerifyReceiver {
  const { clock } = options
  let underWay = 0
  const asked = createRateLimiter(toOneHost, clock)
  const signer = createSigner(
    (secret) => secret.toString(),
    () => [],
  )
  return async ({ organizationId, webhookId, url, secret, headers }, signal) => {
    if (underWay === askedAtOnce || !asked.count(new URL(url).host).allowed) return askedTooOften
    const challenge = randomBytes(24).toString('base64url')
    const body = JSON.stringify({ type: 'verification', challenge })
    const signing = { sealedSecrets: [Buffer.from(secret)], standardSignatures: true }
    const sign = signer(signing, { organizationId, webhookId })
    const id = `msg_verification_${randomBytes(12).toString('hex')}`
    signal.throwIfAborted()
    const sender = createSender({ ...options, maxSockets: 1 })
    const leave = () => sender.close()
    signal.addEventListener('abort', leave, { once: true })
    underWay++
    try {
      const answered = await sender.send({
        organizationId,
        url,
        headers: {
          'content-type': 'application/json',
          'user-agent': `Deskwire/${version}`,
          ...headers,
          ...sign(id, Math.floor(clock.now() / 1_000), body),
        },
        body,
        ownConnection: true,
      })
      signal.throwIfAborted()
      const reason = reasonOf(answered, challenge)
      return reason === null ? null : notVerified(reason)
    } finally {
      underWay--
      signal.removeEventListener('abort', leave)
      sender.close()
    }
  }
}

const askedTooOften = problem(
  'rate_limited',
  'Too many URLs of this host are being verified. Send it again later.',
)

function notVerified(reason: string): Problem {
  const detail = `The receiver did not answer the challenge (${reason}). It must answer 2xx with {"challenge": …}, as it was sent.`
  return problem('receiver_not_verified', detail, { reason })
}

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
