/** The events about endpoints themselves (specification 9.7), which `report-endpoints.ts` writes. */

/** Each type, with when it is sent. */
export const endpointEvents = {
  'endpoint.failing': 'an attempt fails for the first time since a success',
  'endpoint.disabling_soon': 'half of the time has passed after which a failing endpoint is disabled',
  'endpoint.disabled': 'an endpoint was disabled; `disabledReason` says why',
  'endpoint.recovered': 'an attempt succeeds after one of the events above',
} as const satisfies Readonly<Record<string, string>>

/** What their subscribers and readers need. */
export const endpointScope = 'webhooks:read'
