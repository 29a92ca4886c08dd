/** A person as a whole (specification 4.11): erased, or exported, with everything that refers to it. */
import { Readable } from 'node:stream'
import { readJson } from '@deskwire/sdk/json'
import { type Caller, recheckAfter } from '../../auth/authenticator.ts'
import { erasingScope, grants, lacking } from '../../auth/scopes.ts'
import type { Database } from '../../db/fair-pool.ts'
import { queryText } from '../../db/text-query.ts'
import { headersOnly } from '../../http/replies.ts'
import { requestContextOf } from '../../http/route.ts'
import { timestampText } from '../../journal/body.ts'
import type { RowReader } from '../../journal/rows.ts'
import { type Problem, problem } from '../../kernel/errors.ts'
import { nilUuid, parseId } from '../../kernel/ids.ts'
import { loggable } from '../../kernel/log.ts'
import { done, refused } from '../../kernel/outcome.ts'
import { atMost } from '../../kernel/periodic.ts'
import {
  type Call,
  constant,
  exampleId,
  exampleTime,
  type Json,
  ref,
  routesOf,
} from '../../openapi/api-module.ts'
import { exampleCheckpoint } from '../../openapi/shared-schemas.ts'
import { camelCase, capitalized, exampleObject, schemaName } from '../docs/kind-schemas.ts'
import { type Changes, noSuchObject } from '../model/changes.ts'
import type { Kind } from '../model/kind.ts'

export interface PersonServices {
  readonly changes: Changes
  readonly rows: RowReader
  readonly database: Pick<Database, 'of'>
  /** Erases what is stored about removed objects of an organization. Maintenance repeats it. */
  readonly erasePayloads: (organizationId: string) => Promise<void>
}

const route = routesOf<PersonServices>()

/** Milliseconds until a receipt is sent though stored payloads are still being erased. */
const erasedWithin = 10_000

/** Rows of a page of an export. */
const pageRows = 200

export function personRoutes(kind: Kind, kinds: readonly Kind[]) {
  return kind.isPerson ? [erase(kind, kinds), exportOne(kind, kinds)] : []
}

/** With the field of each that refers to the person. */
function belongings(person: Kind, kinds: readonly Kind[]) {
  return kinds.flatMap((kind) => {
    const reference = kind.table.references.find((one) => one.kind === person.name)
    return reference === undefined ? [] : [{ kind, column: reference.column.name }]
  })
}

function erase(kind: Kind, kinds: readonly Kind[]) {
  const reached = belongings(kind, kinds).map(({ kind }) => kind)
  const events = [kind, ...reached].flatMap(({ removedEvent }) => removedEvent ?? [])
  return route({
    tag: kind.plural,
    access: erasingScope(kind.plural),
    method: 'post',
    path: `/v1/${kind.plural}/{id}/erase`,
    id: `erase${capitalized(kind.name)}`,
    summary: `Erase a ${kind.name} with everything of theirs`,
    description: `Removes the ${kind.name} and its ${reached.map(({ plural }) => plural).join(', ')} in one commit, each with its removal record and event; then erases stored payloads, responses and receivers' answers about them. The answer is a receipt, of the kinds that the key may read, which names what is not erased yet.`,
    once: true,
    answers: {
      200: {
        description: 'The counts of removed objects, and the checkpoints of that moment.',
        schema: ref('Erasure'),
        examples: () => ({ receipt: exampleErasure(kind, reached) }),
      },
    },
    errors: ['not_found'],
    events: () => ({ always: events.slice(0, 1), sometimes: events.slice(1), silent: false }),
    redact: {
      body: (caller, body) => readableReceipt(caller, [kind, ...reached], body),
      problem: (_, refusal) => refusal,
    },
    async handle({ changes }, call) {
      const { caller, params, record } = call
      const id = parseId(params.id)
      if (id === null) return refused(noSuchObject(kind, params.id))
      const recheck = () => call.recheck(recheckAfter)
      return changes.erase(caller.organizationId, id, recheck, record, requestContextOf(call))
    },
    async finish({ erasePayloads }, { caller, request }, receipt) {
      const erasing = erasePayloads(caller.organizationId).then(
        () => true,
        (error: Error) => {
          request.log.warn(
            { err: loggable(error) },
            'stored payloads could not be erased; maintenance will erase them',
          )
          return false
        },
      )
      const isErased = (await atMost(erasedWithin, erasing)) && (await erasing)
      return isErased ? receipt : `${receipt.slice(0, -1)},"remaining":["payloads"]}`
    },
  })
}

/** The receipt without the counts and checkpoints of kinds that the caller may not read. */
function readableReceipt({ scopes }: Caller, kinds: readonly Kind[], receipt: string): string {
  const hidden = kinds.filter(({ plural }) => !grants(scopes, `${plural}:read`))
  if (hidden.length === 0) return receipt
  const shown = readJson(receipt) as Record<'removed' | 'checkpoint', Record<string, unknown>>
  for (const { name } of hidden) {
    delete shown.removed[name]
    delete shown.checkpoint[name]
  }
  return JSON.stringify(shown)
}

function exportOne(kind: Kind, kinds: readonly Kind[]) {
  const owned = belongings(kind, kinds)
  const scopes = [kind, ...owned.map((one) => one.kind)].map(({ plural }) => `${plural}:read`)
  return route({
    tag: kind.plural,
    access: `${kind.plural}:read`,
    method: 'get',
    path: `/v1/${kind.plural}/{id}/export`,
    id: `export${capitalized(kind.name)}`,
    client: `${camelCase(kind.plural)}.exportOne`,
    summary: `Everything about one ${kind.name}`,
    description: `The ${kind.name} and each object that refers to it, whole. Needs ${scopes.join(', ')}. An answer that is no whole JSON was cut off.`,
    answers: {
      200: {
        description: 'One JSON document.',
        schema: ref(`${schemaName(kind)}Export`),
        examples: () => ({
          export: exampleExport(
            kind,
            owned.map((one) => one.kind),
          ),
        }),
      },
    },
    errors: ['not_found', 'insufficient_scope'],
    async handle({ rows, database }, call) {
      const missing = unreadable(call, scopes)
      if (missing !== null) return refused(missing)
      const { organizationId } = call.caller
      const head = headersOnly(call.request)
      if (head !== null) return head
      const id = parseId(call.params.id)
      const row = id === null ? null : await rows.read(organizationId, id)
      if (id === null || row === null) return refused(noSuchObject(kind, call.params.id))
      return done(Readable.from(pieces(row.body, id)))

      async function* pieces(person: string, id: string): AsyncIterable<string> {
        yield `{"object":"${kind.name}_export","${kind.name}":${person}`
        for (const { kind, column } of owned) {
          yield `,"${kind.plural}":[`
          let separator = ''
          for (let place: Place | null = firstPlace; place !== null; ) {
            const page: Page = await readPage(database, { kind, column }, organizationId, id, place)
            const refusal = (await call.recheck(recheckAfter)) ?? unreadable(call, scopes)
            if (refusal !== null) throw new Error(`an export was ended: ${refusal.detail}`)
            if (page.bodies !== '') yield separator + page.bodies
            separator = ','
            place = page.next
          }
          yield ']'
        }
        yield '}'
      }
    },
  })
}

function unreadable({ caller }: Pick<Call, 'caller'>, scopes: readonly string[]): Problem | null {
  const missing = lacking(caller.scopes, scopes)
  if (missing.length === 0) return null
  return problem('insufficient_scope', `This needs a key with ${missing.join(', ')} as well.`)
}

type Place = readonly [createdAt: string, id: string]

interface Page {
  readonly bodies: string
  readonly next: Place | null
}

const firstPlace: Place = ['-infinity', nilUuid]

async function readPage(
  database: Pick<Database, 'of'>,
  { kind, column }: { readonly kind: Kind; readonly column: string },
  organizationId: string,
  id: string,
  [createdAt, after]: Place,
): Promise<Page> {
  const statement = {
    name: `export_${kind.plural}_by_${column}`,
    text: `select t.body, ${timestampText('t.created_at')} as created_at, t.id from ${kind.plural} t
             where t.organization_id = $1 and t.${column} = $2 and t.removed_at is null
               and (t.created_at, t.id) > ($3::timestamptz, $4::uuid)
             order by t.created_at, t.id limit ${pageRows}`,
  }
  const rows = await queryText(database.of(organizationId), statement, [organizationId, id, createdAt, after])
  const last = rows.length < pageRows ? undefined : rows.at(-1)
  return {
    bodies: rows.map(([body]) => body).join(','),
    next: last === undefined ? null : [String(last[1]), String(last[2])],
  }
}

export function personSchemas(kind: Kind, kinds: readonly Kind[]): Readonly<Record<string, Json>> {
  if (!kind.isPerson) return {}
  const reached = belongings(kind, kinds).map(({ kind }) => kind)
  const name = schemaName(kind)
  return {
    Erasure: {
      type: 'object',
      description: 'The receipt of an erase.',
      required: ['object', 'resource', 'id', 'erasedAt', 'removed', 'checkpoint'],
      properties: {
        object: { ...constant('erasure'), description: 'Distinguishes it from a row.' },
        resource: { type: 'string', description: 'The kind of who was erased.' },
        id: { type: 'string', format: 'uuid', description: 'Who was erased.' },
        erasedAt: {
          type: 'string',
          format: 'date-time',
          description: 'The `removedAt` of every removal record.',
        },
        removed: {
          type: 'object',
          additionalProperties: { type: 'integer', minimum: 0 },
          description: 'How many objects were removed, by kind; of the kinds that the key may read.',
        },
        checkpoint: {
          type: 'object',
          additionalProperties: ref('Checkpoint'),
          description: 'The checkpoint of each of these kinds at `erasedAt`.',
        },
        remaining: {
          type: 'array',
          items: { type: 'string', enum: ['payloads'] },
          description:
            'Parts that are still being erased; absent when none are. `payloads`: stored payloads, responses and answers of receivers. Repeat the request with its Idempotency-Key to see when it is done.',
        },
      },
      examples: [exampleErasure(kind, reached)],
    },
    [`${name}Export`]: {
      type: 'object',
      description: `Everything about one ${kind.name}.`,
      required: ['object', kind.name, ...reached.map(({ plural }) => plural)],
      properties: {
        object: { ...constant(`${kind.name}_export`), description: 'Distinguishes it from a row.' },
        [kind.name]: ref(name),
        ...Object.fromEntries(
          reached.map((one) => [
            one.plural,
            { type: 'array', items: ref(schemaName(one)), description: 'The oldest first.' },
          ]),
        ),
      },
      examples: [exampleExport(kind, reached)],
    },
  }
}

function exampleErasure(kind: Kind, reached: readonly Kind[]) {
  const of = <V>(value: V) => Object.fromEntries([kind, ...reached].map(({ name }) => [name, value]))
  return {
    object: 'erasure',
    resource: kind.name,
    id: exampleId(3),
    erasedAt: exampleTime,
    removed: of(1),
    checkpoint: of(exampleCheckpoint),
  }
}

function exampleExport(kind: Kind, reached: readonly Kind[]) {
  return {
    object: `${kind.name}_export`,
    [kind.name]: exampleObject(kind),
    ...Object.fromEntries(reached.map((one) => [one.plural, [exampleObject(one)]])),
  }
}
