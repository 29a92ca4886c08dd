/** The body of a delivery: the same envelope around every event (specification 5.3). */

import type { Open } from './envelope.ts'
import type { EventData } from './generated.ts'
import { readJson } from './json.ts'

/**
 * Who caused an event: the service itself is the `system`, with null. The name is null once the key or teammate is
 * gone, and without the scope `teammates:read`.
 */
export interface Actor {
  type: Open<'api_key' | 'session' | 'teammate' | 'system'>
  id: string | null
  name: string | null
}

/** What every delivery carries. `data` is what the matching GET answers, or a removal record. */
export interface Envelope<Type extends string, Data> {
  /** The same on every attempt, and in `X-Service-Event-Id`: deduplicate by it. */
  id: string
  /** The same as in `X-Service-Event-Type`. */
  type: Type
  apiVersion: Open<'v1'>
  /** When the event was created: ISO 8601 UTC with three decimals. */
  createdAt: string
  organizationId: string
  /** Who caused it, if the endpoint asks for it with `includeActor`. */
  actor?: Actor
  /** The teammate for whom the request says it was made (`X-Acting-Teammate`); absent without one. */
  onBehalfOf?: Actor
  /** Likewise: the `X-Request-Id` of the request; null for the service itself. */
  requestId?: string | null
  data: Data
  /** The fields that changed, if the endpoint asks for them; absent in creations and removals. */
  changedFields?: string[]
}

/**
 * An event as it arrives; `switch (event.type)` gives `data` its type. These are the types known today, and a
 * newer service may send others: give the switch a `default` that answers 2xx.
 */
export type WebhookEvent =
  | { [Type in keyof EventData]: Envelope<Type, EventData[Type]> }[keyof EventData]
  | Envelope<'ping', Record<string, never>>

export type EventType = WebhookEvent['type']

const texts = ['id', 'type', 'apiVersion', 'createdAt', 'organizationId'] as const

/** Reads an envelope from the bytes of a body; undefined when they hold none. `data` is taken as it is. */
export const parseEvent = (body: Uint8Array): WebhookEvent | undefined => {
  try {
    const value: unknown = readJson(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return isEnvelope(value) ? (value as WebhookEvent) : undefined
  } catch {
    return undefined
  }
}

const isEnvelope = (value: unknown): value is Envelope<string, object> =>
  isObject(value) && texts.every((name) => typeof value[name] === 'string') && isObject(value.data)

const isObject = (value: unknown): value is Record<string, unknown> =>
  value instanceof Object && !Array.isArray(value)
