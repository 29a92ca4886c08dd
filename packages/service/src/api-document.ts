/** The API as a document: every module, in the order in which the document shows them. */

import { scopeNames } from './auth/scopes.ts'
import { endpointApi } from './delivery/endpoint/routes.ts'
import { signingKeysApi } from './delivery/endpoint/signing-keys-route.ts'
import { statsApi } from './delivery/endpoint/stats-routes.ts'
import { deliveryApi } from './delivery/log/delivery-routes.ts'
import { eventApi } from './delivery/log/event-routes.ts'
import { recoveryApi } from './delivery/log/recovery/routes.ts'
import { addressesApi, documentApi, healthApi } from './http/own-routes.ts'
import { inboxApi } from './inbox/routes.ts'
import { consoleLinkApi } from './keys/console-link-routes.ts'
import { keyApi } from './keys/routes.ts'
import { bulkApi } from './kinds/http/bulk-routes.ts'
import { digestApi } from './kinds/http/digest-routes.ts'
import { kindApi } from './kinds/http/routes.ts'
import { streamApi } from './kinds/http/stream-routes.ts'
import type { Kind } from './kinds/model/kind.ts'
import { metricsApi } from './metrics/route.ts'
import type { ApiModule, Json } from './openapi/api-module.ts'
import { openApiDocument } from './openapi/document.ts'
import { organizationApi } from './organization/routes.ts'

/** The API modules of an installation with these kinds. `metricsHere`: whether this server serves `/metrics`. */
export function apiModules(kinds: readonly Kind[], metricsHere = true): readonly ApiModule[] {
  const scopes = scopeNames(kinds)
  return [
    ...kinds.map((kind) => kindApi(kind, kinds)),
    streamApi(kinds),
    inboxApi,
    bulkApi,
    digestApi,
    endpointApi(kinds),
    deliveryApi(kinds),
    recoveryApi,
    statsApi(kinds),
    eventApi(kinds),
    keyApi(scopes),
    consoleLinkApi(scopes),
    organizationApi,
    healthApi,
    ...(metricsHere ? [metricsApi] : []),
    documentApi,
    addressesApi,
    signingKeysApi,
  ]
}

/** `openapi.json`. Rejects when an example cannot be made for an event or an action. */
export function apiDocument(kinds: readonly Kind[], metricsHere = true): Promise<Json> {
  return openApiDocument(apiModules(kinds, metricsHere))
}
