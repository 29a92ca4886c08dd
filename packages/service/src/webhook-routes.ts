import type { Database } from './db/fair-pool.ts'
import { type CheckTarget, createEndpoints, type Endpoints } from './delivery/endpoint/endpoints.ts'
import { createEventTypes } from './delivery/endpoint/event-types.ts'
import { endpointApi } from './delivery/endpoint/routes.ts'
import { statsApi } from './delivery/endpoint/stats-routes.ts'
import { createWebhookStore } from './delivery/endpoint/store.ts'
import type { Vault } from './delivery/endpoint/vault.ts'
import { createVerifyReceiver } from './delivery/endpoint/verify-receiver.ts'
import { deliveryApi } from './delivery/log/delivery-routes.ts'
import { eventApi } from './delivery/log/event-routes.ts'
import { createDeliveryLog } from './delivery/log/log.ts'
import { createReadPayload } from './delivery/log/preview-payload.ts'
import { recoveryApi } from './delivery/log/recovery/routes.ts'
import { createRecoveryStore } from './delivery/log/recovery/store.ts'
import type { DeliverySettings } from './delivery/model.ts'
import { createEndpointQueues } from './delivery/queue/endpoint-queues.ts'
import type { Resolver } from './delivery/send/resolver.ts'
import { parseTargetUrl } from './delivery/send/url.ts'
import { type BoundRoutes, bindRoutes } from './http/route.ts'
import type { CallUnderClock } from './journal/journal.ts'
import type { WaitingReaders } from './journal/waiting-readers.ts'
import { type Problem, problem, validationFailed } from './kernel/errors.ts'
import type { Clock } from './kernel/timestamps.ts'
import type { Kind } from './kinds/model/kind.ts'

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
}): {
  readonly parts: readonly BoundRoutes[]
  readonly endpoints: Endpoints
} {
  const { database, clock, callUnderClock, vault, wake, kinds, settings, resolver, readers } = options
  const { schedule, rotationOverlap, logRetention } = settings
  const tables = kinds.map((kind) => kind.table)
  const store = createWebhookStore(database, callUnderClock, logRetention)
  const eventTypes = createEventTypes(kinds)
  const { answerTimeout, disableAfter } = schedule
  const queues = createEndpointQueues(database, tables)
  const endpoints = createEndpoints({
    store,
    database,
    clock,
    eventTypes,
    vault,
    rotationOverlap,
    disableAfter,
    wake,
    checkTarget: createTargetCheck(resolver, answerTimeout),
    verify: createVerifyReceiver({
      resolver,
      clock,
      answerTimeoutMs: answerTimeout,
      targetCa: settings.targetCa,
      egressProxy: settings.egressProxy,
    }),
    failPending: (organizationId, webhookId, failure) =>
      queues.failPending({ organizationId, webhookId }, failure, clock.now()),
    retention: settings.logRetention,
  })
  const services = {
    endpoints,
    store,
    deliveries: createDeliveryLog(database, callUnderClock),
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
  return { parts, endpoints }
}

/** Resolves a receiver's URL and checks its addresses (specification 9.2). The caller closes the resolver. */
function createTargetCheck(resolver: Resolver, timeoutMs: number): CheckTarget {
  return async (text) => {
    const url = parseTargetUrl(text)
    if (!url.ok) return refusal(url.error.code, url.error.detail)
    const resolution = await resolver.resolve(url.value.hostname, { fresh: true, timeoutMs })
    switch (resolution.outcome) {
      case 'addresses':
        return null
      case 'not_public':
        return problem('url_not_public', `${resolution.detail}. Give a URL whose every address is public.`, {
          logged: { block: resolution.block },
        })
      case 'no_such_name':
        return refusal(
          'url_not_resolvable',
          `${resolution.detail}. Check the name, and write it in full: the search domains of the system are not used.`,
        )
      case 'failed':
        return refusal(
          'url_not_resolvable',
          `${resolution.detail}. Check that the name servers answer; then send it again.`,
        )
    }
  }
}

function refusal(
  code: 'url_not_https' | 'url_not_resolvable' | 'validation_failed',
  detail: string,
): Problem {
  if (code === 'validation_failed')
    return validationFailed([{ pointer: '/url', code: 'invalid_value', detail }])
  return problem(code, detail)
}
