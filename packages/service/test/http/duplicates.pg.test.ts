import { describe, expect, test } from 'vitest'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import type { Answer, Api } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'

const shared = sharedService()

function expectDuplicate(answer: Answer, existingId: string): void {
  expect(answer.status).toBe(409)
  expect(answer.json).toMatchObject({ code: 'duplicate', existingId })
}

/** Each unique value: how an object with it is made, and where its kind lives. */
const unique = [
  ['customer.email', '/v1/customers', { email: 'ada@example.com' }, async () => ({ name: 'a' })],
  ['customer.externalId', '/v1/customers', { externalId: '7' }, async () => ({ name: 'a' })],
  [
    'ticket.externalId',
    '/v1/tickets',
    { externalId: '7' },
    async (api: Api) => ({ subject: 's', customerId: (await makeCustomer(api)).id }),
  ],
] as const

describe.each(unique)('%s', (_title, path, value, rest) => {
  test('is taken once: a creation with it is 409 and names who has it', async () => {
    const api = await shared().newOrganization()
    const first = await api.post(path, { ...(await rest(api)), ...value })
    expect(first.status).toBe(201)
    const body = await rest(api)
    const before = await storedEvents(shared(), api.organizationId)
    expectDuplicate(await api.post(path, { ...body, ...value }), first.json.id)
    expect(await storedEvents(shared(), api.organizationId)).toEqual(before)
    expect((await api.get(path)).json.data).toEqual([first.json])
  })

  test('cannot be taken by a PATCH either, and may be sent by the one that has it', async () => {
    const api = await shared().newOrganization()
    const first = (await api.post(path, { ...(await rest(api)), ...value })).json
    const second = (await api.post(path, await rest(api))).json
    expectDuplicate(await api.patch(`${path}/${second.id}`, value), first.id)
    expect((await api.get(`${path}/${second.id}`)).json).toEqual(second)
    const own = await api.patch(`${path}/${first.id}`, { ...value, tags: ['a'] })
    expect(own.status).toBe(200)
  })

  test('is free again after deletion, and after it was changed or emptied', async () => {
    const api = await shared().newOrganization()
    const [first, second] = [
      (await api.post(path, await rest(api))).json,
      (await api.post(path, await rest(api))).json,
    ]
    expect((await api.patch(`${path}/${first.id}`, value)).status).toBe(200)
    expect((await api.patch(`${path}/${first.id}`, { [Object.keys(value)[0] as string]: null })).status).toBe(
      200,
    )
    expect((await api.patch(`${path}/${second.id}`, value)).status).toBe(200)
    expect((await api.delete(`${path}/${second.id}`)).status).toBe(204)
    expect((await api.post(path, { ...(await rest(api)), ...value })).status).toBe(201)
  })

  test('of many that want it at once exactly one gets it, and the others learn who', async () => {
    const api = await shared().newOrganization()
    const bodies = await Promise.all(Array.from({ length: 8 }, () => rest(api)))
    const answers = await Promise.all(bodies.map((body) => api.post(path, { ...body, ...value })))
    const [winner, ...more] = answers.filter(({ status }) => status === 201)
    expect(more).toEqual([])
    for (const answer of answers) if (answer !== winner) expectDuplicate(answer, winner?.json.id)
  })
})

test('an email is a duplicate in any case', async () => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api, { email: 'ada@example.com' })
  expectDuplicate(await api.post('/v1/customers', { email: 'ADA@Example.com' }), id)
})

test('an email is a duplicate in any form that looks like it, and found by each', async () => {
  const api = await shared().newOrganization()
  const forms = [
    'josé@exämple.com',
    'jose\u0301@exa\u0308mple.com',
    'JOSÉ@XN--exmple-cua.com',
    'josé@ｅxämple。com',
  ]
  const [first = '', ...others] = forms
  const made = await api.post('/v1/customers', { email: others[0] })
  expect(made.json.email).toBe(first)
  const { id } = made.json
  const another = await makeCustomer(api)
  for (const email of forms) {
    expectDuplicate(await api.post('/v1/customers', { email }), id)
    expectDuplicate(await api.patch(`/v1/customers/${another.id}`, { email }), id)
    const batch = await api.post('/v1/customers/batch', { items: [{ email }] })
    expect(batch.json.data).toMatchObject([{ problem: { code: 'duplicate', existingId: id } }])
    const found = await api.get(`/v1/customers?email=${encodeURIComponent(email)}`)
    expect(found.json.data).toEqual([made.json])
  }
  const both = await api.post('/v1/customers/batch', {
    items: ['n\u0303@a.bc', 'ñ@a.bc'].map((email) => ({ email })),
  })
  expect(both.json.data).toMatchObject([{ outcome: 'created' }, { problem: { code: 'duplicate' } }])
  const teammate = await api.post('/v1/teammates', { name: 'a', email: others[0] })
  const teammates = await api.get(`/v1/teammates?email=${encodeURIComponent(others[1] ?? '')}`)
  expect(teammates.json.data).toEqual([teammate.json])
})

test('an externalId is unique per kind: a ticket may have that of a customer', async () => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api, { externalId: '7' })
  expect(await makeTicket(api, { customerId: id, externalId: '7' })).toMatchObject({ externalId: '7' })
})
