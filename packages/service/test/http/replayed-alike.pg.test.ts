/**
 * A POST that is repeated under its Idempotency-Key is answered as the first time and changes nothing, whatever became of
 * its object since: on every POST route that the server has, where something was changed and where there was nothing to.
 */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer } from '../../../testbed/desk.ts'
import { testEngine } from '../../../testbed/engine.ts'
import { deliveriesOf, hour, makeWebhook, receiverUrl } from '../../../testbed/hooks.ts'
import { makeKey } from '../../../testbed/keys.ts'
import { lockRow, waitingBackends } from '../../../testbed/locks.ts'
import type { Answer, Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { kinds } from '../../src/desk/index.ts'
import { type Desk, newObject, unchangedDesk } from './writable.fixture.ts'

const clock = testClock()
const shared = sharedService({ clock })

/** A request, and what a colleague does after it so that the same request would do something, or fail, by now. */
interface Recipe {
  readonly path: string
  readonly body?: unknown
  readonly undo: () => Promise<unknown>
}

type Prepare = (api: Api, desk: Desk) => Promise<Recipe>

const times = { startAt: '2027-01-01T00:00:00.000Z', endAt: '2027-01-01T01:00:00.000Z' }
const later = { startAt: '2027-02-01T00:00:00.000Z', endAt: '2027-02-01T01:00:00.000Z' }
const past = { startAt: '2020-01-01T00:00:00.000Z', endAt: '2020-01-01T01:00:00.000Z' }

async function must(answer: Promise<Answer>): Promise<Answer> {
  const { status, text } = await answer
  if (status >= 300) throw new Error(`${status} ${text}`)
  return answer
}

/** By the route as the server has it; where there is more than one, with a title behind it. */
const recipes: Record<string, Prepare> = {}

for (const kind of kinds) {
  const path = `/v1/${kind.plural}`
  const create = `POST ${path}`
  recipes[create] = async (api, desk) => ({
    path,
    body: newObject(kind, desk, 'once'),
    async undo() {
      const { data } = (await api.get(path)).json
      const one = `${path}/${data[0].id}`
      if (kind.removedEvent !== null) await must(api.delete(one))
      else if (!kind.immutable)
        await must(api.patch(one, kind.fields.email === undefined ? { externalId: null } : { email: null }))
    },
  })
  recipes[`${create}/batch: all of it refused`] = async (api, desk) => {
    const body = newObject(kind, desk, 'refused')
    const [field] = Object.keys(body)
    const unique = kind.table.unique[0]?.field
    if (unique === undefined)
      return { path: `${path}/batch`, body: { items: [{ ...body, [field!]: 7 }] }, undo: async () => {} }
    const { id } = (await must(api.post(path, body))).json
    return {
      path: `${path}/batch`,
      body: { items: [body] },
      undo: () =>
        must(
          kind.immutable
            ? api.delete(`${path}/${id}`)
            : api.patch(`${path}/${id}`, { externalId: undefined, email: undefined, [unique]: null }),
        ),
    }
  }
  if (kind.immutable || kind.fields.externalId === undefined) continue
  recipes[`${create}/batch: nothing to change`] = async (api, desk) => {
    const body = newObject(kind, desk, 'upserted')
    const { id } = (await must(api.post(path, body))).json
    return {
      path: `${path}/batch`,
      body: { operation: 'upsert', items: [{ ...body, tags: [] }] },
      undo: () => must(api.patch(`${path}/${id}`, { tags: ['of a colleague'] })),
    }
  }
}

/** An action on a conversation, and the calls before and after it. */
function onConversation(
  action: string,
  { before = [], after, body }: { before?: readonly string[]; after: string; body?: object },
  state: object = {},
): void {
  const [name = ''] = action.split(':')
  recipes[`POST /v1/conversations/:id/${action}`] = async (api, { customerId }) => {
    const { id } = (await must(api.post('/v1/conversations', { customerId, channel: 'chat', ...state }))).json
    const path = `/v1/conversations/${id}`
    const act = (call: string) =>
      must(api.post(`${path}/${call}`, call === 'summarize' ? { summary: 'theirs' } : {}))
    for (const call of before) await act(call)
    if (name === 'summarize' && action !== name) await must(api.post(`${path}/summarize`, body))
    return { path: `${path}/${name}`, ...(body === undefined ? {} : { body }), undo: () => act(after) }
  }
}
onConversation('escalate', { after: 'resolve' }, { handledBy: 'ai' })
onConversation('resolve', { after: 'reopen' })
onConversation('reopen', { before: ['resolve'], after: 'resolve' })
onConversation('summarize', { before: ['resolve'], after: 'summarize', body: { summary: 'ours' } })
onConversation('summarize: nothing to change', {
  before: ['resolve'],
  after: 'summarize',
  body: { summary: 'ours' },
})

/** An action on a booking, and the calls before and after it. */
function onBooking(
  action: string,
  {
    before = [],
    after,
    body,
  }: { before?: readonly string[]; after: readonly [string, object?]; body?: object },
  state: object = times,
): void {
  const [name = ''] = action.split(':')
  recipes[`POST /v1/bookings/:id/${action}`] = async (api, { customerId }) => {
    const booking = { customerId, title: 't', timezone: 'UTC', ...state }
    const { id } = (await must(api.post('/v1/bookings', booking))).json
    const act = (call: string, sent: object = {}) => must(api.post(`/v1/bookings/${id}/${call}`, sent))
    for (const call of before) await act(call)
    return {
      path: `/v1/bookings/${id}/${name}`,
      ...(body === undefined ? {} : { body }),
      undo: () => act(...after),
    }
  }
}
recipes['POST /v1/customers/:id/erase'] = async (api) => {
  const { id } = (await must(api.post('/v1/customers', { name: 'Gone' }))).json
  return { path: `/v1/customers/${id}/erase`, undo: () => must(api.post('/v1/customers', { name: 'Other' })) }
}
onBooking('confirm', { after: ['cancel', { by: 'system' }] })
recipes['POST /v1/bookings/:id/reject'] = async (api, { customerId }) => {
  const { id } = (await must(api.post('/v1/bookings', { customerId, title: 't', timezone: 'UTC', ...times })))
    .json
  return {
    path: `/v1/bookings/${id}/reject`,
    undo: () => must(api.patch(`/v1/bookings/${id}`, { title: 'other' })),
  }
}
recipes['POST /v1/bookings/:id/cancel'] = async (api, { customerId }) => {
  const { id } = (await must(api.post('/v1/bookings', { customerId, title: 't', timezone: 'UTC', ...times })))
    .json
  return {
    path: `/v1/bookings/${id}/cancel`,
    body: { by: 'customer' },
    undo: () => must(api.patch(`/v1/bookings/${id}`, { title: 'other' })),
  }
}
onBooking('reschedule', { after: ['reschedule', times], body: later })
onBooking('reschedule: nothing to change', { after: ['reschedule', later], body: times })
onBooking('complete', { before: ['confirm'], after: ['no-show'] }, past)
onBooking('no-show', { before: ['confirm'], after: ['complete'] }, past)

recipes['POST /v1/webhooks'] = async (api) => ({
  path: '/v1/webhooks',
  body: { url: receiverUrl, events: ['customer.created'] },
  async undo() {
    const { data } = (await api.get('/v1/webhooks')).json
    await must(api.delete(`/v1/webhooks/${data[0].id}`))
  },
})
const onWebhook = (name: string, body: (api: Api) => Promise<object | undefined>): void => {
  recipes[`POST /v1/webhooks/:id/${name}`] = async (api) => {
    const { id } = await makeWebhook(api)
    const sent = await body(api)
    return {
      path: `/v1/webhooks/${id}/${name}`,
      ...(sent === undefined ? {} : { body: sent }),
      undo: () => must(api.patch(`/v1/webhooks/${id}`, { description: 'other', status: 'disabled' })),
    }
  }
}
onWebhook('rotate-secret', async () => undefined)
onWebhook('ping', async () => undefined)
onWebhook('retry-now', async () => undefined)
onWebhook('recover', async () => ({ since: new Date(clock.now() - hour).toISOString() }))
recipes['POST /v1/webhooks/:id/deliveries/:deliveryId/retry'] = async (api) => {
  const { engine, answer } = testEngine(shared(), clock)
  answer(500)
  const webhook = await makeWebhook(api)
  await makeCustomer(api)
  for (let n = 0; n < 6; n++) {
    await engine.runDue()
    clock.advance(8 * hour)
  }
  const [delivery] = await deliveriesOf(api, webhook.id)
  expect(delivery.status).toBe('failed')
  return {
    path: `/v1/webhooks/${webhook.id}/deliveries/${delivery.id}/retry`,
    async undo() {
      answer(500)
      for (let n = 0; n < 6; n++) {
        await engine.runDue()
        clock.advance(2 * hour)
      }
      await must(api.patch(`/v1/webhooks/${webhook.id}`, { status: 'disabled' }))
    },
  }
}
recipes['POST /v1/webhooks/:id/deliveries/:deliveryId/resend'] = async (api) => {
  const { engine, answer } = testEngine(shared(), clock)
  answer(200)
  const webhook = await makeWebhook(api)
  await makeCustomer(api)
  await engine.runDue()
  const [delivery] = await deliveriesOf(api, webhook.id)
  expect(delivery.status).toBe('succeeded')
  return {
    path: `/v1/webhooks/${webhook.id}/deliveries/${delivery.id}/resend`,
    async undo() {
      await engine.runDue()
      await must(api.patch(`/v1/webhooks/${webhook.id}`, { status: 'disabled' }))
    },
  }
}
recipes['POST /v1/api-keys'] = async (api) => ({
  path: '/v1/api-keys',
  body: { name: 'Once', scopes: ['customers:read'] },
  async undo() {
    const { data } = (await api.get('/v1/api-keys')).json
    await must(api.patch(`/v1/api-keys/${data[0].id}`, { name: 'Other' }))
  },
})
recipes['POST /v1/api-keys/:id/rotate'] = async (api) => {
  const { id } = await makeKey(api)
  return {
    path: `/v1/api-keys/${id}/rotate`,
    undo: () => must(api.delete(`/v1/api-keys/${id}/previous-token`)),
  }
}

recipes['POST /v1/console-links'] = async () => ({
  path: '/v1/console-links',
  body: { scopes: ['customers:read'] },
  undo: async () => {},
})

/** What can be done once is no matter of keys: a second exchange finds no link. */
const exceptions = ['POST /v1/console-links/exchange']

/** All that an organization has, read by itself: its stream, its endpoints with their logs, its keys. */
async function everythingOf(api: Api): Promise<string> {
  const webhooks = (await api.get('/v1/webhooks')).json.data as { id: string }[]
  const paths = [
    '/v1/changes?limit=100&updatedAfter=2000-01-01T00:00:00Z',
    '/v1/webhooks',
    '/v1/api-keys',
    ...webhooks.flatMap(({ id }) => [`/v1/webhooks/${id}/deliveries`, `/v1/webhooks/${id}/recoveries`]),
  ]
  const answers = await Promise.all(paths.map((path) => api.get(path)))
  for (const { status, text } of answers) expect({ status, text }).toMatchObject({ status: 200 })
  return answers.map(({ text }) => text.replaceAll(/"lastUsedAt":("[^"]*"|null)/g, '')).join('\n')
}

test('every POST route that the server has is tried here', () => {
  const posts = [...shared().app.routes].flatMap(([url, methods]) =>
    methods.has('POST') && !exceptions.includes(`POST ${url}`) ? [`POST ${url}`] : [],
  )
  expect([...new Set(Object.keys(recipes).map((title) => title.split(': ')[0]))].sort()).toEqual(posts.sort())
})

describe('asked again after a colleague has changed what it is about', () => {
  test.each(Object.entries(recipes))('%s answers alike, and changes nothing', async (_title, prepare) => {
    const api = await shared().newOrganization()
    const { path, body, undo } = await prepare(api, await unchangedDesk(api, 'Ada'))
    const headers = { 'idempotency-key': randomUUID() }
    const first = await api.post(path, body, headers)
    expect({ status: first.status, text: first.text }).toMatchObject({
      status: expect.toBeOneOf([200, 201, 202]),
    })
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    await undo()
    const before = await everythingOf(api)
    const second = await api.post(path, body, headers)
    expect({ status: second.status, text: second.text }).toEqual({ status: first.status, text: first.text })
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    for (const name of ['etag', 'location']) expect(second.headers.get(name)).toBe(first.headers.get(name))
    expect(await everythingOf(api)).toBe(before)
    const other = await api.post(path, { other: 'body' }, headers)
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused'])
  })
})

describe('twins of which one finds nothing to change', () => {
  let api: Api
  let id: string
  beforeAll(async () => {
    api = await shared().newOrganization()
    const { customerId } = await unchangedDesk(api, 'Ada')
    id = (await must(api.post('/v1/bookings', { customerId, title: 't', timezone: 'UTC', ...times }))).json.id
  })
  const reschedule = (to: object, headers = {}) => api.post(`/v1/bookings/${id}/reschedule`, to, headers)

  test('are one answer, though a colleague changes the object between them', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const lock = await lockRow(shared().database, 'organization_clocks', api)
    // It has found nothing to change, and is about to keep its answer.
    const first = reschedule(times, headers)
    await waitingBackends(shared().database, 1)
    const colleague = reschedule(later)
    await waitingBackends(shared().database, 2)
    // This one waits behind the colleague's change, and would make one.
    const second = reschedule(times, headers)
    await lock.release()
    const answers = await Promise.all([first, second])
    expect((await colleague).json.startAt).toBe(later.startAt)
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]?.json.startAt).toBe(times.startAt)
    expect((await api.get(`/v1/bookings/${id}`)).json.startAt).toBe(later.startAt)
  })

  test('that come at once keep one answer', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const twins = await Promise.all(Array.from({ length: 6 }, () => reschedule(later, headers)))
    expect(new Set(twins.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(twins.filter(({ headers: sent }) => sent.get('idempotent-replayed') === null)).toHaveLength(1)
  })
})

test('a refusal is not kept: what a colleague makes possible goes through', async () => {
  const api = await shared().newOrganization()
  const { customerId } = await unchangedDesk(api, 'Ada')
  const { id } = (await must(api.post('/v1/conversations', { customerId, channel: 'chat' }))).json
  const headers = { 'idempotency-key': randomUUID() }
  const reopen = () => api.post(`/v1/conversations/${id}/reopen`, undefined, headers)
  expect((await reopen()).status).toBe(409)
  await must(api.post(`/v1/conversations/${id}/resolve`, undefined))
  expect((await reopen()).json.status).toBe('open')
})
