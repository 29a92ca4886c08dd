import { describe, expect, test } from 'vitest'
import { makeCustomer, makeTeammate, makeTicket } from '../../../testbed/desk.ts'
import { sharedService } from '../../../testbed/shared-service.ts'

const shared = sharedService()

/** Of each kind: how one is made, and what a PATCH may change. */
const kinds = [
  ['customer', makeCustomer, { company: 'Engines' }],
  ['ticket', makeTicket, { subject: 'Changed' }],
  ['teammate', makeTeammate, { name: 'Hopper' }],
] as const

const timestamp = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
const uuidV7 = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)

describe.each(kinds)('%s', (kind, make, patch) => {
  const path = `/v1/${kind}s`

  test('creation answers 201 with the object, where it is and its version', async () => {
    const api = await shared().newOrganization()
    const body =
      kind === 'ticket' ? { customerId: (await makeCustomer(api)).id, subject: 's' } : { name: 'n' }
    const created = await api.post(path, body)
    expect(created.status).toBe(201)
    expect(created.json).toMatchObject({
      id: uuidV7,
      object: kind,
      organizationId: api.organizationId,
      createdAt: timestamp,
      updatedAt: timestamp,
      ...body,
    })
    expect(created.headers.get('location')).toBe(`${path}/${created.json.id}`)
    expect(created.headers.get('content-type')).toMatch(/^application\/json/)
    const read = await api.get(created.headers.get('location') as string)
    expect(read.status).toBe(200)
    expect(read.text).toBe(created.text)
    expect(read.headers.get('etag')).toBe(created.headers.get('etag'))
  })

  test('a PATCH answers 200 with the object as GET has it from then on', async () => {
    const api = await shared().newOrganization()
    const before = await make(api)
    const patched = await api.patch(`${path}/${before.id}`, patch)
    expect(patched.status).toBe(200)
    expect(patched.json).toEqual({ ...before, ...patch, updatedAt: timestamp })
    expect(patched.json.updatedAt > before.updatedAt).toBe(true)
    expect((await api.get(`${path}/${before.id}`)).text).toBe(patched.text)
  })

  test('an id reads alike in either case, and any other text is 404', async () => {
    const api = await shared().newOrganization()
    const { id } = await make(api)
    expect((await api.get(`${path}/${id.toUpperCase()}`)).status).toBe(200)
    for (const other of [
      'x',
      '00000000-0000-7000-8000-000000000000',
      `${id}0`,
      `%7B${id}%7D`,
      'null',
      '%00',
      "'",
    ]) {
      for (const answer of [await api.get(`${path}/${other}`), await api.patch(`${path}/${other}`, patch)]) {
        expect(answer.status).toBe(404)
        expect(answer.json.code).toBe('not_found')
      }
    }
  })

  test('deletion answers 204 without a body, and then it is 404 everywhere', async () => {
    const api = await shared().newOrganization()
    const { id } = await make(api)
    const deleted = await api.delete(`${path}/${id}`)
    expect(deleted.status).toBe(204)
    expect(deleted.text).toBe('')
    expect((await api.get(`${path}/${id}`)).status).toBe(404)
    expect((await api.patch(`${path}/${id}`, patch)).status).toBe(404)
    expect((await api.delete(`${path}/${id}`)).status).toBe(404)
    expect((await api.get(path)).json).toMatchObject({ data: [], pagination: { total: 0 } })
  })
})

test('tickets count up from 1 within their organization, and no number is given twice', async () => {
  const [api, other] = [await shared().newOrganization(), await shared().newOrganization()]
  const { id: customerId } = await makeCustomer(api)
  const many = await Promise.all(Array.from({ length: 12 }, () => makeTicket(api, { customerId })))
  expect(many.map(({ number }) => number).sort((a, b) => a - b)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
  ])
  expect((await makeTicket(other)).number).toBe(1)
  const last = many.find(({ number }) => number === 12)
  await api.delete(`/v1/tickets/${last.id}`)
  expect((await makeTicket(api, { customerId })).number).toBe(13)
})

test('texts of any script and every escape come back as they were sent', async () => {
  const api = await shared().newOrganization()
  const name = 'Ünï "cödé" \\ 日本語 🦉 \u2028 \u0001 </script> \'; drop table customers; --'
  const customAttributes = { '$1 ➜': '%s {0} \\u0041', ['__proto__']: 'x', list: '{1,2}' }
  const created = await makeCustomer(api, {
    name,
    tags: ['a,b', '"c"', '{d}', 'null', '\\'],
    customAttributes,
  })
  const read = await api.get(`/v1/customers/${created.id}`)
  expect(read.json).toMatchObject({ name, tags: ['a,b', '"c"', '{d}', 'null', '\\'] })
  expect(Object.entries(read.json.customAttributes)).toEqual(Object.entries(customAttributes))
  expect((await api.get(`/v1/customers?tag=${encodeURIComponent('a,b')}`)).json.data).toHaveLength(1)
})
