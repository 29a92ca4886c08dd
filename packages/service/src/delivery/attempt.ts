/** One attempt at one delivery: what is sent, or why nothing is, and the result. */
import { readJson } from '@deskwire/sdk/json'
import type { FastifyBaseLogger } from 'fastify'
import { grants } from '../auth/scopes.ts'
import { loggable } from '../kernel/log.ts'
import type { Clock } from '../kernel/timestamps.ts'
import { version } from '../kernel/version.ts'
import type {
  AttemptResult,
  Claim,
  ClaimedDelivery,
  DeliveryObserver,
  DeliverySchedule,
  EndpointKey,
} from './model.ts'
import { dataFor, isControl, reachesDisabled } from './model.ts'
import { originMembers } from './origin.ts'
import type { SendRequest } from './send/send.ts'
import type { Sign } from './signer.ts'
import { cursorAt, messageId, subscriptionBody } from './subscription.ts'
import type { TraceAttempt, TracedAttempt } from './trace-attempts.ts'
import { type AttemptOutcome, decide, type SendOutcome } from './verdict.ts'

type TextRequest = Required<Omit<SendRequest, 'body'>> & { readonly body: string }

export type Send = (request: TextRequest) => Promise<SendOutcome>

export interface AttemptServices {
  readonly send: Send
  readonly clock: Clock
  readonly schedule: DeliverySchedule
  /** A number from 0 to 1 for each attempt, for `decide`. */
  readonly random: () => number
  readonly log: Pick<FastifyBaseLogger, 'warn' | 'error'>
  readonly scopeOf: (subjectKind: string) => string | null
  readonly trace?: TraceAttempt | null
}

interface Destination {
  readonly claim: Claim
  readonly sign: Sign
  /** Why it is disabled, also if that happened after the claim; null while it is active. */
  readonly disabled: string | null
  /** Whether its last attempt had no response. */
  readonly doubtful: boolean
}

/** Never rejects: a delivery that cannot be sent is a failed attempt and does not keep others from being completed. */
export async function attempt(
  services: AttemptServices,
  destination: Destination,
  delivery: ClaimedDelivery,
): Promise<AttemptResult> {
  const traced = services.trace?.(destination.claim, delivery) ?? null
  if (traced === null) return attemptOnce(services, destination, delivery, null)
  const result = await traced.within(() => attemptOnce(services, destination, delivery, traced))
  traced.ended(result)
  return result
}

async function attemptOnce(
  services: AttemptServices,
  destination: Destination,
  delivery: ClaimedDelivery,
  traced: TracedAttempt | null,
): Promise<AttemptResult> {
  const { clock, log } = services
  const startedAt = clock.now()
  const outcome = await sendOrSkip(services, destination, delivery, traced).catch((error: Error) =>
    unsendable(services, destination, error, startedAt),
  )
  if (outcome.kind === 'failed' && outcome.block !== undefined) {
    const { organizationId, webhookId } = destination.claim
    log.warn(
      { organizationId, webhookId, block: outcome.block },
      'the URL of an endpoint resolves to an address that is not public',
    )
  }
  return resultOf(services, destination.claim, delivery, outcome, startedAt)
}

/** The result of a delivery that was sent alone, since `startedAt`, when its worker died. */
export function lostAttempt(
  services: Pick<AttemptServices, 'clock' | 'schedule' | 'random'>,
  claim: Claim,
  delivery: ClaimedDelivery,
  startedAt: number,
): AttemptResult {
  const message = 'the worker ended while it sent this delivery alone; it may have arrived'
  return resultOf(services, claim, delivery, { kind: 'worker_lost', message }, startedAt)
}

function resultOf(
  { clock, schedule, random }: Pick<AttemptServices, 'clock' | 'schedule' | 'random'>,
  claim: Claim,
  delivery: ClaimedDelivery,
  outcome: AttemptOutcome,
  startedAt: number,
): AttemptResult {
  const endedAt = clock.now()
  const { options, subscription } = claim.endpoint
  const state = {
    ...delivery,
    isControl: isControl(delivery.event.type),
    mayRefuse: subscription !== undefined,
  }
  return {
    delivery,
    url: claim.endpoint.url,
    verdict: decide(state, outcome, endedAt, { delays: schedule.retryDelays, random: random() }, options),
    startedAt,
    endedAt,
    responseStatus: outcome.kind === 'answered' ? outcome.status : null,
    responseBody: outcome.kind === 'answered' ? outcome.responseBody : null,
    durationMs: 'durationMs' in outcome ? outcome.durationMs : 0,
    lostHandshake: outcome.kind === 'failed' && outcome.handshake === true,
  }
}

async function sendOrSkip(
  { clock, send, scopeOf }: AttemptServices,
  { claim, sign, disabled, doubtful }: Destination,
  { event, data }: ClaimedDelivery,
  traced: TracedAttempt | null,
): Promise<AttemptOutcome> {
  const { endpoint } = claim
  if (disabled !== null && !reachesDisabled(event.type)) {
    return { kind: 'endpoint_disabled', message: `the endpoint was disabled: ${disabled}` }
  }
  const { subscription } = endpoint
  const scope = scopeOf(event.subjectKind)
  if (scope !== null && !grants(endpoint.scopes ?? [], scope)) {
    return { kind: 'subject_unavailable', message: `the registrant's key lacks the scope ${scope}` }
  }
  if (data === null && subscription === undefined)
    return { kind: 'subject_unavailable', message: `the ${event.subjectKind} was removed` }
  const body =
    subscription === undefined
      ? envelope(claim, event, dataFor(endpoint.options ?? null, data ?? '{}'))
      : subscriptionBody(
          event,
          data ?? '{}',
          cursorAt(claim.organizationId, subscription.watermark, event.id),
        )
  return send({
    organizationId: claim.organizationId,
    url: endpoint.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': `Deskwire/${version}`,
      'x-service-event-id': event.id,
      'x-service-event-type': event.type,
      ...(subscription === undefined ? {} : { 'x-mcp-subscription-id': subscription.id }),
      ...sign(subscription === undefined ? event.id : messageId(event), Math.floor(clock.now() / 1000), body),
      ...traced?.headers,
    },
    body,
    ownConnection: doubtful,
  })
}

function unsendable(
  { clock, log }: AttemptServices,
  { claim: { organizationId, webhookId } }: Destination,
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

/**
 * The body of a delivery. `data` is the stored representation, byte for byte what a GET returns. `changed`: only for
 * endpoints that ask.
 */
export function envelope(
  { organizationId }: Pick<EndpointKey, 'organizationId'>,
  event: Pick<ClaimedDelivery['event'], 'id' | 'type' | 'createdAt' | 'changed' | 'origin'>,
  data: string,
): string {
  const { id, type, createdAt, changed, origin = null } = event
  const changes = changed == null ? '' : `,"changedFields":${JSON.stringify(readJson(changed))}`
  return `{"id":"${id}","type":"${type}","apiVersion":"v1","createdAt":"${createdAt}","organizationId":"${organizationId}",${originMembers(origin)}"data":${data}${changes}}`
}

export function report(observer: DeliveryObserver, result: AttemptResult): void {
  const { verdict, durationMs, startedAt, delivery } = result
  if (!verdict.attempted) return
  observer.attempted({
    outcome: verdict.error?.code ?? 'succeeded',
    durationMs,
    // The process that created the delivery may have a clock that is a little ahead.
    waitedMs: delivery.attemptCount > 0 ? null : Math.max(0, startedAt - delivery.dueAt),
  })
}
