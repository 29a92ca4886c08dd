/** Builds `openapi.json` (OpenAPI 3.1) from the modules. Deterministic. */

import { version } from '../kernel/version.ts'
import { mapYielding, yielder } from '../kernel/yielding.ts'
import type { ApiModule, Json } from './api-module.ts'
import { operationObject } from './operation.ts'
import { headerComponents, problemExamples, refusalComponents } from './refusals.ts'
import { sentEventObject, sentTag } from './sent-events.ts'
import { sharedSchemas } from './shared-schemas.ts'

const description = `A desk service whose outside copies never drift: one ordered stream of created, changed and removed rows, with a cursor that never expires and a proof at its end.

Bodies are JSON. Times are UTC with three decimals, ids are UUIDs. A refusal is \`application/problem+json\`; each [code](/docs/errors) has a page. An address that exists refuses other methods with 405 and \`Allow\`. A field that a release has added shows in an object of before once that is written: by a client, or by the service soon after the upgrade, which moves its \`updatedAt\`.

\`x-scope\` is the scope that an operation needs. \`x-events\` lists the event types that report a field or a move; where it is empty no event does, and only a sync shows the change. Enumerations of answers are open: later versions may know more words.`

/** Yields to the event loop, as it takes about 150 ms. Rejects when two operations or schemas have one name. */
export async function openApiDocument(parts: readonly ApiModule[]): Promise<Json> {
  const yieldWhenDue = yielder()
  const routes = parts.flatMap(({ routes }) => routes)
  const operations = await mapYielding(
    routes,
    (route) => ({ path: route.path, method: route.method, object: operationObject(route) }),
    yieldWhenDue,
  )
  const schemas = await mapYielding(parts, (part) => Object.entries(part.schemas?.() ?? {}), yieldWhenDue)
  const sent = await mapYielding(parts, (part) => part.sent?.() ?? [], yieldWhenDue)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Deskwire',
      version,
      description,
      contact: { name: 'The operator of this installation' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The installation that serves this document.' }],
    security: [{ apiKey: [] }],
    tags: [...parts.flatMap((part) => part.tags), sentTag],
    paths: Object.fromEntries(
      [...Map.groupBy(operations, ({ path }) => path)].map(([path, these]) => [
        path,
        unique(these.map(({ method, object }) => [method, object])),
      ]),
    ),
    webhooks: unique(sent.flat().map((event) => [event.type, sentEventObject(event)])),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key: `dwk_` and 36 letters and digits. Its scopes say which calls it may make.',
        },
      },
      parameters: { 'X-Request-Id': requestId },
      headers: headerComponents,
      examples: problemExamples(routes),
      responses: refusalComponents(routes),
      schemas: unique([...Object.entries(sharedSchemas), ...schemas.flat()]),
    },
  }
}

const requestId = {
  name: 'X-Request-Id',
  in: 'header',
  description:
    'An id of yours for this request: 1 to 200 visible ASCII characters. Anything else is replaced.',
  schema: { type: 'string' },
}

function unique(entries: readonly (readonly [string, Json])[]): Json {
  const names = entries.map(([name]) => name)
  const twice = names.find((name, n) => names.indexOf(name) !== n)
  if (twice !== undefined) throw new Error(`${twice} is declared twice`)
  return Object.fromEntries(entries)
}
