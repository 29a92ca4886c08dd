import { describe, expect, test } from 'vitest'
import { makeCustomer, makeTeammate, makeTicket } from '../../../testbed/desk.ts'
import type { Answer } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'

const shared = sharedService()
const unknown = '01980000-0000-7000-8000-000000000000'

function expectUnknown(answer: Answer, pointer: string): void {
  expect(answer.status).toBe(422)
  expect(answer.json).toMatchObject({
    code: 'validation_failed',
    errors: [{ pointer, code: 'unknown_reference', detail: expect.stringMatching(/\S/) }],
  })
}

describe('a ticket refers to what exists', () => {
  test('an unknown customer, conversation or assignee is 422 at that field, and nothing is made', async () => {
    const api = await shared().newOrganization()
    const { id: customerId } = await makeCustomer(api)
    const post = (body: object) => api.post('/v1/tickets', { customerId, subject: 's', ...body })
    expectUnknown(await post({ customerId: unknown }), '/customerId')
    expectUnknown(await post({ conversationId: unknown }), '/conversationId')
    expectUnknown(await post({ assigneeId: unknown }), '/assigneeId')
    // An id of another kind is as unknown as any.
    expectUnknown(await post({ assigneeId: customerId }), '/assigneeId')
    expect((await api.get('/v1/tickets')).json.pagination.total).toBe(0)
    expect(await storedEvents(shared(), api.organizationId)).toHaveLength(1)
  })

  test('so is a customer that was deleted', async () => {
    const api = await shared().newOrganization()
    const { id: customerId } = await makeCustomer(api)
    await api.delete(`/v1/customers/${customerId}`)
    expectUnknown(await api.post('/v1/tickets', { customerId, subject: 's' }), '/customerId')
  })

  test('a ticket that arrives while its customer is deleted is refused or goes with it: none is left over', async () => {
    const api = await shared().newOrganization()
    for (let round = 0; round < 5; round++) {
      const { id: customerId } = await makeCustomer(api)
      const [deleted, ...posted] = await Promise.all([
        api.delete(`/v1/customers/${customerId}`),
        ...Array.from({ length: 6 }, () => api.post('/v1/tickets', { customerId, subject: 's' })),
      ])
      expect(deleted.status).toBe(204)
      for (const answer of posted) {
        if (answer.status === 201) expect((await api.get(`/v1/tickets/${answer.json.id}`)).status).toBe(404)
        else expectUnknown(answer, '/customerId')
      }
    }
    expect((await api.get('/v1/tickets')).json).toMatchObject({ data: [], pagination: { total: 0 } })
  })
})

describe('an inactive teammate', () => {
  test('cannot be assigned', async () => {
    const api = await shared().newOrganization()
    const { id: assigneeId } = await makeTeammate(api, { name: 'a', active: false })
    const ticket = await makeTicket(api)
    expectUnknown(await api.patch(`/v1/tickets/${ticket.id}`, { assigneeId }), '/assigneeId')
    expectUnknown(
      await api.post('/v1/tickets', { customerId: ticket.customerId, subject: 's', assigneeId }),
      '/assigneeId',
    )
  })

  test('who is assigned already stands in the way of no other change', async () => {
    const api = await shared().newOrganization()
    const { id: assigneeId } = await makeTeammate(api)
    const ticket = await makeTicket(api, { assigneeId })
    expect((await api.patch(`/v1/teammates/${assigneeId}`, { active: false })).status).toBe(200)
    const path = `/v1/tickets/${ticket.id}`
    expect((await api.patch(path, { subject: 'other' })).json).toMatchObject({ subject: 'other', assigneeId })
    expect((await api.patch(path, { subject: 'third', assigneeId })).status).toBe(200)
    // Once unassigned, there is no way back.
    expect((await api.patch(path, { assigneeId: null })).json.assigneeId).toBeNull()
    expectUnknown(await api.patch(path, { assigneeId }), '/assigneeId')
  })

  test('can be assigned once active again', async () => {
    const api = await shared().newOrganization()
    const { id: assigneeId } = await makeTeammate(api, { name: 'a', active: false })
    await api.patch(`/v1/teammates/${assigneeId}`, { active: true })
    expect(await makeTicket(api, { assigneeId })).toMatchObject({ assigneeId, status: 'open' })
  })
})
