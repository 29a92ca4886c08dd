/**
 * The operator's API (specification 3.8): organizations by HTTP, with the functions of the command line. The first call
 * opens the databases as a command does, and later ones use them too.
 */
import { timingSafeEqual } from 'node:crypto'
import { readJson } from '@deskwire/sdk/json'
import type { FastifyBaseLogger } from 'fastify'
import { scopeNames } from '../auth/scopes.ts'
import { hashToken } from '../auth/token.ts'
import { readDatabaseClock } from '../db/clock.ts'
import { DatabasesError } from '../db/databases.ts'
import type { DatabaseSettings } from '../db/open.ts'
import { transaction } from '../db/pool.ts'
import type { EncryptionKeys } from '../delivery/endpoint/vault.ts'
import { kinds } from '../desk/index.ts'
import { bearerToken } from '../http/authenticate.ts'
import { idempotencyOf, runOnce } from '../http/idempotency.ts'
import {
  type Installation,
  InstallationError,
  leastFull,
  migrateDatabase,
  openInstallation,
} from '../installation.ts'
import { noSuch, type Problem, problem, validationFailed } from '../kernel/errors.ts'
import type { Fields, StateOf } from '../kernel/fields/field.ts'
import { text, wordList } from '../kernel/fields/fields.ts'
import { parseCreation } from '../kernel/fields/validate.ts'
import { nilUuid, parseId } from '../kernel/ids.ts'
import { done, type Outcome, ok, refused } from '../kernel/outcome.ts'
import {
  changeEverywhere,
  deleteEverywhere,
  type ListedOrganization,
  listEverywhere,
  UnfinishedError,
} from '../moves/everywhere.ts'
import { MoveError, moveOrganization } from '../moves/move.ts'
import { type ApiModule, header, type Route, ref, routesOf } from '../openapi/api-module.ts'
import {
  count,
  creationBody,
  field,
  nullable,
  recordSchema,
  text as shownText,
  time,
  uuid,
  words,
} from '../openapi/field-schemas.ts'
import { createApiKey, createOrganization, type NewKey } from '../organization/create.ts'
import { DeletionError } from '../organization/deletion.ts'
import { type Keep, operatorId, Repeated, responsesOfOperator } from './admin-responses.ts'

export interface Admin {
  /** The operator's key. */
  readonly key: string
  /** Encrypt stored responses. */
  readonly encryptionKeys: EncryptionKeys
  readonly open: () => Promise<Installation>
  readonly close: () => Promise<void>
}

/** Null: no key is set, and nothing answers below `/admin/v1`. */
export function adminOf(
  config: DatabaseSettings & { readonly adminKey: string | null },
  encryptionKeys: EncryptionKeys,
  log: FastifyBaseLogger,
): Admin | null {
  const { adminKey } = config
  if (adminKey === null) return null
  let opened: Promise<Installation> | null = null
  const open = () => {
    opened ??= openInstallation(config, log).catch((error) => {
      opened = null
      throw error
    })
    return opened
  }
  return {
    key: adminKey,
    encryptionKeys,
    open,
    close: async () => (await opened?.catch(() => null))?.close(),
  }
}

const organizationFields = {
  name: text({ min: 1, max: 255, required: true, description: 'Its name.' }),
  database: text({ min: 1, max: 255, description: 'Its database.' }),
}
const keyFields = {
  name: text({ min: 1, max: 255, required: true, description: 'Its name.' }),
  scopes: wordList(scopeNames(kinds), { description: 'Its scopes.' }),
}
const moveFields = {
  to: text({ min: 1, max: 255, required: true, description: 'Its next database.' }),
}

const tenantId = field(uuid, 'Its id.')
const tenantFields = {
  organizationId: tenantId,
  name: field(shownText, 'Its name.'),
  status: field(words('active', 'suspended', 'deleting'), 'Whether its keys work.'),
  suspendedAt: field(nullable(time), 'When it was suspended; null where it is not.'),
  createdAt: field(time, 'When it was made.'),
  keys: field(count, 'Its keys that are not revoked.'),
  rows: field(count, 'Its objects.'),
  bytes: field(count, 'Of their representations.'),
  database: field(nullable(shownText), 'Its database; null where there is one.'),
}
const schemas = {
  Tenant: recordSchema('An organization, as its operator sees it.', tenantFields),
  TenantList: {
    type: 'object',
    description: 'All organizations.',
    required: ['data'],
    properties: { data: { type: 'array', items: ref('Tenant'), description: 'The oldest first.' } },
  },
  TenantKey: recordSchema('A key that was made.', {
    organizationId: tenantId,
    apiKeyId: field(uuid, 'The id of the key.'),
    token: field(shownText, 'The key, shown this once.'),
  }),
  TenantDeletion: recordSchema('A deletion.', {
    organizationId: tenantId,
    rows: field(count, 'How many objects it deleted.'),
  }),
  TenantMove: recordSchema('A move.', {
    organizationId: tenantId,
    outcome: field(words('moved', 'unchanged'), 'Whether it was elsewhere.'),
    from: field(shownText, 'The database it was in.'),
    to: field(shownText, 'The database it is in.'),
    rows: field(count, 'How many rows were copied.'),
    paused: field(
      nullable(count),
      'Milliseconds that its writers waited; null when an earlier call did that.',
    ),
  }),
  TenantCreate: creationBody(Object.entries(organizationFields), { name: 'Analytical Engines' }),
  TenantKeyCreate: creationBody(Object.entries(keyFields), { name: 'Backend', scopes: ['tickets:read'] }),
  TenantMoveTo: creationBody(Object.entries(moveFields), { to: 'two' }),
}

const route = routesOf<Admin>()
const organizations = '/admin/v1/organizations'

export const adminRoutes: readonly Route<Admin>[] = [
  operatorRoute('listOrganizations', 'get', organizations, {
    summary: 'List organizations, the oldest first',
    answers: 'TenantList',
    work: async ({ everywhere }, _id, _input, { signal }) =>
      done({ data: await listEverywhere(everywhere, { signal }) }),
  }),
  operatorRoute('createOrganization', 'post', organizations, {
    summary: 'Create an organization with its first key',
    answers: 'TenantKey',
    input: 'TenantCreate',
    creates: true,
    fields: organizationFields,
    async work(installation, _id, { name, database }, { keep }) {
      const [first] = installation.databases
      await migrateDatabase(first)
      const place = database === null ? await leastFull(installation.databases) : installation.named(database)
      await migrateDatabase(place)
      const clock = await readDatabaseClock(place.pool)
      const note = installation.recorderOf(place, 'organization')
      const announce: Parameters<typeof createOrganization>[3] = async (planned, tx) => {
        await note(planned)
        await (place === first ? keep(tx, planned) : transaction(first.pool, (own) => keep(own, planned)))
      }
      return done(await createOrganization(place.pool, clock, name, announce))
    },
    // In another database the response is stored first: a process may have died before it created the organization.
    async complete(installation, planned, { name }) {
      const place = await installation.databaseOf(planned.organizationId)
      if (place === null || place === installation.databases[0]) return
      await migrateDatabase(place)
      await createOrganization(place.pool, await readDatabaseClock(place.pool), name, undefined, planned)
    },
  }),
  operatorRoute('getOrganization', 'get', `${organizations}/{id}`, {
    summary: 'Read an organization',
    answers: 'Tenant',
    work: async (installation, id) => done((await listed(installation, id)) ?? null),
  }),
  operatorRoute('deleteOrganization', 'delete', `${organizations}/{id}`, {
    summary: 'Delete an organization and everything of it',
    answers: 'TenantDeletion',
    async work({ everywhere, databases: [{ pool }] }, organizationId) {
      const rows = await deleteEverywhere(everywhere, await readDatabaseClock(pool), organizationId)
      return done(rows === null ? null : { organizationId, rows })
    },
  }),
  ...(['suspend', 'resume'] as const).map((word) =>
    operatorRoute(`${word}Organization`, 'post', `${organizations}/{id}/${word}`, {
      summary:
        word === 'suspend'
          ? 'Refuse the keys of an organization and hold its deliveries'
          : 'End the suspension of an organization',
      answers: 'Tenant',
      async work(installation, organizationId) {
        const { everywhere, databases } = installation
        const clock = await readDatabaseClock(databases[0].pool)
        const status = word === 'suspend' ? 'suspended' : 'active'
        const outcome = await changeEverywhere(everywhere, clock, organizationId, status)
        if (outcome === 'deleting') return refused(beingDeleted)
        const found = outcome === 'unknown' ? null : await listed(installation, organizationId)
        return found ? answered(organizationId, found) : done(null)
      },
    }),
  ),
  operatorRoute('createOrganizationKey', 'post', `${organizations}/{id}/keys`, {
    summary: 'Make a key of an organization',
    answers: 'TenantKey',
    client: 'organizations.createKey',
    input: 'TenantKeyCreate',
    creates: true,
    fields: keyFields,
    async work(installation, organizationId, { name, scopes }, { keep }) {
      const database = await installation.databaseOf(organizationId)
      if (database === null) return done(null)
      await migrateDatabase(database)
      const clock = await readDatabaseClock(database.pool)
      const key = { organizationId, name, scopes }
      const note = installation.recorderOf(database, 'key')
      return done(
        await createApiKey(database.pool, clock, key, async (planned, tx) => {
          await note(planned)
          await keep(tx, planned)
        }),
      )
    },
  }),
  operatorRoute('moveOrganization', 'post', `${organizations}/{id}/move`, {
    summary: 'Move an organization to another database',
    answers: 'TenantMove',
    input: 'TenantMoveTo',
    fields: moveFields,
    async work(installation, organizationId, { to }) {
      const { databases, directory } = installation
      if (directory === null) return refused(oneDatabase)
      if ((await installation.databaseOf(organizationId)) === null) return done(null)
      installation.named(to)
      const pools = new Map(databases.map(({ name, pool }) => [name ?? '', pool]))
      const clock = await readDatabaseClock(databases[0].pool)
      const moved = await moveOrganization({ pools, directory, clock }, organizationId, to)
      return answered(organizationId, { organizationId, ...moved })
    },
  }),
]

/** The same for the clients' methods. Not in openapi.json, which is of what keys of organizations call. */
export const adminApi = {
  tags: [{ name: 'admin', description: "The operator's API." }],
  routes: adminRoutes,
  schemas: () => schemas,
} satisfies ApiModule

/** Checks the operator's key. A value of null is answered 404, and an expected failure is a refusal. */
function operatorRoute<F extends Fields>(
  id: string,
  method: 'get' | 'post' | 'delete',
  path: `/${string}`,
  {
    summary,
    answers,
    client,
    input: inputSchema,
    creates = false,
    fields,
    work,
    complete,
  }: {
    readonly summary: string
    /** The schemas of the answer, and of the body where it has one. */
    readonly answers: keyof typeof schemas
    readonly input?: keyof typeof schemas
    readonly client?: string
    /** The answer has a secret, which is shown this once. */
    readonly creates?: boolean
    /** Of its body. Default: the body is ignored. */
    readonly fields?: F
    readonly work: (
      installation: Installation,
      organizationId: string,
      input: StateOf<F>,
      call: {
        /** Aborts when the client disconnects. A change that has begun goes on. */
        readonly signal: AbortSignal
        /** Stores what is created in its transaction, or in one that commits before. */
        readonly keep: Keep
      },
    ) => Promise<Outcome<unknown>>
    /** Creates what the response of an earlier request promises, where that is missing. */
    readonly complete?: (installation: Installation, planned: NewKey, input: StateOf<F>) => Promise<void>
  },
): Route<Admin> {
  const answer = { description: 'The organization.', schema: ref(answers), shownOnce: creates }
  const status = creates ? 201 : 200
  return route({
    id,
    method,
    path,
    tag: 'admin',
    summary,
    ...(client !== undefined && { client }),
    access: 'public',
    // A body that is not read is ignored, whatever it is.
    body: inputSchema ?? 'ignored',
    ...(method === 'post' && { headers: [header('Idempotency-Key', 'Makes the POST safe to repeat.')] }),
    answers: { [status]: answer },
    errors: ['unauthorized', 'not_found', 'invalid_transition', 'unavailable'],
    admits({ key }, { headers }) {
      const sent = bearerToken(headers.authorization)
      return sent !== null && isSame(sent, key) ? null : notTheOperator
    },
    async handle({ encryptionKeys, open }, { request, params, body }) {
      const { disconnected } = request
      try {
        const installation = await open()
        disconnected.throwIfAborted()
        const { id: named = nilUuid }: { readonly id?: string } = params
        const organizationId = parseId(named)
        if (organizationId === null) return refused(noOrganization(named))
        const record = method === 'post' ? idempotencyOf(request, status, operatorId) : ok(null)
        if (!record.ok) return refused(record.error)
        const { store, keeping } = responsesOfOperator(installation, encryptionKeys)
        const input = fields === undefined ? ok({}) : parseCreation({ name: 'request', fields }, body ?? {})
        const outcome = await runOnce(store, { organizationId, record: record.value }, async () => {
          if (!input.ok) return refused(input.error)
          const call = { signal: disconnected, keep: await keeping(organizationId, record.value) }
          const outcome = await work(installation, organizationId, input.value as StateOf<F>, call).catch(
            (error: unknown): Outcome<never> => {
              if (error instanceof Repeated) return { outcome: 'replayed' }
              throw error
            },
          )
          if (outcome.outcome === 'done' && outcome.value === null) return refused(noOrganization(named))
          return outcome
        })
        if (complete && input.ok && outcome.outcome === 'replayed' && outcome.stored !== undefined)
          await complete(installation, readJson(outcome.stored.body) as NewKey, input.value as StateOf<F>)
        return outcome
      } catch (error) {
        const refusal = refusalOf(error)
        if (refusal === null) throw error
        return refused(refusal)
      }
    },
  })
}

/** Stored after the change, which a repetition finds made: a crash between them leads to no other. */
function answered(organizationId: string, value: unknown): Outcome<never> {
  return { outcome: 'unchanged', value: JSON.stringify(value), about: organizationId }
}

/** The time of a comparison says nothing of the key. */
function isSame(sent: string, key: string): boolean {
  return timingSafeEqual(Buffer.from(hashToken(sent)), Buffer.from(hashToken(key)))
}

function refusalOf(error: unknown): Problem | null {
  if (error instanceof DatabasesError)
    return validationFailed([{ pointer: '', code: 'unknown_reference', detail: error.message }])
  if (error instanceof DeletionError || error instanceof MoveError)
    return problem('invalid_transition', `${error.message}.`)
  if (error instanceof UnfinishedError || error instanceof InstallationError)
    return problem('unavailable', `${error.message}.`)
  return null
}

async function listed(
  { everywhere }: Installation,
  organizationId: string,
): Promise<ListedOrganization | undefined> {
  return (await listEverywhere(everywhere, { organizationId }))[0]
}

function noOrganization(id: string): Problem {
  return noSuch('organization', id, 'Check the id.')
}

const notTheOperator = problem(
  'unauthorized',
  'Send the header Authorization: Bearer, with the key of DESKWIRE_ADMIN_KEY.',
)
const beingDeleted = problem(
  'invalid_transition',
  'The organization is being deleted. Send DELETE again to finish that.',
)
const oneDatabase = problem(
  'invalid_transition',
  'There is one database. DESKWIRE_DATABASES names several, each with a name.',
)
