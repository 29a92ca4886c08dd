import { describe, expect, test } from 'vitest'
import { testClock } from '../../../testbed/clock.ts'
import { makeCustomer, makeTicket } from '../../../testbed/desk.ts'
import { beginning, drain, syncPage } from '../../../testbed/drain.ts'
import { testService } from '../../../testbed/service.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { kinds } from '../../src/desk/index.ts'

const shared = sharedService()
const scopesToRead = kinds.map(({ plural }) => `${plural}:read`)

describe('nextCursor', () => {
  test('repeated repeats its page, to the byte while nothing changes', async () => {
    const api = await shared().newOrganization()
    for (let n = 0; n < 5; n++) await makeCustomer(api)
    const [gone] = (await api.get('/v1/customers')).json.data
    await api.delete(`/v1/customers/${gone.id}`)
    const { nextCursor } = (await syncPage(api, '/v1/customers', beginning, 2)).pagination
    const pages = []
    for (let n = 0; n < 3; n++) pages.push((await api.get(`/v1/customers?limit=2&cursor=${nextCursor}`)).text)
    expect(new Set(pages).size).toBe(1)
    expect(JSON.parse(pages[0] as string).data).toHaveLength(2)
  })

  test('repeated after changes reports what is at its position then', async () => {
    const api = await shared().newOrganization()
    const [a, b] = [await makeCustomer(api), await makeCustomer(api)]
    const { nextCursor } = (await syncPage(api, '/v1/customers', beginning, 1)).pagination
    await api.delete(`/v1/customers/${b.id}`)
    await api.patch(`/v1/customers/${a.id}`, { name: 'B' })
    const told = (await drain(api, '/v1/customers', `cursor=${nextCursor}`, 1)).records
    expect(told.map(({ object, id }) => [object, id])).toEqual([
      ['removed', b.id],
      ['customer', a.id],
    ])
  })

  test('stays valid after catching up and resumes the sync later', async () => {
    const api = await shared().newOrganization()
    await makeCustomer(api)
    let { nextCursor } = (await drain(api, '/v1/customers', beginning)).last.pagination
    for (let n = 0; n < 3; n++) {
      const idle = await syncPage(api, '/v1/customers', `cursor=${nextCursor}`)
      expect(idle).toMatchObject({ data: [], pagination: { hasMore: false } })
      const made = await makeCustomer(api)
      for (const cursor of [nextCursor, idle.pagination.nextCursor]) {
        expect((await syncPage(api, '/v1/customers', `cursor=${cursor}`)).data).toEqual([made])
      }
      nextCursor = (await syncPage(api, '/v1/customers', `cursor=${nextCursor}`)).pagination.nextCursor
    }
  })

  test('kept for ten years still tells of all that happened since, removals included', async () => {
    const clock = testClock()
    await using service = await testService({ clock })
    const { organizationId } = service.api
    const [kept, gone] = [await makeCustomer(service.api), await makeCustomer(service.api)]
    const { nextCursor } = (await drain(service.api, '/v1/customers', beginning)).last.pagination
    const changes = (await drain(service.api, '/v1/changes', beginning)).last.pagination.nextCursor
    await service.api.delete(`/v1/customers/${gone.id}`)
    clock.advance(10 * 365 * 86_400_000)
    await service.app.maintenance.run()
    await using later = await testService({ database: service.database, clock })
    // The key that began it may be long gone.
    const api = await later.newKey(organizationId, scopesToRead)
    const { updatedAt } = (await service.api.patch(`/v1/customers/${kept.id}`, { name: 'B' })).json
    expect(updatedAt).toBe(new Date(clock.now()).toISOString())
    for (const [path, cursor] of [
      ['/v1/customers', nextCursor],
      ['/v1/changes', changes],
    ] as const) {
      const { records } = await drain(api, path, `cursor=${cursor}`, 1)
      expect(records.map(({ object, id }) => [object, id])).toEqual([
        ['removed', gone.id],
        ['customer', kept.id],
      ])
    }
  })

  test('may go on with another limit, and with another key of the organization', async () => {
    const api = await shared().newOrganization()
    for (let n = 0; n < 4; n++) await makeCustomer(api)
    const { nextCursor } = (await syncPage(api, '/v1/customers', beginning, 1)).pagination
    const reader = await shared().newKey(api.organizationId, ['customers:read'])
    expect((await syncPage(reader, '/v1/customers', `cursor=${nextCursor}`, 100)).data).toHaveLength(3)
  })
})

describe('a cursor is refused as invalid_cursor', () => {
  test('when it is of another list or of another organization', async () => {
    const [api, other] = [await shared().newOrganization(), await shared().newOrganization()]
    await makeTicket(api)
    const { nextCursor } = (await syncPage(api, '/v1/customers', beginning)).pagination
    for (const answer of [
      await api.get(`/v1/tickets?cursor=${nextCursor}`),
      await api.get(`/v1/teammates?cursor=${nextCursor}`),
      await other.get(`/v1/customers?cursor=${nextCursor}`),
    ]) {
      expect([answer.status, answer.json.code]).toEqual([400, 'invalid_cursor'])
    }
  })
})
