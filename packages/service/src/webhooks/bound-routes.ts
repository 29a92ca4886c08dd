import type { Database } from '../db/fair-pool.ts'
import { createEndpointQueues } from '../delivery/endpoint-queues.ts'
import type { DeliverySettings } from '../delivery/model.ts'
import { createReadPayload } from '../delivery/preview-payload.ts'
import type { Resolver } from '../delivery/target/resolver.ts'
import { type BoundRoutes, bindRoutes } from '../http/route.ts'
import type { CallUnderClock } from '../journal/journal.ts'
import type { WaitingReaders } from '../journal/waiting-readers.ts'
import type { Clock } from '../kernel/timestamps.ts'
import type { Kind } from '../kinds/model/kind.ts'
import { deliveryApi } from './delivery-routes.ts'
import { createEndpoints } from './endpoints.ts'
import { eventApi } from './event-routes.ts'
import { createEventTypes } from './event-types.ts'
import { createDeliveryLog } from './log.ts'
import { recoveryApi } from './recovery/routes.ts'
import { createRecoveryStore } from './recovery/store.ts'
import { endpointApi } from './routes.ts'
import { statsApi } from './stats-routes.ts'
import { createWebhookStore } from './store.ts'
import { createSubscriptions, type Subscriptions } from './subscriptions.ts'
import { createTargetCheck } from './target-check.ts'
import type { Vault } from './vault.ts'

export function webhookRoutes(options: {
  readonly database: Database
  readonly clock: Clock
  readonly callUnderClock: CallUnderClock
  readonly vault: Vault
  readonly wake: () => void
  readonly kinds: readonly Kind[]
  readonly settings: DeliverySettings
  readonly resolver: Resolver
  readonly readers: WaitingReaders
}): { readonly parts: readonly BoundRoutes[]; readonly subscriptions: Subscriptions } {
  const { database, clock, callUnderClock, vault, wake, kinds, settings, resolver, readers } = options
  const { schedule, rotationOverlap, logRetention } = settings
  const tables = kinds.map((kind) => kind.table)
  const store = createWebhookStore(database, callUnderClock, logRetention)
  const eventTypes = createEventTypes(kinds)
  const { answerTimeout, disableAfter } = schedule
  const queues = createEndpointQueues(database, tables, { retention: logRetention })
  const endpoints = createEndpoints({
    store,
    clock,
    eventTypes,
    vault,
    rotationOverlap,
    disableAfter,
    wake,
    checkTarget: createTargetCheck(resolver, answerTimeout),
    failPending: (organizationId, webhookId, reason) =>
      queues.failPending({ organizationId, webhookId }, reason, clock.now()),
  })
  const services = {
    endpoints,
    store,
    deliveries: createDeliveryLog(database),
    payloadOf: createReadPayload(database, tables),
    eventTypes,
    tables,
    vault,
    clock,
    schedule,
    retryNow: queues.retryNow,
    retention: logRetention,
    wake,
  }
  const recoveries = createRecoveryStore(database, callUnderClock)
  const parts = [
    bindRoutes(() => endpointApi(kinds).routes, { endpoints, store, clock, disableAfter }),
    bindRoutes(() => deliveryApi(kinds).routes, services),
    bindRoutes(() => recoveryApi.routes, { ...services, recoveries }),
    bindRoutes(() => statsApi(kinds).routes, { ...services, database }),
    bindRoutes(() => eventApi(kinds).routes, { ...services, database, readers }),
  ]
  const subscriptions = createSubscriptions({ ...services, store, database, rotationOverlap })
  return { parts, subscriptions }
}
