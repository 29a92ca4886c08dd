import type { Access, Answer, Carriers, Json, Parameter, QueryParameter, Route } from './api-module.ts'
import { answerHeaders, headersOf, refusalResponses } from './refusals.ts'

/** An entry of `paths`, including what follows from the declaration. */
export function operationObject(operation: Route): Json {
  const { id, tag, summary, access, body, bodyOptional, answers } = operation
  const events = operation.events?.()
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: descriptionOf(operation, events),
    ...(access === 'public' ? { security: [] } : {}),
    ...(access === 'public' || access === 'any key' ? {} : { 'x-scope': access }),
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

function descriptionOf({ description, access }: Route, events: Carriers | undefined): string {
  return [description, events === undefined ? undefined : eventSentence(events), accessSentence(access)]
    .filter((sentence) => sentence !== undefined)
    .join('\n\n')
}

function accessSentence(access: Access): string {
  switch (access) {
    case 'public':
      return 'Needs no key.'
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
