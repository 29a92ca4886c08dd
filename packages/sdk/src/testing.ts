/**
 * Deliveries for the tests of a receiver, signed as the service signs them. To test what a receiver refuses, sign
 * with another secret, with an old `timestamp`, or change `body` afterwards.
 */
import type { Open } from './envelope.ts'
import type { Envelope, EventType } from './event.ts'
import { type Secrets, type StandardHeaders, signStandardWebhook, signWebhook } from './signing.ts'

/** What an event is to say; everything but the type has a plausible default. */
export type TestEvent = Partial<Envelope<Open<EventType>, object>> & { type: Open<EventType> }

/** A delivery, shaped so that `fetch(url, delivery)` and `new Request(url, delivery)` send it. */
export interface TestDelivery {
  method: 'POST'
  /** Names in lower case, as Node hands them to a handler. */
  headers: {
    'content-type': 'application/json'
    'x-service-event-id': string
    'x-service-event-type': string
    'x-service-signature': string
  } & Partial<StandardHeaders>
  body: string
}

export interface TestDeliveryOptions {
  /** When it was signed, in unix seconds; now unless told. */
  timestamp?: number
  /**
   * As of the endpoint that is played: with `standard`, the headers of Standard Webhooks come too. `['service']`
   * unless told.
   */
  signatures?: readonly ('service' | 'standard')[]
}

/**
 * Makes and signs a delivery (specification 10.2). Several secrets make several signatures, as during a rotation.
 * Throws TypeError for an empty secret, and for Standard Webhooks for one that is not in base64.
 */
export const testDelivery = async (
  event: TestEvent,
  secrets: Secrets,
  { timestamp = Math.floor(Date.now() / 1000), signatures = ['service'] }: TestDeliveryOptions = {},
): Promise<TestDelivery> => {
  const { id = crypto.randomUUID(), organizationId = crypto.randomUUID() } = event
  const { type, apiVersion = 'v1', createdAt = new Date().toISOString(), data = {} } = event
  const body = JSON.stringify({ id, type, apiVersion, createdAt, organizationId, data })
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-event-id': id,
      'x-service-event-type': type,
      'x-service-signature': await signWebhook(body, secrets, { timestamp }),
      ...(signatures.includes('standard') ? await signStandardWebhook(id, body, secrets, { timestamp }) : {}),
    },
    body,
  }
}
