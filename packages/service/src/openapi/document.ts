/** Builds `openapi.json` (OpenAPI 3.1) from the modules. Deterministic. */
import { version } from '../kernel/version.ts'
import { mapYielding, yielder } from '../kernel/yielding.ts'
import {
  type Access,
  type Answer,
  type ApiModule,
  type Carriers,
  constant,
  exampleId,
  exampleTime,
  header,
  type Json,
  type Parameter,
  type QueryParameter,
  type Route,
  ref,
  type SentEvent,
} from './api-module.ts'
import { clientMethod } from './client-names.ts'
import {
  answerHeaders,
  headerComponents,
  headersOf,
  problemExamples,
  refusalComponents,
  refusalResponses,
} from './refusals.ts'
import { sharedSchemas } from './shared-schemas.ts'

const description = `A desk service whose outside copies never drift: one ordered stream of created, changed and removed rows, with a cursor that never expires and a proof at its end.

Bodies are JSON. Times are UTC with three decimals, ids are UUIDs. A refusal is \`application/problem+json\`; each [code](/docs/errors) has a page. An address that exists refuses other methods with 405 and \`Allow\`. A field that a release has added shows in an object of before once that is written: by a client, or by the service soon after the upgrade, which moves its \`updatedAt\`.

\`x-scope\` is the scope that an operation needs. \`x-events\` lists the event types that report a field or a move; where it is empty no event does, and only a sync shows the change. \`x-client\` is the method of the SDKs and the command that makes the call. Enumerations of answers are open: later versions may know more words.`

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

/** An entry of `paths`, including what follows from the declaration. */
function operationObject(operation: Route): Json {
  const { id, tag, summary, access, body, bodyOptional, answers } = operation
  const events = operation.events?.()
  const client = clientMethod(operation)
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: descriptionOf(operation, events),
    ...(access === 'public' ? { security: [] } : {}),
    ...(access === 'public' || access === 'any key' ? {} : { 'x-scope': access }),
    ...(client === null ? {} : { 'x-client': client }),
    ...(events === undefined ? {} : { 'x-events': [...events.always, ...events.sometimes] }),
    parameters: parametersOf(operation),
    ...(body === undefined ? {} : { requestBody: requestBody(body, !bodyOptional) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [status, response(answer, operation)]),
      ),
      ...refusalResponses(operation),
    },
  }
}

function descriptionOf({ description, access, path }: Route, events: Carriers | undefined): string {
  return [description, events === undefined ? undefined : eventSentence(events), accessSentence(access, path)]
    .filter((sentence) => sentence !== undefined)
    .join('\n\n')
}

function accessSentence(access: Access, path: string): string {
  switch (access) {
    case 'public':
      return path.startsWith('/admin/') ? 'Needs the key of the operator.' : 'Needs no key.'
    case 'any key':
      return 'Needs a key, whatever its scopes.'
    default:
      return `Needs a key with the scope \`${access}\`.`
  }
}

export function eventSentence(events: Carriers): string {
  const named = (types: readonly string[]) => types.map((type) => `\`${type}\``).join(', ')
  const { always, sometimes, silent } = events
  if (always.length === 0 && sometimes.length === 0) return 'Causes no event: sync only.'
  if (silent) return `Can cause ${named(sometimes)}; otherwise no event: sync only.`
  if (always.length === 0) return `Causes one or more of ${named(sometimes)}.`
  return `Causes ${named(always)}${sometimes.length === 0 ? '' : `, and can cause ${named(sometimes)}`}.`
}

function parametersOf({
  path,
  params = [],
  query = {},
  headers = [],
  once,
  events,
}: Route): readonly object[] {
  const described = new Set(params.map(({ name }) => name))
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const own = [
    ...ids.filter((name) => !described.has(name)).map(idParameter),
    ...params,
    ...Object.entries(query).map(([name, one]) => queryParameter(name, one)),
    ...headers,
    ...(once ? [idempotencyKey] : []),
    ...(events === undefined ? [] : [actingTeammate]),
  ]
  return [
    ...own.map((one) => (one.in === 'path' ? { ...one, required: true } : one)),
    // Repeated per operation, because some tools do not resolve references at the path level.
    { $ref: '#/components/parameters/X-Request-Id' },
  ]
}

function queryParameter(name: string, { description, schema }: QueryParameter): Parameter {
  return { name, in: 'query', description, schema }
}

function idParameter(name: string): Parameter {
  const whose = name === 'id' ? 'The id' : `The ${name.replace(/Id$/, '')}'s id`
  return { name, in: 'path', description: `${whose}.`, schema: { type: 'string', format: 'uuid' } }
}

const actingTeammate: Parameter = {
  name: 'X-Acting-Teammate',
  in: 'header',
  description: 'The teammate for whom the key acts: events name this teammate as `onBehalfOf`.',
  schema: { type: 'string', format: 'uuid' },
}

const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Of your choice. The same request again under the same key, within 24 hours, is made once and answered alike.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$', examples: ['signup-7'] },
}

function requestBody(schema: string, required: boolean): Json {
  return {
    required,
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
  }
}

function response(answer: Answer, { access, once }: Pick<Route, 'access' | 'once'>): Json {
  const { description, schema, mediaType = 'application/json', also = {}, examples, headers = [] } = answer
  const shown = Object.entries(examples?.() ?? {}).map(([name, value]) => [name, { value }])
  return {
    description,
    headers: headersOf([
      ...headers,
      ...(once ? ['Idempotent-Replayed'] : []),
      ...(access === 'public' ? [] : answerHeaders),
    ]),
    ...(schema === undefined
      ? {}
      : {
          content: {
            [mediaType]: { schema, ...(shown.length === 0 ? {} : { examples: Object.fromEntries(shown) }) },
            ...Object.fromEntries(Object.entries(also).map(([type, schema]) => [type, { schema }])),
          },
        }),
  }
}

const sentTag = {
  name: 'events',
  description: 'The request to endpoints: a POST with a signed envelope. A receiver answers it with any 2xx.',
}

function sentEventObject({ type, summary, data, example }: SentEvent): Json {
  return {
    post: {
      operationId: `on${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
      tags: [sentTag.name],
      summary,
      security: [],
      parameters: [
        {
          ...header('X-Service-Event-Id', 'The event, identical on every attempt: deduplicate by it.'),
          required: true,
          schema: { type: 'string', format: 'uuid' },
        },
        { ...header('X-Service-Event-Type', 'The type.'), required: true, schema: constant(type) },
        {
          ...header(
            'X-Service-Signature',
            't=<unix seconds>,v1=<hex>: HMAC-SHA256 over `<t>.<raw body>` under the secret, a v1 for each secret that signs.',
          ),
          required: true,
          schema: { type: 'string', pattern: '^t=[0-9]+(,v1=[0-9a-f]{64})+$' },
        },
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: envelope(type, data), example: { ...head(type), data: example } },
        },
      },
      responses: {
        '2XX': { description: 'Taken. Anything else, or nothing within ten seconds, is a failed attempt.' },
      },
    },
  }
}

function head(type: string) {
  return {
    id: exampleId(9),
    type,
    apiVersion: 'v1',
    createdAt: exampleTime,
    organizationId: exampleId(0),
  }
}

function envelope(type: string, data: Json): Json {
  return {
    type: 'object',
    required: ['id', 'type', 'apiVersion', 'createdAt', 'organizationId', 'data'],
    properties: {
      id: { type: 'string', format: 'uuid', description: 'Of the event, as in X-Service-Event-Id.' },
      type: constant(type),
      apiVersion: { type: 'string', examples: ['v1'] },
      createdAt: { type: 'string', format: 'date-time', description: 'When the change was made.' },
      organizationId: { type: 'string', format: 'uuid' },
      actor: {
        ...ref('Actor'),
        description: 'Who caused it, if the endpoint asks for it with `includeActor`.',
      },
      onBehalfOf: {
        ...ref('Actor'),
        description: 'Likewise: the teammate for whom the request says it was made; absent without one.',
      },
      requestId: {
        type: ['string', 'null'],
        description: 'Likewise: the X-Request-Id of the request; null for the service itself.',
      },
      data,
      changedFields: {
        type: 'array',
        items: { type: 'string' },
        description:
          'The fields that changed, if the endpoint asks for them; absent where nothing changed an existing object.',
      },
    },
  }
}
