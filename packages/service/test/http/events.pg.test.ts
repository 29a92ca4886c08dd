import { describe, expect, test } from 'vitest'
import { makeCustomer, makeTeammate, makeTicket } from '../../../testbed/desk.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { lastStamp, storedEvents } from '../../../testbed/stored.ts'

const shared = sharedService()

const types = async (organizationId: string, subjectId: string) =>
  (await storedEvents(shared(), organizationId, subjectId)).map(({ type }) => type).sort()

describe('a change and its event are one', () => {
  test('every change of a customer emits its event with the bytes that GET answers', async () => {
    const api = await shared().newOrganization()
    const { id } = await makeCustomer(api)
    const path = `/v1/customers/${id}`
    const versions = [await api.get(path)]
    await api.patch(path, { company: 'Engines', customAttributes: { plan: 'pro' } })
    versions.push(await api.get(path))
    const events = await storedEvents(shared(), api.organizationId)
    expect(events.map(({ type }) => type)).toEqual(['customer.created', 'customer.updated'])
    expect(events.map(({ body }) => body)).toEqual(versions.map(({ text }) => text))
    expect(events.map(({ createdAt }) => createdAt)).toEqual(versions.map(({ json }) => json.updatedAt))
  })

  test.each([
    ['a subject', {}, { subject: 'x' }, ['ticket.updated']],
    ['a status', {}, { status: 'pending' }, ['ticket.status_changed', 'ticket.updated']],
    ['an assignee', { status: 'open' }, { assigneeId: 'teammate' }, ['ticket.assigned', 'ticket.updated']],
    [
      'an assignee of a new ticket',
      {},
      { assigneeId: 'teammate' },
      ['ticket.assigned', 'ticket.status_changed', 'ticket.updated'],
    ],
  ])(
    'a PATCH of %s emits its events, all with the bytes that GET answers',
    async (_title, start, patch, expected) => {
      const api = await shared().newOrganization()
      const { id: teammate } = await makeTeammate(api)
      const { id } = await makeTicket(api, start)
      expect(await types(api.organizationId, id)).toEqual(['ticket.created'])
      const answer = await api.patch(
        `/v1/tickets/${id}`,
        'assigneeId' in patch ? { assigneeId: teammate } : patch,
      )
      expect(answer.status).toBe(200)
      const events = (await storedEvents(shared(), api.organizationId, id)).filter(
        ({ type }) => type !== 'ticket.created',
      )
      expect(events.map(({ type }) => type).sort()).toEqual(expected)
      expect(new Set(events.map(({ body }) => body))).toEqual(
        new Set([(await api.get(`/v1/tickets/${id}`)).text]),
      )
      // The bytes are stored once for each of the two changes.
      const { rows } = await shared().database.pool.query(
        'select 1 from events e where e.subject_id = $1 and e.body is not null',
        [id],
      )
      expect(rows).toHaveLength(2)
    },
  )

  test('unassigning emits ticket.updated alone', async () => {
    const api = await shared().newOrganization()
    const { id } = await makeTicket(api, { assigneeId: (await makeTeammate(api)).id })
    await api.patch(`/v1/tickets/${id}`, { assigneeId: null })
    expect(await types(api.organizationId, id)).toEqual(['ticket.created', 'ticket.updated'])
  })

  test('a refused change emits nothing and moves no clock', async () => {
    const api = await shared().newOrganization()
    const { id } = await makeTicket(api, { status: 'closed' })
    await makeCustomer(api, { email: 'a@example.com' })
    const before = [
      await lastStamp(shared(), api.organizationId),
      await storedEvents(shared(), api.organizationId),
    ]
    expect((await api.patch(`/v1/tickets/${id}`, { status: 'open' })).json.code).toBe('invalid_transition')
    expect((await api.patch(`/v1/tickets/${id}`, { description: 'x' })).json.code).toBe('ticket_closed')
    expect((await api.post('/v1/customers', { email: 'a@example.com' })).json.code).toBe('duplicate')
    expect((await api.post('/v1/tickets', { customerId: id, subject: 's' })).status).toBe(422)
    expect([
      await lastStamp(shared(), api.organizationId),
      await storedEvents(shared(), api.organizationId),
    ]).toEqual(before)
  })
})

describe('a PATCH that changes no value', () => {
  test('stamps nothing, emits nothing and answers with the object as it was', async () => {
    const api = await shared().newOrganization()
    const { id: assigneeId } = await makeTeammate(api)
    const { id } = await makeTicket(api, {
      assigneeId,
      dueAt: '2026-05-01T00:00:00Z',
      tags: ['a', 'b'],
      customAttributes: { a: 1, b: 'x' },
    })
    const before = await api.get(`/v1/tickets/${id}`)
    const clock = await lastStamp(shared(), api.organizationId)
    for (const patch of [
      {},
      { subject: 'Help' },
      { assigneeId },
      { assigneeId: assigneeId.toUpperCase() },
      { status: 'open', priority: 'normal', type: null },
      { dueAt: '2026-05-01T02:00:00+02:00' },
      { tags: ['a', 'b', 'a'] },
      { customAttributes: {} },
      { customAttributes: { b: 'x', none: null } },
    ]) {
      const answer = await api.patch(`/v1/tickets/${id}`, patch)
      expect(answer.status).toBe(200)
      expect(answer.text).toBe(before.text)
      expect(answer.headers.get('etag')).toBe(before.headers.get('etag'))
    }
    expect(await lastStamp(shared(), api.organizationId)).toBe(clock)
    expect(await types(api.organizationId, id)).toEqual(['ticket.created'])
  })
})

describe('deleting', () => {
  test('a ticket emits ticket.deleted with its removal record, and the record is the same in the stream', async () => {
    const api = await shared().newOrganization()
    const ticket = await makeTicket(api)
    await api.delete(`/v1/tickets/${ticket.id}`)
    const [event, ...more] = (await storedEvents(shared(), api.organizationId, ticket.id)).filter(
      ({ type }) => type === 'ticket.deleted',
    )
    expect(more).toEqual([])
    const record = `{"object":"removed","id":"${ticket.id}","resource":"ticket","removedAt":"${event?.createdAt}"}`
    expect(event?.body).toBe(record)
    const page = await api.get(`/v1/tickets?updatedAfter=${ticket.updatedAt}`)
    expect(page.text.startsWith(`{"data":[${record}],`)).toBe(true)
  })

  test('a customer removes its tickets too: a record and a ticket.deleted each, all at the same time', async () => {
    const api = await shared().newOrganization()
    const customer = await makeCustomer(api)
    const tickets = [
      await makeTicket(api, { customerId: customer.id }),
      await makeTicket(api, { customerId: customer.id }),
    ]
    const other = await makeTicket(api)
    const since = await lastStamp(shared(), api.organizationId)
    expect((await api.delete(`/v1/customers/${customer.id}`)).status).toBe(204)

    const ticketStream = (await api.get(`/v1/tickets?updatedAfter=${since}`)).json
    const customerStream = (await api.get(`/v1/customers?updatedAfter=${since}`)).json
    const [{ removedAt }] = customerStream.data
    expect(customerStream.data).toEqual([
      { object: 'removed', id: customer.id, resource: 'customer', removedAt },
    ])
    const gone = tickets.map(({ id }) => id).sort()
    expect(ticketStream.data).toEqual(
      gone.map((id) => ({ object: 'removed', id, resource: 'ticket', removedAt })),
    )

    const events = (await storedEvents(shared(), api.organizationId)).filter(
      ({ createdAt }) => createdAt > since,
    )
    expect(events.map(({ type, subjectId }) => `${type} ${subjectId}`).sort()).toEqual(
      [...gone.map((id) => `ticket.deleted ${id}`), `customer.deleted ${customer.id}`].sort(),
    )
    const records = [...ticketStream.data, ...customerStream.data].map((record) => JSON.stringify(record))
    expect(events.map(({ body }) => body).sort()).toEqual(records.sort())

    expect((await api.get(`/v1/tickets/${tickets[0].id}`)).status).toBe(404)
    expect((await api.get(`/v1/tickets/${other.id}`)).json).toEqual(other)
    expect((await api.get('/v1/tickets')).json.pagination.total).toBe(1)
  })

  test('a ticket that was deleted before its customer is not removed again', async () => {
    const api = await shared().newOrganization()
    const ticket = await makeTicket(api)
    await api.delete(`/v1/tickets/${ticket.id}`)
    const since = await lastStamp(shared(), api.organizationId)
    expect((await api.delete(`/v1/customers/${ticket.customerId}`)).status).toBe(204)
    expect((await api.get(`/v1/tickets?updatedAfter=${since}`)).json.data).toEqual([])
    expect(await types(api.organizationId, ticket.id)).toEqual(['ticket.created', 'ticket.deleted'])
  })

  test('twice at once is one removal', async () => {
    const api = await shared().newOrganization()
    const { id } = await makeCustomer(api)
    const answers = await Promise.all([1, 2, 3].map(() => api.delete(`/v1/customers/${id}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404])
    expect(await types(api.organizationId, id)).toEqual(['customer.created', 'customer.deleted'])
  })
})
