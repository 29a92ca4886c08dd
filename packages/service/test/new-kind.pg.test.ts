/** A kind that the desk does not have, declared here and nowhere else: everything else follows from it. */
import { expect, test } from 'vitest'
import { consoleLists } from '../../../tools/generate/console-lists.ts'
import type { ApiDocument } from '../../../tools/generate/python-models.ts'
import { typeScriptClient } from '../../../tools/generate/typescript.ts'
import { type TestDatabase, testDatabase } from '../../testbed/database.ts'
import { checkpointOf } from '../../testbed/follower.ts'
import { deliveriesOf, makeWebhook, receiverUrl } from '../../testbed/hooks.ts'
import { asToken, makeKey } from '../../testbed/keys.ts'
import { testService } from '../../testbed/service.ts'
import { migrate } from '../src/db/migrate.ts'
import { createStreamTable } from '../src/db/migrations/stream-table.ts'
import { kinds } from '../src/desk/index.ts'
import { problem } from '../src/kernel/errors.ts'
import { choice, flag, integer, reference, sequence, text, timestamp } from '../src/kernel/fields/fields.ts'
import { fail, ok } from '../src/kernel/outcome.ts'
import { exampleObject } from '../src/kinds/docs/kind-schemas.ts'
import { commonFields } from '../src/kinds/model/common-fields.ts'
import { defineKind } from '../src/kinds/model/define-kind.ts'
import { schemaOf } from '../src/schema.ts'
import { explore } from './kinds/explore-rules.fixture.ts'

const statuses = ['draft', 'sent', 'paid'] as const
const moves: Readonly<Record<(typeof statuses)[number], readonly string[]>> = {
  draft: ['sent'],
  sent: ['paid'],
  paid: [],
}

const invoice = defineKind({
  name: 'invoice',
  plural: 'invoices',
  description: 'What a customer owes.',
  fields: {
    customerId: reference(
      { kind: 'customer', onRemove: 'remove' },
      { required: true, access: 'create', column: 'customer_id', filter: true, description: 'Who owes it.' },
    ),
    payerId: reference(
      { kind: 'customer', onRemove: 'clear' },
      { access: 'create', column: 'payer_id', description: 'Who pays it.' },
    ),
    guarantorId: reference(
      { kind: 'customer', onRemove: 'clear' },
      { access: 'create', column: 'guarantor_id', description: 'Who pays it otherwise.' },
    ),
    number: sequence({ column: 'number', description: 'Counts up within the organization.' }),
    title: text({ min: 1, max: 255, required: true, search: true, description: 'What for.' }),
    amount: integer({
      min: 0,
      max: 1_000_000,
      required: true,
      column: 'amount',
      filter: true,
      description: 'In cents.',
    }),
    urgent: flag({ initial: false, column: 'urgent', filter: true, description: 'Whether it is pressing.' }),
    status: choice(statuses, { initial: 'draft', column: 'status', filter: true, description: 'Its state.' }),
    paidAt: timestamp({ access: 'read', description: 'When it was paid.' }),
    ...commonFields(),
  },
  events: {
    'invoice.created': 'an invoice is written',
    'invoice.updated': 'an invoice changes',
    'invoice.paid': 'an invoice is paid',
    'invoice.deleted': 'an invoice is deleted, by itself or with its customer',
  },
  removedEvent: 'invoice.deleted',
  documentedEvents: {
    fields: {
      status: { always: ['invoice.updated'], sometimes: ['invoice.paid'] },
      paidAt: { always: ['invoice.updated', 'invoice.paid'] },
    },
    examples: { 'invoice.paid': { status: 'paid', paidAt: '2026-03-01T12:00:00.000Z' } },
  },
  refusals: ['invalid_transition'],
  rules: {
    update(before, draft, _sent, { now }) {
      if (draft.status === before.status) return ok(draft)
      if (!moves[before.status].includes(draft.status)) {
        return fail(problem('invalid_transition', `From ${before.status}: ${moves[before.status]}.`))
      }
      return ok({ ...draft, paidAt: draft.status === 'paid' ? now : null })
    },
    events(before, after) {
      if (before === null) return ['invoice.created']
      const paid = after.status === 'paid' && before.status !== 'paid'
      return paid ? ['invoice.updated', 'invoice.paid'] : ['invoice.updated']
    },
  },
  migrations: [
    {
      id: '20991231-01-invoices',
      statements: createStreamTable({
        name: 'invoices',
        columns: [
          'number bigint',
          'customer_id uuid',
          'payer_id uuid',
          'guarantor_id uuid',
          'amount bigint',
          'urgent boolean',
          'status text',
          'external_id text',
        ],
        unique: ['number', 'external_id'],
        lookup: ['customer_id', 'payer_id', 'guarantor_id', 'status'],
        search: true,
      }),
    },
  ],
  example: { customerId: '01980000-0000-7000-8000-000000000001', title: 'Repair', amount: 12_000 },
})

const withInvoices = [...kinds, invoice]

/** As an installation gets the new kind: it ran without it before. */
async function upgradedDatabase(): Promise<TestDatabase> {
  const database = await testDatabase({ template: null })
  await migrate(database.pool, schemaOf())
  expect(await migrate(database.pool, schemaOf(withInvoices))).toEqual(['20991231-01-invoices'])
  return database
}

test('a declared kind is created, changed, listed, synced, removed with what it refers to, and recorded', async () => {
  await using database = await upgradedDatabase()
  await using service = await testService({ database, kinds: withInvoices })
  const { api } = service
  const customer = (await api.post('/v1/customers', { name: 'Ada' })).json.id
  const other = (await api.post('/v1/customers', { name: 'Grace' })).json.id

  const created = await api.post('/v1/invoices', { customerId: customer, title: 'Repair', amount: 12_000 })
  expect(created.status).toBe(201)
  expect(created.json).toMatchObject({ object: 'invoice', number: 1, status: 'draft', urgent: false })
  const path = `/v1/invoices/${created.json.id}`
  expect(created.headers.get('location')).toBe(path)
  const kept = await api.post('/v1/invoices', {
    customerId: other,
    title: 'Oil',
    amount: 0,
    urgent: true,
    externalId: 'o-1',
  })
  expect(kept.json).toMatchObject({ number: 2, amount: 0 })

  const wrong = [
    [-1, ''],
    [1_000_001, ''],
    [1.5, '; got a fraction'],
    ['12', '; got a string'],
  ] as const
  for (const [amount, got] of wrong) {
    const refused = await api.post('/v1/invoices', { customerId: customer, title: 'x', amount })
    expect(refused.status).toBe(422)
    const code = typeof amount === 'number' && Number.isInteger(amount) ? 'invalid_value' : 'invalid_type'
    expect(refused.json.errors).toEqual([
      { pointer: '/amount', code, detail: `must be a whole number from 0 to 1000000${got}` },
    ])
  }
  const nobody = { customerId: created.json.id, title: 'x', amount: 1 }
  expect((await api.post('/v1/invoices', nobody)).json.errors[0].code).toBe('unknown_reference')
  const twice = { customerId: other, title: 'x', amount: 1, externalId: 'o-1' }
  expect((await api.post('/v1/invoices', twice)).json).toMatchObject({
    code: 'duplicate',
    existingId: kept.json.id,
  })

  expect((await api.patch(path, { status: 'paid' })).json.code).toBe('invalid_transition')
  expect((await api.patch(path, { status: 'sent' })).status).toBe(200)
  const paid = await api.patch(path, { status: 'paid' })
  expect(paid.json.paidAt).toMatch(/Z$/)
  expect((await api.get(path)).text).toBe(paid.text)

  const found = async (query: string) =>
    (await api.get(`/v1/invoices?${query}`)).json.data.map((row: { number: number }) => row.number)
  expect(await found('')).toEqual([2, 1])
  expect(await found('amount=12000')).toEqual([1])
  expect(await found('urgent=true')).toEqual([2])
  expect(await found('urgent=false')).toEqual([1])
  expect(await found('status=paid')).toEqual([1])
  expect(await found(`customerId=${other}`)).toEqual([2])
  expect(await found('q=repa')).toEqual([1])
  for (const query of ['amount=', 'amount=1e3', 'amount=-1', 'urgent=yes']) {
    expect((await api.get(`/v1/invoices?${query}`)).json.code).toBe('invalid_parameter')
  }

  const first = (await api.get('/v1/invoices?updatedAfter=1970-01-01T00:00:00Z')).json
  expect(first.data).toEqual([kept.json, paid.json])
  expect(first.pagination.checkpoint.count).toBe(2)

  expect((await api.delete(`/v1/customers/${customer}`)).status).toBe(204)
  const next = (await api.get(`/v1/invoices?cursor=${first.pagination.nextCursor}`)).json
  const removal = { object: 'removed', id: created.json.id, resource: 'invoice' }
  expect(next.data).toEqual([{ ...removal, removedAt: expect.any(String) }])
  expect(next.pagination.checkpoint.count).toBe(1)
  expect((await api.get(path)).status).toBe(404)
  expect((await api.post('/v1/invoices', { customerId: other, title: 'Next', amount: 1 })).json.number).toBe(
    3,
  )

  const { rows } = await database.pool.query<{ type: string }>(
    'select e.type from events e where e.organization_id = $1 and e.subject_id = $2 order by e.created_at, e.type',
    [api.organizationId, created.json.id],
  )
  expect(rows.map(({ type }) => type)).toEqual([
    'invoice.created',
    'invoice.updated',
    'invoice.paid',
    'invoice.updated',
    'invoice.deleted',
  ])
})

test('an object that refers twice to what is removed loses both references, also in what is stored of it', async () => {
  await using database = await upgradedDatabase()
  await using service = await testService({ database, kinds: withInvoices })
  const { api } = service
  const owing = (await api.post('/v1/customers', { name: 'Ada' })).json.id
  const paying = (await api.post('/v1/customers', { name: 'Grace' })).json.id
  const fields = { customerId: owing, payerId: paying, guarantorId: paying, title: 'Repair', amount: 1 }
  const made = (await api.post('/v1/invoices', fields)).json
  expect(made).toMatchObject({ payerId: paying, guarantorId: paying })
  expect((await api.delete(`/v1/customers/${paying}`)).status).toBe(204)
  const neither = { payerId: null, guarantorId: null }
  expect((await api.get(`/v1/invoices/${made.id}`)).json).toMatchObject(neither)
  const { data, pagination } = (await api.get('/v1/invoices?updatedAfter=1970-01-01T00:00:00Z')).json
  expect(pagination.checkpoint).toMatchObject(checkpointOf(data.map((row: object) => JSON.stringify(row))))
  await service.app.maintenance.run()
  const { rows } = await database.pool.query<{ body: string }>(
    `select e.body from events e where e.organization_id = $1 and e.type = 'invoice.created'`,
    [api.organizationId],
  )
  expect(rows.map(({ body }) => JSON.parse(body))).toEqual([{ ...made, ...neither }])
})

test('an endpoint that subscribed to all events before the kind existed gets its events', async () => {
  await using database = await upgradedDatabase()
  await using before = await testService({ database })
  const refused = await before.api.post('/v1/webhooks', { url: receiverUrl, events: ['invoice.*'] })
  expect(refused.json.errors).toMatchObject([{ pointer: '/events/0', code: 'invalid_value' }])
  const { id } = await makeWebhook(before.api, { events: ['*'] })
  const { token } = await makeKey(before.api, { scopes: ['*'] })
  await using service = await testService({ database, kinds: withInvoices })
  const api = asToken(service, before.api, token)
  const customerId = (await api.post('/v1/customers', { name: 'Ada' })).json.id
  await api.post('/v1/invoices', { customerId, title: 'Repair', amount: 12_000 })
  const types = (await deliveriesOf(api, id)).map(({ eventType }) => eventType)
  expect(types).toEqual(['invoice.created', 'customer.created'])
})

test('a declared kind has scopes of its own, and is in the OpenAPI document, the SDK and the console', async () => {
  await using database = await upgradedDatabase()
  await using service = await testService({ database, kinds: withInvoices })
  const reader = await service.newKey(service.api.organizationId, ['invoices:read'])
  expect((await reader.get('/v1/invoices')).status).toBe(200)
  expect((await reader.get('/v1/customers')).status).toBe(403)
  expect((await reader.post('/v1/invoices', {})).status).toBe(403)

  const { paths, components, webhooks } = (await service.api.get('/openapi.json')).json
  expect(Object.keys(paths['/v1/invoices/{id}'])).toEqual(['get', 'patch', 'delete'])
  expect(components.schemas.InvoiceCreate.required).toEqual(['customerId', 'title', 'amount'])
  expect(components.schemas.InvoiceCreate.properties.amount).toMatchObject({
    type: 'integer',
    minimum: 0,
    maximum: 1_000_000,
  })
  expect(components.schemas.InvoicePatch.properties).not.toHaveProperty('customerId')

  const types = typeScriptClient({ paths, components, webhooks } as ApiDocument, '0')
  expect(types).toContain('export interface Invoice {')
  expect(types).toContain('  invoices: new ')
  expect(types).toContain('  amount: number\n')
  expect(types).toContain("status: Open<'draft' | 'sent' | 'paid'>")

  const lists = consoleLists(withInvoices)
  expect(lists).toContain('{"name":"invoice","plural":"invoices"}')
  expect(lists).toContain('"invoices:read","invoices:write"')
  expect(lists).toContain('"invoice.created","invoice.updated","invoice.paid","invoice.deleted"')
})

test.each(kinds)('each event of a $name is caused by something that its rules let through', (kind) => {
  const { created, transitions } = explore(kind)
  const caused = new Set([
    ...created.flatMap((state) => kind.rules.events(null, state)),
    ...transitions.flatMap(({ events }) => events),
    kind.removedEvent,
  ])
  expect(Object.keys(kind.events).filter((type) => !caused.has(type))).toEqual([])
})

test('a declaration that does not fit together is refused when it is read', () => {
  const declaration = {
    name: 'note',
    plural: 'notes',
    description: 'A note.',
    fields: {},
    rules: { events: () => [] },
    events: {},
    removedEvent: null,
    migrations: [],
    example: {},
  }
  const withField = (field: ReturnType<typeof text>) => () =>
    defineKind({ ...declaration, fields: { title: field } })
  const description = 'Its title.'
  expect(withField(text({ max: 10, unique: true, description }))).toThrow('note.title')
  expect(withField(text({ max: 10, filter: true, description }))).toThrow('note.title')
  expect(() => defineKind({ ...declaration, events: { 'memo.created': '' } })).toThrow('memo.created')
  expect(() => defineKind({ ...declaration, removedEvent: 'note.deleted' })).toThrow('removedEvent')
  const title = text({ max: 10, required: true, description })
  const required = defineKind({ ...declaration, fields: { title } })
  expect(() => exampleObject(required)).toThrow('the example of note is refused: /title is required')
  const rules = { ...declaration.rules, create: () => fail(problem('invalid_transition', 'Not today.')) }
  const refused = defineKind({ ...declaration, rules })
  expect(() => exampleObject(refused)).toThrow('the example of note is refused: Not today.')
  const gone = { events: { 'note.gone': '' }, removedEvent: 'note.gone' }
  expect(() => defineKind({ ...declaration, ...gone })).toThrow('removedEvent')
})
