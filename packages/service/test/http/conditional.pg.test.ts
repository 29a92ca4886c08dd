import { describe, expect, test } from 'vitest'
import { makeCustomer } from '../../../testbed/desk.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { storedEvents } from '../../../testbed/stored.ts'

const shared = sharedService()

describe('ETag and If-None-Match', () => {
  test('the tag is made from updatedAt', async () => {
    const api = await shared().newOrganization()
    const { id, updatedAt } = await makeCustomer(api)
    expect((await api.get(`/v1/customers/${id}`)).headers.get('etag')).toBe(`"${updatedAt}"`)
  })

  test('a version that the client holds is 304 without a body, with its tag', async () => {
    const api = await shared().newOrganization()
    const { id, updatedAt } = await makeCustomer(api)
    for (const tag of [`"${updatedAt}"`, `W/"${updatedAt}"`, '*', `"other", "${updatedAt}"`]) {
      const answer = await api.get(`/v1/customers/${id}`, { 'if-none-match': tag })
      expect(answer.status).toBe(304)
      expect(answer.text).toBe('')
      expect(answer.headers.get('etag')).toBe(`"${updatedAt}"`)
    }
  })

  test('any other version is sent whole', async () => {
    const api = await shared().newOrganization()
    const { id, updatedAt } = await makeCustomer(api)
    for (const tag of ['"other"', updatedAt, `"${updatedAt} "`, '']) {
      expect((await api.get(`/v1/customers/${id}`, { 'if-none-match': tag })).status).toBe(200)
    }
    await api.patch(`/v1/customers/${id}`, { name: 'B' })
    expect((await api.get(`/v1/customers/${id}`, { 'if-none-match': `"${updatedAt}"` })).status).toBe(200)
  })
})

describe('If-Match', () => {
  test('lets PATCH and DELETE of the current version through', async () => {
    const api = await shared().newOrganization()
    const { id, updatedAt } = await makeCustomer(api)
    const patched = await api.patch(`/v1/customers/${id}`, { name: 'B' }, { 'if-match': `"${updatedAt}"` })
    expect(patched.status).toBe(200)
    const current = patched.headers.get('etag') as string
    expect((await api.patch(`/v1/customers/${id}`, { name: 'C' }, { 'if-match': '*' })).status).toBe(200)
    expect((await api.delete(`/v1/customers/${id}`, { 'if-match': current })).status).toBe(412)
    const latest = (await api.get(`/v1/customers/${id}`)).headers.get('etag') as string
    expect((await api.delete(`/v1/customers/${id}`, { 'if-match': `"x", ${latest}` })).status).toBe(204)
  })

  test('refuses any other version with 412 and changes nothing', async () => {
    const api = await shared().newOrganization()
    const before = await makeCustomer(api)
    const path = `/v1/customers/${before.id}`
    for (const tag of ['"2020-01-01T00:00:00.000Z"', `W/"${before.updatedAt}"`, before.updatedAt, '""']) {
      for (const answer of [
        await api.patch(path, { name: 'B' }, { 'if-match': tag }),
        await api.delete(path, { 'if-match': tag }),
      ]) {
        expect(answer.status).toBe(412)
        expect(answer.json.code).toBe('version_mismatch')
      }
    }
    expect((await api.get(path)).json).toEqual(before)
    expect(await storedEvents(shared(), api.organizationId)).toHaveLength(1)
  })

  test('of many writers with the same version exactly one wins', async () => {
    const api = await shared().newOrganization()
    const { id, updatedAt } = await makeCustomer(api)
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        api.patch(`/v1/customers/${id}`, { name: `writer ${n}` }, { 'if-match': `"${updatedAt}"` }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(412)])
    const winner = answers.find(({ status }) => status === 200)
    expect((await api.get(`/v1/customers/${id}`)).text).toBe(winner?.text)
  })

  test('of an object that is gone is 404', async () => {
    const api = await shared().newOrganization()
    const { id, updatedAt } = await makeCustomer(api)
    await api.delete(`/v1/customers/${id}`)
    const answer = await api.patch(`/v1/customers/${id}`, { name: 'B' }, { 'if-match': `"${updatedAt}"` })
    expect(answer.status).toBe(404)
  })
})

test('concurrent changes of different fields are all kept', async () => {
  const api = await shared().newOrganization()
  const { id } = await makeCustomer(api)
  const patches = [{ name: 'B' }, { company: 'C' }, { phone: '+4930123456' }, { tags: ['a'] }]
  const attributes = Array.from({ length: 8 }, (_, n) => ({ customAttributes: { [`k${n}`]: n } }))
  const answers = await Promise.all(
    [...patches, ...attributes].map((patch) => api.patch(`/v1/customers/${id}`, patch)),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(new Set(answers.map(({ json }) => json.updatedAt)).size).toBe(answers.length)
  expect((await api.get(`/v1/customers/${id}`)).json).toMatchObject({
    ...Object.assign({}, ...patches),
    customAttributes: { k0: 0, k1: 1, k2: 2, k3: 3, k4: 4, k5: 5, k6: 6, k7: 7 },
  })
})
