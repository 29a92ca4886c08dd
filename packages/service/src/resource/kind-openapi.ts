/** What `routes.ts` serves of a kind, for the document: all of it from the kind's declaration. */
import { createdParameters, pageParameters } from '../http/list-openapi.ts'
import { exampleId, exampleList, examplePagination } from '../openapi/examples.ts'
import {
  type Answer,
  type ApiPart,
  type Carriers,
  header,
  type Operation,
  type Parameter,
  pageOf,
  query,
  ref,
} from '../openapi/part.ts'
import { exampleCheckpoint, exampleRemoval } from '../openapi/shared-schemas.ts'
import { bulkOperations, bulkSchemas } from './bulk-openapi.ts'
import { actionCarriers, creationCarriers, updateCarriers } from './event-carriers.ts'
import type { Kind } from './kind.ts'
import { exampleObject, exampleSubject } from './kind-examples.ts'
import {
  actionSchemaName,
  camelCase,
  capitalized,
  fieldSchema,
  kindSchemas,
  requiredOf,
  schemaName,
} from './kind-schemas.ts'
import { filterNames, filterSchema, rangeParameters } from './list-query.ts'
import { mostSearchWords } from './search.ts'
import { syncParameterDocs } from './stream-openapi.ts'

/** `kinds` are all of the installation: removing an object can take others with it. */
export function kindPart(kind: Kind, kinds: readonly Kind[]): ApiPart {
  return {
    tags: [{ name: kind.plural, description: kind.description }],
    operations: [
      list(kind),
      create(kind),
      read(kind),
      ...(kind.immutable ? [] : [update(kind)]),
      ...Object.keys(kind.actions).map((action) => act(kind, action)),
      ...(kind.removedEvent === null ? [] : [remove(kind, kind.removedEvent, kinds)]),
      ...bulkOperations(kind),
    ],
    schemas: { ...kindSchemas(kind), ...bulkSchemas(kind) },
    sent: Object.entries(kind.events).map(([type, when]) => ({
      type,
      summary: `Sent when ${when}`,
      ...(type === kind.removedEvent
        ? { data: ref('Removed'), example: exampleRemoval(kind.name) }
        : { data: ref(schemaName(kind)), example: exampleSubject(kind, type) }),
    })),
  }
}

function list(kind: Kind): Operation {
  const object = exampleObject(kind)
  return {
    ...operation(kind, 'list', `List or sync ${kind.plural}`),
    description: `Without a sync parameter: existing rows, newest first, by filter. With \`updatedAfter\` or \`cursor\`: created, changed and removed rows in the order of their \`updatedAt\`, each page going on from the one before. A sync takes no filters.`,
    parameters: [...pageParameters, ...syncParameterDocs, ...filters(kind)],
    answers: {
      200: {
        description: `A page of ${kind.plural}.`,
        schema: pageOf('Removed', schemaName(kind)),
        examples: {
          browsing: exampleList(object),
          'last page of a sync': {
            data: [
              object,
              ...(kind.removedEvent === null ? [] : [{ ...exampleRemoval(kind.name), id: exampleId(4) }]),
            ],
            pagination: { ...examplePagination, nextCursor: 'AZgAAAAA…', checkpoint: exampleCheckpoint },
          },
        },
      },
    },
    errors: ['invalid_cursor', 'filter_not_allowed_in_sync', 'cursor_too_old'],
  }
}

function create(kind: Kind): Operation {
  return {
    ...operation(kind, 'create', `Create a ${kind.name}`),
    body: `${schemaName(kind)}Create`,
    answers: { 201: { ...written(kind), headers: ['ETag', 'Location'] } },
    errors: ['duplicate', 'limit_reached'],
    once: true,
    events: withMoved(creationCarriers(kind), kind.alongside?.events ?? []),
  }
}

function read(kind: Kind): Operation {
  return {
    ...operation(kind, 'get', `Read a ${kind.name}`, '/{id}'),
    parameters: [header('If-None-Match', 'ETags. When one is the current version, the answer is 304.')],
    answers: {
      200: object(kind),
      304: { description: 'Not changed: you have the current version.', headers: ['ETag'] },
    },
    errors: ['not_found'],
  }
}

function update(kind: Kind): Operation {
  return {
    ...operation(kind, 'update', `Change a ${kind.name}`, '/{id}'),
    description:
      'What is sent replaces what is there. A change to the same values changes nothing and causes no event.',
    parameters: [ifMatch],
    body: `${schemaName(kind)}Patch`,
    answers: { 200: written(kind) },
    errors: ['not_found', 'duplicate', ...(kind.refusals ?? []), 'version_mismatch'],
    events: updateCarriers(kind),
  }
}

function act(kind: Kind, action: string): Operation {
  const { description, fields } = kind.actions[action] as Kind['actions'][string]
  const names = Object.entries(fields)
  return {
    ...operation(kind, camelCase(action), description, `/{id}/${action}`),
    parameters: [ifMatch],
    ...(names.length === 0
      ? {}
      : { body: actionSchemaName(kind, action), bodyOptional: requiredOf(names).length === 0 }),
    answers: { 200: written(kind) },
    errors: ['not_found', 'invalid_transition', 'version_mismatch'],
    once: true,
    events: actionCarriers(kind, action),
  }
}

function remove(kind: Kind, event: string, kinds: readonly Kind[]): Operation {
  const along = kinds.filter(({ table }) =>
    table.references.some((reference) => reference.kind === kind.name && reference.onRemove === 'remove'),
  )
  return {
    ...operation(kind, 'delete', `Delete a ${kind.name}`, '/{id}'),
    parameters: [ifMatch],
    answers: { 204: { description: 'Deleted.' } },
    errors: ['not_found', 'version_mismatch'],
    events: withMoved(
      { always: [event], sometimes: [], silent: false },
      along.flatMap(({ removedEvent }) => removedEvent ?? []),
    ),
  }
}

/** The events of the object, and those of others that may move with it. */
function withMoved(carriers: Carriers, moved: readonly string[]): Carriers {
  return { ...carriers, sometimes: [...carriers.sometimes, ...moved] }
}

/** By the verb; an action is a POST. */
const methods: Readonly<Record<string, Operation['method']>> = {
  list: 'get',
  get: 'get',
  update: 'patch',
  delete: 'delete',
}

/** What an operation on the kind has in any case. */
function operation(kind: Kind, verb: string, summary: string, below = '') {
  const method = methods[verb] ?? 'post'
  const many = verb === 'list' ? kind.plural : kind.name
  return {
    method,
    path: `/v1/${kind.plural}${below}`,
    id: `${verb}${capitalized(many)}`,
    tag: kind.plural,
    summary,
    access: `${kind.plural}:${method === 'get' ? 'read' : 'write'}` as const,
  }
}

function object(kind: Kind): Answer {
  return { description: `The ${kind.name}.`, schema: ref(schemaName(kind)), headers: ['ETag'] }
}

/** What `write-replies.ts` answers to a write. */
function written(kind: Kind): Answer {
  const whole = exampleObject(kind)
  const { id, object, updatedAt } = whole
  return {
    description: `The ${kind.name}; for a key without \`${kind.plural}:read\`, which one it is and in which version.`,
    schema: { anyOf: [ref(schemaName(kind)), ref('Written')] },
    examples: { 'with the read scope': whole, 'without it': { id, object, updatedAt } },
    headers: ['ETag'],
  }
}

const ifMatch = header(
  'If-Match',
  'ETags. Change only when one of them is the current version; otherwise 412.',
)

const searchHelp = `Has words that begin with each of these, at most ${mostSearchWords}. A search that takes longer than a few seconds is ended: 503.`

function filters(kind: Kind): readonly Parameter[] {
  const ranges = rangeParameters(kind)
  return filterNames(kind).map((name) => {
    const created = createdParameters.find((parameter) => parameter.name === name)
    const field = kind.fields[name]
    if (created !== undefined) return created
    if (field !== undefined) {
      const schema = filterSchema(field)
      return query(name, fieldSchema({ ...field, schema, nullable: false }, 'input'), `Has this ${name}.`)
    }
    const range = ranges[name]
    if (range !== undefined) {
      const than = range.on === 'after' ? 'Later than this' : 'Earlier than this'
      return query(name, { type: 'string', format: 'date-time' }, `${than}, exclusive.`)
    }
    const help = name === 'q' ? searchHelp : 'Has this tag.'
    return query(name, { type: 'string', minLength: 1 }, help)
  })
}
