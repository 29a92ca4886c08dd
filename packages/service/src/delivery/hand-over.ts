/** Claims that commits make: what the journal hands over to the worker beside it, as that would have claimed it itself. */
import type { HandedOver } from '../journal/commit-protocol.ts'
import type { DueDeliveries } from '../journal/notifier.ts'
import type { Claim, ClaimedDelivery } from './model.ts'

/** A claim for each of the queues. */
export function claimsOf({ handedOver, at, maxAttempts }: DueDeliveries): readonly Claim[] {
  return handedOver.flatMap(([organizationId, { queues, events }]) => {
    const eventOf = new Map(events.map((event) => [event.id, event]))
    return queues.map(({ webhookId, leaseId, url, scopes, signatures, secrets, deliveries }) => ({
      organizationId,
      webhookId,
      leaseId,
      endpoint: {
        url,
        disabledReason: null,
        scopes,
        sealedSecrets: (secrets ?? []).map((hex) => Buffer.from(hex, 'hex')),
        standardSignatures: signatures.includes('standard'),
        // Then the commit hands nothing over.
        suspended: false,
      },
      deliveries: deliveries.flatMap(({ id, eventId }) => {
        const event = eventOf.get(eventId)
        return event === undefined ? [] : [newDelivery(id, event, at, maxAttempts)]
      }),
      aloneLeft: 0,
      lost: null,
    }))
  })
}

/** As the commit has made it: nobody has tried it. */
function newDelivery(
  id: string,
  { body, ...event }: HandedOver['events'][number],
  at: number,
  maxAttempts: number,
): ClaimedDelivery {
  return {
    id,
    attemptCount: 0,
    attemptsBefore: 0,
    maxAttempts,
    lostWorker: false,
    dueAt: at,
    updatedAt: at,
    event,
    data: body,
  }
}
