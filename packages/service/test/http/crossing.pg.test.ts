/**
 * Two organizations, and whatever one can say about the other's: ids in addresses and bodies, values in filters,
 * cursors, keys. Made from the server's own routes: a new one that nothing here knows how to ask fails.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  makeBooking,
  makeConversation,
  makeCustomer,
  makeMessage,
  makeNote,
  makeTeammate,
  makeTicket,
} from '../../../testbed/desk.ts'
import { deliveriesOf, makeWebhook } from '../../../testbed/hooks.ts'
import { makeKey } from '../../../testbed/keys.ts'
import { type Answer, type Api, type TestService, testService } from '../../../testbed/service.ts'
import { kinds } from '../../src/desk/index.ts'
import { highestId } from '../../src/kernel/cursor.ts'
import { nilUuid } from '../../src/kernel/ids.ts'

/** Stands in everything that an organization has. */
const marker = 'Geheimnis'

interface Organization {
  readonly api: Api
  /** Ids by what their address is called: `tickets`, `webhooks`, `deliveryId`. */
  readonly ids: Readonly<Record<string, string>>
}

let service: TestService
let ours: Organization
let theirs: Organization

beforeAll(async () => {
  service = await testService()
  ours = await settled(await service.newOrganization('Ours'), 'Ours')
  theirs = await settled(await service.newOrganization(marker), marker)
})

afterAll(() => service[Symbol.asyncDispose]())

async function settled(api: Api, name: string): Promise<Organization> {
  const webhook = await makeWebhook(api, { description: name, events: ['customer.created'] })
  const common = { externalId: name, tags: [name], customAttributes: { name } }
  const teammates = await makeTeammate(api, { name, email: `${name}@example.com` })
  const customers = await makeCustomer(api, {
    name,
    ...common,
    email: `${name}@example.com`,
    phone: name === marker ? '+4911111111' : '+4922222222',
  })
  const of = { customerId: customers.id, assigneeId: teammates.id }
  const conversations = await makeConversation(api, { ...common, ...of, subject: name })
  const within = { conversationId: conversations.id }
  const messages = await makeMessage(api, { ...within, body: name })
  const notes = await makeNote(api, { ...within, body: name })
  const dueAt = '2020-01-01T00:00:00Z'
  const tickets = await makeTicket(api, { ...common, ...of, ...within, subject: name, type: 'task', dueAt })
  const bookings = await makeBooking(api, { ...common, ...of, ...within, title: name })
  const keys = await makeKey(api, { name })
  await api.delete(`/v1/api-keys/${(await makeKey(api, { name })).id}`)
  const [delivery] = await deliveriesOf(api, webhook.id)
  const recovery = await api.post(`/v1/webhooks/${webhook.id}/recover`, { since: webhook.createdAt })
  const made = { teammates, customers, conversations, messages, notes, tickets, bookings }
  return {
    api,
    ids: {
      ...Object.fromEntries(Object.entries(made).map(([plural, { id }]) => [plural, id])),
      webhooks: webhook.id,
      'api-keys': keys.id,
      'console-links': (await api.post('/v1/console-links', { scopes: ['customers:read'] })).json.id,
      deliveryId: delivery.id,
      eventId: delivery.eventId,
      recoveryId: recovery.json.id,
    },
  }
}

/** What a request takes beside its address, where `{}` will not do: a route without a word here is asked with `{}`. */
const bodies: Readonly<Record<string, (ids: Organization['ids']) => object>> = {
  'POST /v1/webhooks/:id/recover': () => ({ since: new Date().toISOString() }),
  'POST /v1/conversations/:id/summarize': () => ({ summary: 's' }),
  'POST /v1/bookings/:id/cancel': () => ({ by: 'system' }),
  'POST /v1/bookings/:id/reschedule': () => ({
    startAt: '2027-01-01T00:00:00Z',
    endAt: '2027-01-01T01:00:00Z',
  }),
}

function send(
  api: Api,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  if (method === 'POST') return api.post(path, body, headers)
  if (method === 'PATCH') return api.patch(path, body, headers)
  if (method === 'DELETE') return api.delete(path, headers)
  if (method === 'GET' || method === 'HEAD') return api.get(path, headers)
  throw new Error(`how is ${method} ${path} asked?`)
}

/** Every route below /v1 as the server has it. */
const routes = () =>
  [...service.app.routes].flatMap(([url, methods]) =>
    url.startsWith('/v1/') ? [...methods].map((method) => ({ method, url })) : [],
  )

/** What reads all of an address that is no list like the others. */
const queries: Readonly<Record<string, string>> = {
  '/v1/organization': '',
  '/v1/api-keys/self': '',
  '/v1/stats': '?step=1d',
  '/v1/inbox/counts': '',
  '/v1/changes': '?limit=100&updatedAfter=1970-01-01T00:00:00Z',
}

/** All of an organization that can be read, in the bytes that it is read in. */
async function everythingOf({ api, ids }: Organization): Promise<string> {
  const lists = routes().filter(({ method, url }) => method === 'GET' && !url.includes(':'))
  const paths = lists.map(
    ({ url }) => `${url}${queries[url] ?? (/\/(export|digests)$/.test(url) ? '' : '?limit=100')}`,
  )
  paths.push(`/v1/webhooks/${ids.webhooks}/deliveries`)
  const answers = await Promise.all(paths.map((path) => api.get(path)))
  for (const { status, text } of answers) expect({ status, text }).toMatchObject({ status: 200 })
  // When a key was last used is about who asks.
  return answers.map(({ text }) => text.replaceAll(/"lastUsedAt":("[^"]*"|null)/g, '')).join('\n')
}

/** The addresses of a route with at least one id that is not ours: theirs, nobody's, or none; ours are the others in turn. */
function strangeAddresses(url: string): string[] {
  const [, , collection = ''] = url.split('/')
  const idsOf = (name: string) => {
    const key = name === ':id' ? collection : name.slice(1)
    const pair = [ours.ids[key], theirs.ids[key]]
    if (pair.includes(undefined)) throw new Error(`there is no ${key} for ${url}: say what its ids are`)
    return [...pair, nilUuid.replace('-0000-', '-7000-'), 'x'] as string[]
  }
  let addresses: { path: string; strange: boolean }[] = [{ path: '', strange: false }]
  for (const part of url.split('/').slice(1)) {
    const choices = part.startsWith(':') ? idsOf(part) : [part, null]
    addresses = addresses.flatMap(({ path, strange }) =>
      choices.flatMap((choice, n) =>
        choice === null
          ? []
          : [{ path: `${path}/${choice}`, strange: strange || (part.startsWith(':') && n > 0) }],
      ),
    )
  }
  return addresses.filter(({ strange }) => strange).map(({ path }) => path)
}

test('an id of theirs or of nobody in an address is 404 on every route, and nothing of theirs changes', async () => {
  const before = await everythingOf(theirs)
  let asked = 0
  for (const { method, url } of routes().filter((route) => route.url.includes(':'))) {
    for (const path of strangeAddresses(url)) {
      const body =
        method === 'GET' || method === 'DELETE' ? undefined : bodies[`${method} ${url}`]?.(ours.ids)
      const { status, text } = await send(
        ours.api,
        method,
        path,
        body ?? (method === 'PATCH' ? {} : undefined),
      )
      expect({ method, url, path, status, text: text.slice(0, 300) }).toMatchObject({ status: 404 })
      expect(text).not.toContain(marker)
      asked++
    }
  }
  expect(asked).toBeGreaterThan(45)
  expect(await everythingOf(theirs)).toBe(before)
})

/** A body that creates an object of each kind. */
const creation: Readonly<Record<string, (ids: Organization['ids']) => Readonly<Record<string, unknown>>>> = {
  teammates: () => ({ name: 'Ada' }),
  customers: () => ({ name: 'Ada' }),
  conversations: ({ customers }) => ({ customerId: customers, channel: 'chat' }),
  messages: ({ conversations, teammates }) => ({
    conversationId: conversations,
    direction: 'outbound',
    author: { type: 'teammate', id: teammates },
    body: 'b',
  }),
  notes: ({ conversations, teammates }) => ({
    conversationId: conversations,
    author: { type: 'teammate', id: teammates },
    body: 'b',
  }),
  tickets: ({ customers }) => ({ customerId: customers, subject: 's' }),
  bookings: ({ customers }) => ({
    customerId: customers,
    title: 't',
    timezone: 'UTC',
    startAt: '2027-01-01T00:00:00Z',
    endAt: '2027-01-01T01:00:00Z',
  }),
}

/** The fields through which clients refer to other objects. */
const references = kinds.flatMap(({ plural, fields, fieldNames }) =>
  fieldNames.flatMap((field) => {
    const { reference, access } = fields[field]!
    const target = kinds.find(({ name }) => name === reference?.kind)?.plural
    if (reference === null || target === undefined || access === 'read') return []
    return [{ plural, field, within: reference.within ?? '', target, changeable: access === 'write' }]
  }),
)

test('an id of theirs in a body is an unknown reference, at creation, in a change and in a batch', async () => {
  expect(references.length).toBeGreaterThanOrEqual(10)
  for (const { plural, field, within, target, changeable } of references) {
    const id = theirs.ids[target]
    const value = within === '' ? id : { type: 'teammate', id }
    const body = { ...creation[plural]!(ours.ids), [field]: value }
    const unknown = [{ pointer: `/${field}${within}`, code: 'unknown_reference', detail: expect.any(String) }]
    const before = (await ours.api.get(`/v1/${plural}?limit=100`)).text
    const posted = await ours.api.post(`/v1/${plural}`, body)
    expect({ plural, field, status: posted.status, errors: posted.json.errors }).toEqual({
      plural,
      field,
      status: 422,
      errors: unknown,
    })
    const batch = await ours.api.post(`/v1/${plural}/batch`, { items: [body] })
    expect({ plural, field, item: batch.json.data[0] }).toMatchObject({
      plural,
      field,
      item: { status: 422, problem: { errors: unknown } },
    })
    if (changeable) {
      const patched = await ours.api.patch(`/v1/${plural}/${ours.ids[plural]}`, { [field]: id })
      expect({ plural, field, errors: patched.json.errors }).toEqual({ plural, field, errors: unknown })
    }
    expect((await ours.api.get(`/v1/${plural}?limit=100`)).text).toBe(before)
    // The same with an id of ours goes through, so that the refusals above are about the id.
    const own = within === '' ? ours.ids[target] : { type: 'teammate', id: ours.ids[target] }
    expect((await ours.api.post(`/v1/${plural}`, { ...body, [field]: own })).status).toBe(201)
  }
})

test('no filter of any list finds what is theirs, whatever it looks for', async () => {
  const document = (await service.api.get('/openapi.json')).json
  let asked = 0
  for (const { url } of routes().filter(({ method, url }) => method === 'GET' && !url.includes(':'))) {
    const resolved = (parameter: { $ref?: string }) =>
      parameter.$ref === undefined
        ? parameter
        : document.components.parameters[parameter.$ref.split('/').at(-1) ?? '']
    const parameters = document.paths[url].get.parameters.map(resolved)
    for (const { name, in: place } of parameters) {
      if (place !== 'query') continue
      if (['limit', 'offset', 'cursor', 'updatedAfter', 'wait', 'session'].includes(name)) continue
      // The id of a row to begin after: the next test.
      if (['after', 'afterSince'].includes(name) && !url.endsWith('/digests')) continue
      const { text, json, status } = await ours.api.get(
        `${url}?${name}=${encodeURIComponent(valueFor(url, name))}`,
      )
      expect({ url, name, status, text: status === 200 ? '' : text }).toMatchObject({ status: 200, text: '' })
      expect(text).not.toContain(marker)
      expect(text).not.toContain(theirs.api.organizationId)
      if (
        ['ids', 'q', 'tag', 'customAttribute', 'externalId', 'email', 'phone'].includes(name) ||
        name.endsWith('Id')
      )
        expect({ url, name, found: json.pagination?.total ?? json.assigned }).toEqual({ url, name, found: 0 })
      asked++
    }
  }
  expect(asked).toBeGreaterThan(40)
})

test('no list begins after a row of theirs: it is refused like an id that nobody has', async () => {
  const nobody = '01980000-0000-7000-8000-000000000000'
  const lists = kinds.map(({ plural }) => [`/v1/${plural}`, theirs.ids[plural]!] as const)
  for (const [url, id] of [...lists, ['/v1/inbox', theirs.ids.conversations!] as const]) {
    const after = (row: string) => ours.api.get(`${url}?after=${row}`)
    const [{ status, json }, none] = await Promise.all([after(id), after(nobody)])
    expect({ url, status, detail: json.detail.replace(id, nobody) }).toEqual({
      url,
      status: 400,
      detail: none.json.detail,
    })
  }
})

/** What would find an object of theirs, if it could be found. */
function valueFor(url: string, name: string): string {
  const known: Record<string, string> = {
    ids: Object.values(theirs.ids).join(','),
    q: marker,
    tag: marker,
    externalId: marker,
    email: `${marker}@example.com`,
    phone: '+4911111111',
    active: 'true',
    awaitingReply: 'true',
    channel: 'email',
    handledBy: 'human',
    customAttribute: `name:${marker}`,
    direction: 'inbound',
    number: '1',
    priority: 'normal',
    type: 'task',
    status:
      { conversations: 'open', inbox: 'open', tickets: 'open', bookings: 'pending', deliveries: 'pending' }[
        url.split('/')[2] ?? ''
      ] ?? 'active',
    eventType: 'customer.created',
    eventId: theirs.ids.eventId!,
    overdue: 'true',
    revoked: 'true',
    types: 'customer.created',
    subject: theirs.ids.customers!,
    include: 'actor',
    webhookId: theirs.ids.webhooks!,
    from: new Date(Date.now() - 3_600_000).toISOString(),
    to: '2000-01-02T00:00:00Z',
    step: '1d',
    customerId: theirs.ids.customers!,
    conversationId: theirs.ids.conversations!,
    assigneeId: theirs.ids.teammates!,
  }
  if (url.endsWith('/digests')) return { parts: '1', idsUpTo: '100', after: nilUuid }[name] ?? highestId
  const value = name.endsWith('After')
    ? '2000-01-01T00:00:00Z'
    : name.endsWith('Before')
      ? '2100-01-01T00:00:00Z'
      : known[name]
  if (value === undefined) throw new Error(`what would find something by ${name} on ${url}?`)
  return value
}

test('a cursor of theirs is refused by every list, and so is one of another list', async () => {
  const lists = [...kinds.map(({ plural }) => plural), 'changes']
  for (const list of lists) {
    const start = 'updatedAfter=1970-01-01T00:00:00Z'
    const { nextCursor } = (await theirs.api.get(`/v1/${list}?${start}`)).json.pagination
    for (const other of lists) {
      const { status, json } = await ours.api.get(`/v1/${other}?cursor=${nextCursor}`)
      expect({ list, other, status, code: json.code }).toEqual({
        list,
        other,
        status: 400,
        code: 'invalid_cursor',
      })
    }
  }
})

test('lists, syncs and exports of ours hold nothing of theirs', async () => {
  const all = await everythingOf(ours)
  const syncs = await Promise.all(
    kinds.map(({ plural }) => ours.api.get(`/v1/${plural}?updatedAfter=1970-01-01T00:00:00Z`)),
  )
  for (const text of [all, ...syncs.map(({ text }) => text)]) {
    expect(text).toContain(ours.api.organizationId)
    expect(text).not.toContain(marker)
    expect(text).not.toContain(theirs.api.organizationId)
  }
})

test('unique values and Idempotency-Keys of theirs are free for us, and an upsert reaches ours alone', async () => {
  const key = { 'idempotency-key': 'shared' }
  const customer = { name: 'Ada', externalId: 'shared', email: 'shared@example.com' }
  const first = await theirs.api.post('/v1/customers', customer, key)
  const second = await ours.api.post('/v1/customers', customer, key)
  expect([first.status, second.status]).toEqual([201, 201])
  expect(second.json.id).not.toBe(first.json.id)
  expect(second.headers.get('idempotent-replayed')).toBeNull()
  const upsert = { operation: 'upsert', items: [{ ...customer, name: 'Changed by us' }] }
  const upserted = await ours.api.post('/v1/customers/batch', upsert)
  expect(upserted.json.data[0]).toMatchObject({ outcome: 'updated' })
  expect((await theirs.api.get(`/v1/customers/${first.json.id}`)).text).toBe(first.text)
})
