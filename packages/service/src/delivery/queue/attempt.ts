/** One attempt at one delivery: what is sent, or why nothing is, and the result. */
import { readJson } from '@deskwire/sdk/json'
import type { FastifyBaseLogger } from 'fastify'
import { grants } from '../../auth/scopes.ts'
import { loggable } from '../../kernel/log.ts'
import type { Clock } from '../../kernel/timestamps.ts'
import { version } from '../../kernel/version.ts'
import type {
  AttemptResult,
  Claim,
  ClaimedDelivery,
  DeliveryObserver,
  DeliverySchedule,
  EndpointKey,
} from '../model.ts'
import { dataFor, type EndpointOptions, isPing } from '../model.ts'
import type { SendRequest } from '../send/send.ts'
import { type AttemptOutcome, decide, type SendOutcome } from '../verdict.ts'
import { originMembers } from './origin.ts'
import type { Sign } from './signer.ts'
import type { TraceAttempt, TracedAttempt } from './trace-attempts.ts'

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
  const { options } = claim.endpoint
  const state = { ...delivery, isControl: isPing(delivery.event.type) }
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
  if (disabled !== null && !isPing(event.type)) {
    return { kind: 'endpoint_disabled', message: `the endpoint was disabled: ${disabled}` }
  }
  const scope = scopeOf(event.subjectKind)
  if (scope !== null && !grants(endpoint.scopes ?? [], scope)) {
    return { kind: 'subject_unavailable', message: `the registrant's key lacks the scope ${scope}` }
  }
  const body = bodyOf(claim, endpoint.options ?? null, event, data)
  if (body === null) return { kind: 'subject_unavailable', message: `the ${event.subjectKind} was removed` }
  return send({
    organizationId: claim.organizationId,
    url: endpoint.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': `Deskwire/${version}`,
      'x-service-event-id': event.id,
      'x-service-event-type': event.type,
      ...sign(event.id, Math.floor(clock.now() / 1000), body),
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

type ReportedEvent = Pick<ClaimedDelivery['event'], 'id' | 'type' | 'createdAt' | 'changed' | 'origin'>

/**
 * The body of a delivery. `data` is the stored representation, byte for byte what a GET returns; null where the object
 * is gone, of which only the format `mcp` has a body.
 */
export function bodyOf(
  key: Pick<EndpointKey, 'organizationId'>,
  options: EndpointOptions | null,
  event: ReportedEvent,
  data: string | null,
): string | null {
  if (options?.format === 'mcp') return occurrence(event, dataFor(options, data ?? '{}'))
  return data === null ? null : envelope(key, event, dataFor(options, data))
}

/** Receivers may refuse larger ones. */
const largestOccurrence = 262_144

/** With the id and kind of the object alone where it would be too large. */
function occurrence({ id, type, createdAt }: ReportedEvent, data: string): string {
  const body = (data: string) =>
    `{"eventId":"${id}","name":"${type}","timestamp":"${createdAt}","data":${data}}`
  const whole = body(data)
  return Buffer.byteLength(whole) <= largestOccurrence ? whole : body(dataFor({ payload: 'thin' }, data))
}

/** `changed`: only for endpoints that ask. */
export function envelope(
  { organizationId }: Pick<EndpointKey, 'organizationId'>,
  event: ReportedEvent,
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
