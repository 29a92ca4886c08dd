/** The API as a document: every module's part, in the order in which they are shown. */
import { docsPart } from './docs/routes.ts'
import { healthPart } from './http/health.ts'
import { keyPart } from './keys/routes.ts'
import { metricsPart } from './metrics/expose.ts'
import { openApiDocument } from './openapi/document.ts'
import type { Json } from './openapi/part.ts'
import { organizationPart } from './organization/routes.ts'
import { bulkPart } from './resource/bulk-routes.ts'
import type { Kind } from './resource/kind.ts'
import { kindPart } from './resource/routes.ts'
import { streamPart } from './resource/stream-routes.ts'
import { deliveryPart } from './webhooks/delivery-routes.ts'
import { recoveryPart } from './webhooks/recovery-routes.ts'
import { endpointPart } from './webhooks/routes.ts'

/**
 * `openapi.json` for an installation with these kinds, which serves its metrics here or elsewhere. Rejects where a part
 * cannot be shown, as an example is refused by the rules that it is an example of.
 */
export function apiDocument(kinds: readonly Kind[], metricsHere = true): Promise<Json> {
  return openApiDocument([
    ...kinds.map((kind) => kindPart(kind, kinds)),
    streamPart(kinds),
    bulkPart,
    endpointPart(kinds),
    deliveryPart(kinds),
    recoveryPart,
    keyPart(kinds),
    organizationPart,
    healthPart,
    ...(metricsHere ? [metricsPart] : []),
    docsPart,
  ])
}
