/** `GET /v1/{kind}?ids=…`: rows by their ids, in one page. */
import { createClient } from '@deskwire/sdk'
import { expect, test } from 'vitest'
import { makeCustomer } from '../../../testbed/desk.ts'
import { sharedService } from '../../../testbed/shared-service.ts'
import { kinds } from '../../src/desk/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { newObject, unchangedDesk } from '../http/writable.fixture.ts'

const shared = sharedService()
const nobody = () => newId(systemClock)

test.each(kinds)(
  '$plural come newest first, in the bytes of GET; those that do not exist are left out',
  async (kind) => {
    const api = await shared().newOrganization()
    const other = await shared().newOrganization()
    const make = async (of: typeof api, unique: string) =>
      (await of.post(`/v1/${kind.plural}`, newObject(kind, await unchangedDesk(of, 'Word'), unique))).json.id
    const made: string[] = []
    for (let n = 0; n < 4; n++) made.push(await make(api, `n${n}`))
    const theirs = await make(other, 'theirs')
    if (kind.removedEvent !== null) await api.delete(`/v1/${kind.plural}/${made[3]}`)
    const asked = [
      made[2],
      nobody(),
      made[0]?.toUpperCase(),
      made[0],
      theirs,
      ...(kind.removedEvent === null ? [] : [made[3]]),
    ]
    const { status, text, json } = await api.get(`/v1/${kind.plural}?ids=${asked.join(',')}`)
    expect(status).toBe(200)
    const bodies = await Promise.all(
      [made[2], made[0]].map(async (id) => (await api.get(`/v1/${kind.plural}/${id}`)).text),
    )
    expect(text.startsWith(`{"data":[${bodies.join(',')}]`)).toBe(true)
    expect(json.pagination).toEqual({ total: 2, limit: 100, offset: 0, hasMore: false })
  },
)

test('a hundred are read at once, and no more; the SDK reads however many', async () => {
  const api = await shared().newOrganization()
  const items = Array.from({ length: 250 }, (_, n) => ({ name: `${n}` }))
  const made: string[] = (await api.post('/v1/customers/batch', { items })).json.data.map(
    ({ id }: { id: string }) => id,
  )
  const { json } = await api.get(`/v1/customers?ids=${made.slice(0, 100).join(',')}`)
  expect(json.data).toHaveLength(100)
  const refused = await api.get(`/v1/customers?ids=${made.slice(0, 101).join(',')}`)
  expect([refused.status, refused.json.code]).toEqual([400, 'invalid_parameter'])
  const client = createClient({ baseUrl: `${shared().url}/v1`, apiKey: api.token })
  const rows = await client.customers.getMany([...made, ...made, nobody()])
  expect(rows.map(({ id }) => id).sort()).toEqual(made.toSorted())
  expect(await client.customers.getMany([])).toEqual([])
})

test.each([
  ['', 'invalid_parameter'],
  ['1', 'invalid_parameter'],
  [`${nobody()},`, 'invalid_parameter'],
  [`${nobody()},x`, 'invalid_parameter'],
  [`${nobody()}&limit=10`, 'invalid_parameter'],
  [`${nobody()}&offset=0`, 'invalid_parameter'],
  [`${nobody()}&name=x`, 'invalid_parameter'],
  [`${nobody()}&tag=vip`, 'invalid_parameter'],
  [`${nobody()}&ids=${nobody()}`, 'invalid_parameter'],
  [`${nobody()}&wait=1`, 'invalid_parameter'],
  [`${nobody()}&updatedAfter=1970-01-01T00:00:00Z`, 'filter_not_allowed_in_sync'],
  [`${nobody()}&cursor=x`, 'filter_not_allowed_in_sync'],
])('ids=%s is refused', async (ids, code) => {
  const { api } = shared()
  await makeCustomer(api)
  const { status, json } = await api.get(`/v1/customers?ids=${ids}`)
  expect([status, json.code]).toEqual([400, code])
})
