/** One attempt at one delivery: what is sent, or why nothing is, and what came of it. */
import type { FastifyBaseLogger } from 'fastify'
import { grants } from '../access/scopes.ts'
import type { Clock } from '../kernel/clock.ts'
import { loggable } from '../kernel/loggable.ts'
import { version } from '../kernel/version.ts'
import { type AttemptOutcome, decide } from './decide.ts'
import { envelope } from './envelope.ts'
import type { AttemptResult, Taken, TakenDelivery } from './lanes.ts'
import type { DeliverySchedule } from './schedule.ts'
import type { Sign } from './signer.ts'

/** What sending needs to know, and what it answers. */
export type Send = (request: {
  readonly organizationId: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly ownConnection: boolean
}) => Promise<Extract<AttemptOutcome, { kind: 'answered' | 'failed' }>>

export interface AttemptServices {
  readonly send: Send
  readonly clock: Clock
  readonly schedule: DeliverySchedule
  readonly log: Pick<FastifyBaseLogger, 'warn' | 'error'>
  /** The read scope of a subject's kind. */
  readonly scopeOf: (subjectKind: string) => string | null
}

/** An endpoint as it is to be sent to. */
export interface Destination {
  readonly taken: Taken
  readonly sign: Sign
  /** Why it is disabled, also if that came after it was taken. */
  readonly disabled: string | null
  /** Whether it may well not answer, as it did not the last time. */
  readonly doubtful: boolean
}

/** Never rejects: what cannot be sent at all is a failed attempt, so that it keeps no other from being settled. */
export async function attempt(
  services: AttemptServices,
  destination: Destination,
  delivery: TakenDelivery,
): Promise<AttemptResult> {
  const { clock, schedule } = services
  const startedAt = clock.now()
  const outcome = await outcomeOf(services, destination, delivery).catch((error: Error) =>
    unsendable(services, destination, error, startedAt),
  )
  const endedAt = clock.now()
  const isPing = delivery.event.type === 'ping'
  const verdict = decide({ ...delivery, isPing }, outcome, endedAt, schedule.retryDelays)
  return {
    delivery,
    url: destination.taken.endpoint.url,
    verdict,
    startedAt,
    endedAt,
    responseStatus: outcome.kind === 'answered' ? outcome.status : null,
    responseBody: outcome.kind === 'answered' ? outcome.responseBody : null,
    durationMs: 'durationMs' in outcome ? outcome.durationMs : 0,
    lostHandshake: outcome.kind === 'failed' && outcome.handshake === true,
  }
}

async function outcomeOf(
  { clock, send, scopeOf }: AttemptServices,
  { taken, sign, disabled, doubtful }: Destination,
  { event, data }: TakenDelivery,
): Promise<AttemptOutcome> {
  const { endpoint } = taken
  if (disabled !== null && event.type !== 'ping') {
    return { kind: 'endpoint_disabled', message: `the endpoint was disabled: ${disabled}` }
  }
  if (data === null) return { kind: 'subject_unavailable', message: `the ${event.subjectKind} was removed` }
  const scope = scopeOf(event.subjectKind)
  if (scope !== null && !grants(endpoint.scopes ?? [], scope)) {
    return { kind: 'subject_unavailable', message: `the registrant's key lacks the scope ${scope}` }
  }
  const body = envelope(taken, event, data)
  return send({
    organizationId: taken.organizationId,
    url: endpoint.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': `Deskwire/${version}`,
      'x-service-event-id': event.id,
      'x-service-event-type': event.type,
      'x-service-signature': sign(Math.floor(clock.now() / 1000), body),
    },
    body,
    ownConnection: doubtful,
  })
}

function unsendable(
  { clock, log }: AttemptServices,
  { taken: { organizationId, webhookId } }: Destination,
  error: Error,
  startedAt: number,
): AttemptOutcome {
  log.error(
    { organizationId, webhookId, reason: 'send', err: loggable(error) },
    'a delivery could not be sent',
  )
  return {
    kind: 'failed',
    code: 'connection_failed',
    message: "It could not be sent; the service's log says why",
    durationMs: Math.max(0, clock.now() - startedAt),
  }
}
