/** The API as a document: every module's part, in the order in which they are shown. */
import { docsPart } from './docs/docs-openapi.ts'
import { healthPart } from './http/health-openapi.ts'
import { keyPart } from './keys/key-openapi.ts'
import { metricsPart } from './metrics/metrics-openapi.ts'
import { openApiDocument } from './openapi/document.ts'
import type { Json } from './openapi/part.ts'
import { organizationPart } from './organization/organization-openapi.ts'
import { bulkPart } from './resource/bulk-openapi.ts'
import type { Kind } from './resource/kind.ts'
import { kindPart } from './resource/kind-openapi.ts'
import { streamPart } from './resource/stream-openapi.ts'
import { deliveryPart } from './webhooks/delivery-openapi.ts'
import { endpointPart } from './webhooks/endpoint-openapi.ts'
import { recoveryPart } from './webhooks/recovery-openapi.ts'

/** `openapi.json` for an installation with these kinds, which serves its metrics here or elsewhere. */
export function apiDocument(kinds: readonly Kind[], metricsHere = true): Json {
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
