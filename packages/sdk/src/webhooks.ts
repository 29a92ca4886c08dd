/** Endpoints that events are delivered to, and the log of what became of each delivery. */
import type { ListPage } from './envelope.ts'
import type {
  AllDeliveryFilters,
  Attempt,
  Delivery,
  DeliveryFilters,
  Hastening,
  Recovery,
  RecoveryInput,
  RotationInput,
  StatsPoint,
  StatsRange,
  Webhook,
  WebhookFilters,
  WebhookInput,
  WebhookPatch,
} from './generated.ts'
import { addressOf, type CallOptions, type CreateOptions, given, type ListParams } from './resource.ts'
import type { Call, Send } from './transport.ts'

/** An endpoint with its secret, which is shown by creation and rotation and never again. */
export type WebhookWithSecret = Webhook & { secret: string }

/** A list of deliveries counts its total up to 10,000; beyond, `totalIsExact` is false and there are at least that many. */
export type DeliveryPage = ListPage<Delivery> & { pagination: { totalIsExact?: false } }

/** Every step, the earliest first: those in which nothing happened too. */
export interface Stats {
  data: StatsPoint[]
}

/** Every call throws DeskwireError when it fails, and repeats itself where `retry.ts` calls that safe. */
export class Webhooks {
  readonly #send: Send

  constructor(send: Send) {
    this.#send = send
  }

  /**
   * Registers an endpoint. Keep `secret`: it is answered this once. The key needs the read scope of every subject
   * that `events` names, and deliveries go out only while it has it.
   */
  async create(input: WebhookInput, options: CreateOptions = {}): Promise<WebhookWithSecret> {
    return this.#post<WebhookWithSecret>('/webhooks', options, input)
  }

  async get(id: string, options: CallOptions = {}): Promise<Webhook> {
    return this.#call<Webhook>({ method: 'GET', path: one(id) }, options)
  }

  async list(params: ListParams<WebhookFilters> = {}, options: CallOptions = {}): Promise<ListPage<Webhook>> {
    return this.#call<ListPage<Webhook>>({ method: 'GET', path: '/webhooks', query: params }, options)
  }

  /** `{ status: 'active' }` takes a disabled endpoint up again and forgets its failures. */
  async update(id: string, patch: WebhookPatch, options: CallOptions = {}): Promise<Webhook> {
    return this.#call<Webhook>({ method: 'PATCH', path: one(id), body: patch }, options)
  }

  /** Removes an endpoint with its log; what is pending is not sent. */
  async remove(id: string, options: CallOptions = {}): Promise<void> {
    await this.#call({ method: 'DELETE', path: one(id) }, options)
  }

  /** Makes a new secret, answered this once; the old one signs as well until `previousSecretExpiresAt`, `overlap` seconds from now. */
  async rotateSecret(
    id: string,
    { overlap, ...options }: CreateOptions & RotationInput = {},
  ): Promise<WebhookWithSecret> {
    const body = overlap == null ? undefined : { overlap }
    return this.#post<WebhookWithSecret>(`${one(id)}/rotate-secret`, options, body)
  }

  /** After a leak: every replaced secret ends at once. */
  async dropPreviousSecret(id: string, options: CallOptions = {}): Promise<void> {
    await this.#call({ method: 'DELETE', path: `${one(id)}/previous-secret` }, options)
  }

  /** Sends a `ping`, once, also to a disabled endpoint. Read the delivery again to see how it went. */
  async ping(id: string, options: CreateOptions = {}): Promise<Delivery> {
    return this.#post<Delivery>(`${one(id)}/ping`, options)
  }

  /** A page of the log, newest first. */
  async deliveries(
    id: string,
    params: ListParams<DeliveryFilters> = {},
    options: CallOptions = {},
  ): Promise<DeliveryPage> {
    return this.#call<DeliveryPage>({ method: 'GET', path: `${one(id)}/deliveries`, query: params }, options)
  }

  /** A page of the log of all endpoints, newest first. */
  async allDeliveries(
    params: ListParams<AllDeliveryFilters> = {},
    options: CallOptions = {},
  ): Promise<DeliveryPage> {
    return this.#call<DeliveryPage>({ method: 'GET', path: '/deliveries', query: params }, options)
  }

  async delivery(id: string, deliveryId: string, options: CallOptions = {}): Promise<Delivery> {
    return this.#call<Delivery>({ method: 'GET', path: delivery(id, deliveryId) }, options)
  }

  /** Every attempt of a delivery, newest first, with the beginning of what the receiver answered. */
  async attempts(
    id: string,
    deliveryId: string,
    params: ListParams<object> = {},
    options: CallOptions = {},
  ): Promise<ListPage<Attempt>> {
    const path = `${delivery(id, deliveryId)}/attempts`
    return this.#call<ListPage<Attempt>>({ method: 'GET', path, query: params }, options)
  }

  /** What the delivery's next attempt would carry, or a retry of it: an event as a receiver gets it. */
  async payload(id: string, deliveryId: string, options: CallOptions = {}): Promise<unknown> {
    return this.#call<unknown>({ method: 'GET', path: `${delivery(id, deliveryId)}/payload` }, options)
  }

  /** What became of the endpoint's deliveries, step by step; up to 1,500 steps, of a minute unless told. */
  async stats(id: string, range: StatsRange = {}, options: CallOptions = {}): Promise<Stats> {
    return this.#call<Stats>({ method: 'GET', path: `${one(id)}/stats`, query: { ...range } }, options)
  }

  /** The same of all endpoints, with the changes of every kind that the key may read. */
  async allStats(range: StatsRange = {}, options: CallOptions = {}): Promise<Stats> {
    return this.#call<Stats>({ method: 'GET', path: '/stats', query: { ...range } }, options)
  }

  /** Sends a failed delivery again, with the payload it was made with and the whole schedule from the start. */
  async retry(id: string, deliveryId: string, options: CreateOptions = {}): Promise<Delivery> {
    return this.#post<Delivery>(`${delivery(id, deliveryId)}/retry`, options)
  }

  /** Sends the event of a delivery that has succeeded once more, as a new delivery that reads its subject anew. */
  async resend(id: string, deliveryId: string, options: CreateOptions = {}): Promise<Delivery> {
    return this.#post<Delivery>(`${delivery(id, deliveryId)}/resend`, options)
  }

  /**
   * Attempts now what waits for a later attempt, for an endpoint that is well again: up to 5,000 deliveries a call, and others
   * wait while `hasMore` is true.
   */
  async hasten(id: string, options: CallOptions = {}): Promise<Hastening> {
    return this.#call<Hastening>({ method: 'POST', path: `${one(id)}/hasten` }, options)
  }

  /**
   * Brings back what the endpoint has missed, by default until now: failed deliveries are sent again, missing ones made, and
   * what arrived is left alone unless `includeSucceeded` is true. It goes on by itself; `recovery` tells how far it is. Ask again as often as you like.
   */
  async recover(id: string, input: RecoveryInput, options: CreateOptions = {}): Promise<Recovery> {
    return this.#post<Recovery>(`${one(id)}/recover`, options, input)
  }

  async recovery(id: string, recoveryId: string, options: CallOptions = {}): Promise<Recovery> {
    return this.#call<Recovery>({ method: 'GET', path: recovery(id, recoveryId) }, options)
  }

  /** The endpoint's recoveries, newest first. */
  async recoveries(
    id: string,
    params: ListParams<object> = {},
    options: CallOptions = {},
  ): Promise<ListPage<Recovery>> {
    const path = `${one(id)}/recoveries`
    return this.#call<ListPage<Recovery>>({ method: 'GET', path, query: params }, options)
  }

  #post<T>(path: string, { idempotencyKey, signal }: CreateOptions, body?: object): Promise<T> {
    const headers = given('idempotency-key', idempotencyKey)
    return this.#call<T>({ method: 'POST', path, headers, ...(body && { body }) }, signal ? { signal } : {})
  }

  async #call<T>(call: Call, { signal }: CallOptions): Promise<T> {
    const answer = await this.#send({ ...call, signal })
    return answer.body as T
  }
}

const one = (id: string): string => addressOf('/webhooks', id)

const delivery = (id: string, deliveryId: string): string => addressOf(`${one(id)}/deliveries`, deliveryId)

const recovery = (id: string, recoveryId: string): string => addressOf(`${one(id)}/recoveries`, recoveryId)
