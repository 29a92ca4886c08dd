/** Following a real service that is written to meanwhile. */
import { expect, test } from 'vitest'
import { sharedService } from '../../testbed/shared-service.ts'
import { type Customer, createClient, MemoryCopy } from '../src/index.ts'

const shared = sharedService()

test('a copy that follows is exact whenever it has caught up, and hears of a change while it waits', async () => {
  const api = await shared().newOrganization()
  for (let n = 0; n < 30; n++) await api.post('/v1/customers', { name: `Customer ${n}` })
  const client = createClient({ baseUrl: `${shared().url}/v1`, apiKey: api.token })
  const controller = new AbortController()
  const copy = new MemoryCopy<Customer>()
  let proofs = 0
  const follow = async () => {
    for await (const page of client.customers.follow({}, { signal: controller.signal })) {
      for (const change of page.changes) await copy.apply(change)
      if (page.checkpoint === undefined) continue
      expect(copy.verify(page.checkpoint).exact).toBe(true)
      // Nothing comes any more: each of these is asked for while the answer is held back.
      if (++proofs === 1) void client.customers.create({ name: 'New' })
      else if (proofs === 2) void client.customers.delete([...copy.rows.keys()][0] as string)
      else controller.abort(new Error('seen enough'))
    }
  }
  await expect(follow()).rejects.toThrow('seen enough')
  expect(copy.rows.size).toBe(30)
})
