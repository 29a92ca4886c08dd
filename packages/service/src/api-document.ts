/** The API as a document: every module's part, in the order in which they are shown. */
import { consoleLinkPart } from './auth/keys/console-link-routes.ts'
import { keyPart } from './auth/keys/routes.ts'
import { scopeNames } from './auth/scopes.ts'
import { documentPart } from './http/document-route.ts'
import { healthPart } from './http/health.ts'
import { bulkPart } from './kinds/http/bulk-routes.ts'
import { digestPart } from './kinds/http/digest-routes.ts'
import { kindPart } from './kinds/http/routes.ts'
import { streamPart } from './kinds/http/stream-routes.ts'
import type { Kind } from './kinds/model/kind.ts'
import { metricsPart } from './metrics/registry.ts'
import { openApiDocument } from './openapi/document.ts'
import type { ApiPart, Json } from './openapi/part.ts'
import { organizationPart } from './organization/routes.ts'
import { deliveryPart } from './webhooks/delivery-routes.ts'
import { recoveryPart } from './webhooks/recovery/routes.ts'
import { endpointPart } from './webhooks/routes.ts'
import { statsPart } from './webhooks/stats-routes.ts'

/** The API of an installation with these kinds, without its pages. It serves its metrics here or elsewhere. */
export function apiParts(kinds: readonly Kind[], metricsHere = true): readonly ApiPart[] {
  const scopes = scopeNames(kinds.map(({ plural }) => plural))
  return [
    ...kinds.map((kind) => kindPart(kind, kinds)),
    streamPart(kinds),
    bulkPart,
    digestPart,
    endpointPart(kinds),
    deliveryPart(kinds),
    recoveryPart,
    statsPart(kinds),
    keyPart(scopes),
    consoleLinkPart(scopes),
    organizationPart,
    healthPart,
    ...(metricsHere ? [metricsPart] : []),
    documentPart,
  ]
}

/**
 * `openapi.json` of that. Rejects where a part cannot be shown: where nothing that was tried is an example of an event, or lets
 * an action through.
 */
export function apiDocument(kinds: readonly Kind[], metricsHere = true): Promise<Json> {
  return openApiDocument(apiParts(kinds, metricsHere))
}
