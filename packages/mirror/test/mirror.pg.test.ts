/** A mirror of a real service in each store. */
import { createClient } from '@deskwire/sdk'
import { describe, expect, test } from 'vitest'
import { sharedService } from '../../service/test/harness/shared-service.ts'
import { Mirror } from '../src/index.ts'
import { MemoryStore } from '../src/stores/memory.ts'
import { places } from './stores.ts'

const shared = sharedService()

describe.each(Object.entries(places))('%s', (_, place) => {
  test('loads, follows, verifies', async () => {
    await using at = await place()
    const api = await shared().newOrganization()
    const client = createClient({ baseUrl: `${shared().url}/v1`, apiKey: api.token })
    const c = await client.customers.create({
      name: 'Ada',
      tags: ['a', 'b"\\\n'],
      customAttributes: { bb: 1e21, a: 'x\ty', c: true },
    })
    for (let n = 0; n < 5; n++) await client.tickets.create({ customerId: c.id, subject: `Ticket ${n}` })
    const mirror = new Mirror({ client, store: at.store() })
    await mirror.catchUp()
    expect(await mirror.verify()).toMatchObject({ exact: true })
    await client.tickets.create({ customerId: c.id, subject: `Ticket later` })
    expect(await mirror.verify()).toMatchObject({ exact: true, rows: { ticket: 6 } })
    await at.sql(`update tickets set subject = 'mangled' where number = 2`)
    await at.sql(`delete from tickets where number = 3`)
    expect(await mirror.verify()).toMatchObject({ differences: [{ kind: 'ticket' }, { kind: 'ticket' }] })
    expect(await mirror.repair()).toHaveLength(2)
    expect(await mirror.verify()).toMatchObject({ exact: true })
    await client.customers.remove(c.id)
    expect(await mirror.verify()).toMatchObject({ exact: true, rows: { ticket: 0 } })
    await mirror.close()
  })
})

test('memory', async () => {
  const api = await shared().newOrganization()
  const client = createClient({ baseUrl: `${shared().url}/v1`, apiKey: api.token })
  await client.customers.create({ name: 'Ada' })
  const store = new MemoryStore()
  const mirror = new Mirror({ client, store })
  await mirror.catchUp()
  expect(await mirror.verify()).toMatchObject({ exact: true })
})
