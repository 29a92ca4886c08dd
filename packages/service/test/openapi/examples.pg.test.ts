/** The document's own examples, sent to the service: they are accepted, and cause the events that it says. */
import { beforeAll, expect, test } from 'vitest'
import type { Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of JSON; a wrong guess fails the test
type Json = any

const shared = sharedService()
let document: Json
let api: Api
let told = 0

beforeAll(async () => {
  document = (await shared().api.get('/openapi.json')).json
})

/** Makes the call with the example of its body, laid over with `more`; answers with the object. */
async function call(operation: string, id: string | null = null, more: object = {}): Promise<Json> {
  const [method = '', path = ''] = operation.split(' ')
  const described = document.paths[path][method]
  const schema = described.requestBody?.content['application/json'].schema.$ref.split('/').at(-1)
  const example = schema === undefined ? undefined : document.components.schemas[schema].examples[0]
  const address = path.replace('{id}', id ?? '')
  const body = example === undefined ? undefined : { ...example, ...more }
  const send = { post: api.post, patch: api.patch, delete: api.delete }[method] as Api['post']
  const answer = await (method === 'delete' ? api.delete(address) : send(address, body))
  expect(Object.keys(described.responses), `${operation}: ${answer.text}`).toContain(String(answer.status))
  expect(answer.status, `${operation}: ${answer.text}`).toBeLessThan(300)
  const events = (await storedEvents(shared(), api.organizationId)).slice(told)
  told += events.length
  const types = [...new Set(events.map(({ type }) => type))]
  expect({ operation, undocumented: types.filter((type) => !described['x-events'].includes(type)) }).toEqual({
    operation,
    undocumented: [],
  })
  return { ...answer.json, events: types.sort() }
}

test('a desk made of examples', async () => {
  api = await shared().newOrganization()
  told = (await storedEvents(shared(), api.organizationId)).length
  expect((await call('post /v1/teammates')).events).toEqual([])
  const customer = await call('post /v1/customers')
  expect(customer.events).toEqual(['customer.created'])
  expect((await call('patch /v1/customers/{id}', customer.id, { name: 'Countess' })).events).toEqual([
    'customer.updated',
  ])
  const customerId = customer.id
  const conversation = await call('post /v1/conversations', null, { customerId, handledBy: 'ai' })
  const ticket = await call('post /v1/tickets', null, { customerId, conversationId: conversation.id })
  const patched = await call('patch /v1/tickets/{id}', ticket.id, { status: 'pending' })
  expect(patched.events).toEqual(['ticket.status_changed', 'ticket.updated'])
  const message = await call('post /v1/messages', null, { conversationId: conversation.id })
  expect(message.events).toEqual(['message.received', 'ticket.status_changed', 'ticket.updated'])
  for (const [action, events] of [
    ['escalate', ['conversation.escalated']],
    ['resolve', ['conversation.resolved']],
    ['summarize', ['conversation.summarized']],
    ['reopen', ['conversation.reopened']],
  ] as const) {
    const moved = await call(`post /v1/conversations/{id}/${action}`, conversation.id)
    expect({ action, events: moved.events }).toEqual({ action, events })
  }
  const removed = await call('delete /v1/customers/{id}', customerId)
  expect(removed.events).toEqual(['customer.deleted', 'ticket.deleted'])
})

test('bookings made of examples, along each of their actions', async () => {
  api = await shared().newOrganization()
  told = (await storedEvents(shared(), api.organizationId)).length
  const { id: customerId } = await call('post /v1/customers')
  const past = { startAt: '2020-01-01T09:00:00.000Z', endAt: '2020-01-01T10:00:00.000Z' }
  const walks = [
    ['confirm', 'reschedule', 'complete', 'no-show'],
    ['reschedule', 'reject'],
    ['confirm', 'cancel'],
  ]
  const actions = Object.keys(document.paths).flatMap(
    (path) => /^\/v1\/bookings\/\{id\}\/([\w-]+)$/.exec(path)?.[1] ?? [],
  )
  expect([...new Set(walks.flat())].sort()).toEqual(actions.sort())
  for (const walk of walks) {
    const { id } = await call('post /v1/bookings', null, { customerId, ...past })
    expect(
      (await call('patch /v1/bookings/{id}', id, { customerId, title: 'Second fitting' })).events,
    ).toEqual([])
    for (const action of walk) {
      // The example of a new time lies where the clock of this machine may not be yet.
      const more =
        action === 'reschedule' ? { startAt: '2020-01-02T09:00:00Z', endAt: '2020-01-02T10:00:00Z' } : {}
      expect((await call(`post /v1/bookings/{id}/${action}`, id, more)).events).toHaveLength(1)
    }
  }
})
