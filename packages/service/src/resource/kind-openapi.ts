/** What `routes.ts` serves of a kind, for the document: all of it from the kind's declaration. */
import { createdParameters, pageParameters } from '../http/list-openapi.ts'
import { exampleId, exampleList, examplePagination } from '../openapi/examples.ts'
import {
  type Answer,
  type ApiPart,
  header,
  type Operation,
  type Parameter,
  pageOf,
  query,
  ref,
} from '../openapi/part.ts'
import { exampleCheckpoint, exampleRemoval } from '../openapi/shared-schemas.ts'
import { updateEvents } from './event-carriers.ts'
import type { Kind } from './kind.ts'
import { exampleObject, fieldSchema, kindSchemas, schemaName } from './kind-schemas.ts'
import { filterNames } from './list-query.ts'
import { exampleState } from './samples.ts'

export function kindPart(kind: Kind): ApiPart {
  return {
    tags: [{ name: kind.plural, description: kind.description }],
    operations: [
      list(kind),
      create(kind),
      read(kind),
      update(kind),
      ...(kind.removedEvent === null ? [] : [remove(kind, kind.removedEvent)]),
    ],
    schemas: kindSchemas(kind),
    sent: Object.entries(kind.events).map(([type, when]) => ({
      type,
      summary: `Sent when ${when}`,
      ...(type === kind.removedEvent
        ? { data: ref('Removed'), example: exampleRemoval(kind.name) }
        : { data: ref(schemaName(kind)), example: exampleObject(kind) }),
    })),
  }
}

function list(kind: Kind): Operation {
  const object = exampleObject(kind)
  return {
    ...operation(kind, 'list', `List or sync ${kind.plural}`),
    description: `Without a sync parameter: existing rows, newest first, by filter. With \`updatedAfter\` or \`cursor\`: created, changed and removed rows in the order of their \`updatedAt\`, each page going on from the one before. A sync takes no filters.`,
    parameters: [
      ...pageParameters,
      query(
        'updatedAfter',
        { type: 'string', format: 'date-time', examples: ['1970-01-01T00:00:00Z'] },
        'Starts a sync from a watermark, exclusive.',
      ),
      query('cursor', { type: 'string' }, 'The nextCursor of the previous page; continues a sync.'),
      ...filters(kind),
    ],
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
    answers: { 201: { ...object(kind), headers: ['ETag', 'Location'] } },
    errors: ['duplicate'],
    once: true,
    events: kind.rules.events(null, exampleState(kind)),
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
    answers: { 200: object(kind) },
    errors: ['not_found', 'duplicate', ...(kind.refusals ?? []), 'version_mismatch'],
    events: updateEvents(kind),
  }
}

function remove(kind: Kind, event: string): Operation {
  return {
    ...operation(kind, 'delete', `Delete a ${kind.name}`, '/{id}'),
    parameters: [ifMatch],
    answers: { 204: { description: 'Deleted.' } },
    errors: ['not_found', 'version_mismatch'],
    events: [event],
  }
}

const methods = { list: 'get', create: 'post', get: 'get', update: 'patch', delete: 'delete' } as const

/** What an operation on the kind has in any case. */
function operation(kind: Kind, verb: keyof typeof methods, summary: string, below = '') {
  const many = verb === 'list' ? kind.plural : kind.name
  return {
    method: methods[verb],
    path: `/v1/${kind.plural}${below}`,
    id: `${verb}${many[0]?.toUpperCase()}${many.slice(1)}`,
    tag: kind.plural,
    summary,
    access: `${kind.plural}:${methods[verb] === 'get' ? 'read' : 'write'}` as const,
  }
}

function object(kind: Kind): Answer {
  return { description: `The ${kind.name}.`, schema: ref(schemaName(kind)), headers: ['ETag'] }
}

const ifMatch = header(
  'If-Match',
  'ETags. Change only when one of them is the current version; otherwise 412.',
)

function filters(kind: Kind): readonly Parameter[] {
  return filterNames(kind).map((name) => {
    const created = createdParameters.find((parameter) => parameter.name === name)
    const field = kind.fields[name]
    if (created !== undefined) return created
    if (field !== undefined) {
      return query(name, fieldSchema({ ...field, nullable: false }, 'input'), `Has this ${name}.`)
    }
    const help = name === 'q' ? 'Has words that begin with each of these.' : 'Has this tag.'
    return query(name, { type: 'string', minLength: 1 }, help)
  })
}
