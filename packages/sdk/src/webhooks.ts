/** Endpoints that events are delivered to, and the log of what became of each delivery. */

import type { Open } from './envelope.ts'
import type { Actor } from './event.ts'
import type {
  AllDeliveryFilters,
  Attempt,
  Delivery,
  DeliveryFilters,
  EventData,
  Recovery,
  RecoveryInput,
  RetriedNow,
  RotationInput,
  StatsPoint,
  StatsRange,
  StatsTotal,
  Webhook,
  WebhookFilters,
  WebhookInput,
  WebhookPatch,
} from './generated.ts'
import type { List, ListParams } from './list.ts'
import type { CallOptions, CreateOptions } from './options.ts'
import { byTime, ChangeableObjects } from './resource.ts'

/** An endpoint with its secret, which is shown by `create` and `rotateSecret` and never again. */
export type WebhookWithSecret = Webhook & { secret: string }

/** Every step, the earliest first: those in which nothing happened too. */
export interface Stats {
  data: StatsPoint[]
  /** Of all steps together. */
  total: StatsTotal
}

/** Which events to read. */
export interface EventQuery {
  types?: (keyof EventData)[]
  /** The id of the object that they are about. */
  subject?: string
  /** Where to start, without a cursor. Default: the oldest event that is kept. */
  createdAfter?: string
  /** Also who caused each event. */
  include?: 'actor'
  cursor?: string
  limit?: number
  /** Seconds to wait for an event when there is none. */
  wait?: number
}

/** An event as a delivery would carry it now; `data` is null when its object is gone. */
export interface ListedEvent {
  id: string
  type: Open<keyof EventData>
  apiVersion: string
  createdAt: string
  organizationId: string
  /** With `include: 'actor'`. */
  actor?: Actor
  onBehalfOf?: Actor
  requestId?: string | null
  data: EventData[keyof EventData] | null
}

/** A page of events. */
export interface EventPage {
  data: ListedEvent[]
  pagination: { limit: number; hasMore: boolean; nextCursor: string }
}

/** A delivery's id begins with its time. */
const byId = { place: ({ id }: { id: string }) => id, isByTime: false }
const byNumber = { place: ({ number }: Attempt) => number, isByTime: false }

/**
 * `create` returns the secret, this once; the key needs the read scope of every subject that `events` names, and deliveries go
 * out only while it has it. `update(id, { status: 'active' })` enables a disabled endpoint and forgets its failures. `delete`
 * removes the log too, and what is pending is not sent.
 */
export class Webhooks extends ChangeableObjects<
  Webhook,
  WebhookInput,
  WebhookPatch,
  WebhookFilters,
  WebhookWithSecret
> {
  /** Makes a new secret, returned this once; the old one signs as well until `previousSecretExpiresAt`, `overlap` seconds from now. */
  async rotateSecret(
    id: string,
    { overlap }: RotationInput = {},
    options?: CreateOptions,
  ): Promise<WebhookWithSecret> {
    return this.act(id, 'rotate-secret', overlap == null ? undefined : { overlap }, options)
  }

  /** After a leak: every replaced secret ends at once. */
  async dropPreviousSecret(id: string, options?: CallOptions): Promise<void> {
    return this.send({ method: 'DELETE', path: this.address(id, 'previous-secret') }, options)
  }

  /** Sends a `ping`, once, also to a disabled endpoint. Read the delivery again to see how it went. */
  async ping(id: string, options?: CreateOptions): Promise<Delivery> {
    return this.act(id, 'ping', undefined, options)
  }

  /** The log of an endpoint: 30 days, newest first. */
  deliveries(id: string, params: ListParams<DeliveryFilters> = {}, options?: CallOptions): List<Delivery> {
    return this.listBelow<Delivery>(this.address(id, 'deliveries'), params, options, byId)
  }

  /** The log of all endpoints, newest first. */
  allDeliveries(params: ListParams<AllDeliveryFilters> = {}, options?: CallOptions): List<Delivery> {
    return this.listBelow<Delivery>('/deliveries', params, options, byId)
  }

  async delivery(id: string, deliveryId: string, options?: CallOptions): Promise<Delivery> {
    return this.#read(options, id, 'deliveries', deliveryId)
  }

  /** Every attempt of a delivery, newest first, with the beginning of what the receiver responded. */
  attempts(
    id: string,
    deliveryId: string,
    params: ListParams<object> = {},
    options?: CallOptions,
  ): List<Attempt> {
    const path = this.address(id, 'deliveries', deliveryId, 'attempts')
    return this.listBelow(path, params, options, byNumber)
  }

  /** What the delivery's next attempt would carry, or a retry of it: an event as a receiver gets it. */
  async payload(id: string, deliveryId: string, options?: CallOptions): Promise<unknown> {
    return this.#read(options, id, 'deliveries', deliveryId, 'payload')
  }

  /** What became of the endpoint's deliveries, step by step; up to 1,500 steps, of a minute unless told. */
  async stats(id: string, range: StatsRange = {}, options?: CallOptions): Promise<Stats> {
    return this.send({ method: 'GET', path: this.address(id, 'stats'), query: range }, options)
  }

  /** The same of all endpoints, with the changes of every kind that the key may read. */
  async allStats(range: StatsRange = {}, options?: CallOptions): Promise<Stats> {
    return this.send({ method: 'GET', path: '/stats', query: range }, options)
  }

  /** Sends a failed delivery again, with the payload it was made with and the whole schedule from the start. */
  async retry(id: string, deliveryId: string, options?: CreateOptions): Promise<Delivery> {
    const path = this.address(id, 'deliveries', deliveryId, 'retry')
    return this.send({ method: 'POST', path }, options)
  }

  /** Events that the key may read, oldest first; go on with `nextCursor`, and with `wait` as soon as something happens. */
  async events(params: EventQuery = {}, options?: CallOptions): Promise<EventPage> {
    const { types, ...query } = params
    const asked = types === undefined ? query : { ...query, types: types.join(',') }
    return this.send({ method: 'GET', path: '/events', query: asked }, options)
  }

  /** Sends the event of a delivery that has succeeded once more, as a new delivery that reads its subject anew. */
  async resend(id: string, deliveryId: string, options?: CreateOptions): Promise<Delivery> {
    const path = this.address(id, 'deliveries', deliveryId, 'resend')
    return this.send({ method: 'POST', path }, options)
  }

  /**
   * Attempts now what waits for a later attempt, for an endpoint that is healthy again: up to 5,000 deliveries a call; `hasMore`
   * says whether others wait.
   */
  async retryNow(id: string, options?: CreateOptions): Promise<RetriedNow> {
    return this.act(id, 'hasten', undefined, options)
  }

  /**
   * Replays what the endpoint has missed, by default until now: failed deliveries are sent again, missing ones made, and
   * what arrived is left alone unless `includeSucceeded` is true. It goes on by itself; `recovery` tells how far it is. Ask again as often as you like.
   */
  async recover(id: string, input: RecoveryInput, options?: CreateOptions): Promise<Recovery> {
    return this.act(id, 'recover', input, options)
  }

  async recovery(id: string, recoveryId: string, options?: CallOptions): Promise<Recovery> {
    return this.#read(options, id, 'recoveries', recoveryId)
  }

  /** The endpoint's recoveries, newest first. */
  recoveries(id: string, params: ListParams<object> = {}, options?: CallOptions): List<Recovery> {
    return this.listBelow<Recovery>(this.address(id, 'recoveries'), params, options, {
      ...byTime,
      isByTime: false,
    })
  }

  #read<R>(options: CallOptions | undefined, ...parts: readonly string[]): Promise<R> {
    return this.send({ method: 'GET', path: this.address(...parts) }, options)
  }
}
