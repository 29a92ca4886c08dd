/** The versions of rows beside a copy: each once, whatever happens, and none of what is removed. */
import { createHmac } from 'node:crypto'
import { type Client, createClient } from '@deskwire/sdk'
import { describe, expect, test } from 'vitest'
import { markRestored } from '../../service/src/backup/restore.ts'
import { systemClock } from '../../service/src/kernel/timestamps.ts'
import { sharedService } from '../../testbed/shared-service.ts'
import { Mirror, type MirrorOptions, type Store } from '../src/index.ts'
import { MemoryStore } from '../src/stores/memory.ts'
import { historyFaults, type Version, versionsIn } from './history.ts'
import { Fault, hooked } from './hooked.ts'
import { type Place, places } from './stores.ts'

const shared = sharedService()
const hashKey = 'a key of sixteen characters or more'

async function desk() {
  const { token } = await shared().newOrganization()
  return createClient({ baseUrl: `${shared().url}/v1`, apiKey: token })
}

const mirrorOf = (client: Client, store: Store, options: Partial<MirrorOptions> = {}) =>
  new Mirror({ client, store, history: true, ...options })

const names = (versions: readonly Version[]) =>
  versions.map(({ row, to }) => [row.name, to === null ? null : to > '2000' ? 'ended' : to])

/** A statement of one store is one of each other: of the slower ones, some are enough. */
const strides = { SQLite: 1, PostgreSQL: 5, DuckDB: 7 }

describe.each(Object.entries(places))('in %s', (name, placeOf) => {
  const place = (): Promise<Place> => placeOf(shared().database.connection)

  test('each version that the mirror meets is there once, and ends when the next begins', async () => {
    await using at = await place()
    const client = await desk()
    const { id } = await client.customers.create({ name: 'One', tags: ['a'] })
    const { id: other } = await client.customers.create({ name: 'Other' })
    const mirror = mirrorOf(client, at.store())
    await mirror.catchUp()
    for (const name of ['Two', 'Three']) {
      await client.customers.update(id, { name })
      await mirror.catchUp()
    }
    await mirror.close()

    // It goes on without being told, and a page that comes again adds nothing.
    const again = new Mirror({ client, store: at.store() })
    const last = await client.customers.update(id, { name: 'Four' })
    await again.catchUp()
    await at.sql(`update customers set name = 'Mallory' where id = '${id}'`)
    expect(await again.repair()).toHaveLength(1)
    const versions = await versionsIn(at, 'customers', id)
    expect(names(versions)).toEqual([
      ['One', 'ended'],
      ['Two', 'ended'],
      ['Three', 'ended'],
      ['Four', null],
    ])
    expect(versions.at(-1)?.from).toBe(last.updatedAt)
    expect(versions.map(({ to }) => to).slice(0, -1)).toEqual(versions.map(({ from }) => from).slice(1))
    expect(await historyFaults(at, ['customers', 'tickets'])).toEqual([])

    // The stream does not tell an erased person from a deleted one: neither leaves a version.
    await client.customers.delete(id)
    await again.catchUp()
    expect(await versionsIn(at, 'customers', id)).toEqual([])
    await client.customers.erase(other)
    await again.catchUp()
    expect(await at.sql('select id from customers_history')).toEqual([])
    expect(await again.verify()).toMatchObject({ exact: true })
    await again.close()
  })

  test('with marked removals a removed row keeps its versions, the last of which ends', async () => {
    await using at = await place()
    const client = await desk()
    const { id } = await client.customers.create({ name: 'One' })
    const mirror = mirrorOf(client, at.store(), { removals: 'mark' })
    await mirror.catchUp()
    await client.customers.update(id, { name: 'Two' })
    await mirror.catchUp()
    await client.customers.delete(id)
    await mirror.catchUp()
    expect(names(await versionsIn(at, 'customers', id))).toEqual([
      ['One', 'ended'],
      ['Two', 'ended'],
    ])
    expect(await historyFaults(at, ['customers'])).toEqual([])
    await mirror.close()
  })

  test('a copy keeps versions from when it is told to, and has them made again', async () => {
    await using at = await place()
    const client = await desk()
    const { id } = await client.customers.create({ name: 'One' })
    const mirror = mirrorOf(client, at.store(), { history: undefined })
    await mirror.catchUp()
    await mirror.close()
    const later = mirrorOf(client, at.store())
    await client.customers.update(id, { name: 'Two' })
    await later.catchUp()
    expect(names(await versionsIn(at, 'customers', id))).toEqual([
      ['One', 'ended'],
      ['Two', null],
    ])
    await at.sql('drop table customers_history')
    await expect(later.catchUp()).rejects.toThrow('table customers_history is not there')
    await later.repair()
    expect(names(await versionsIn(at, 'customers', id))).toEqual([['Two', null]])
    await later.close()
  })

  // What is kept of a text, the mirror decides before any store.
  test.each(name === 'SQLite' ? [{ body: true }, { body: false }] : [{ body: true }])(
    'versions hold no more than the copy, and outlast a restore (body: $body)',
    async ({ body }) => {
      await using at = await place()
      const client = await desk()
      const create = (name: string) =>
        client.customers.create({ name, email: `${name}@secret.example`, phone: '+445550199' })
      const [{ id }, { id: gone }] = [await create('ada'), await create('gone')]
      const select = {
        exclude: ['customers.phone'],
        hash: ['customers.email'],
        ...(!body && { body }),
      }
      const mirror = mirrorOf(client, at.store(), { select, hashKey })
      await mirror.catchUp()
      await client.customers.update(id, { name: 'augusta', email: 'new@secret.example' })
      await mirror.catchUp()
      const digest = (email: string) => createHmac('sha256', hashKey).update(email).digest('hex')
      const before = await versionsIn(at, 'customers', id)
      expect(before.map(({ row }) => [row.name, row.email])).toEqual([
        ['ada', digest('ada@secret.example')],
        ['augusta', digest('new@secret.example')],
      ])
      const all = await at.sql('select * from customers_history')
      expect(
        JSON.stringify(all, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
      ).not.toMatch(/secret|5550199/)

      await client.customers.delete(gone)
      await markRestored(shared().database.pool, systemClock)
      await client.customers.update(id, { name: 'after' })
      await mirror.catchUp()
      expect(names(await versionsIn(at, 'customers', id))).toEqual([
        ['ada', 'ended'],
        ['augusta', 'ended'],
        ['after', null],
      ])
      expect(await versionsIn(at, 'customers', gone)).toEqual([])
      expect(await historyFaults(at, ['customers'])).toEqual([])
      expect((await mirror.verify()).differences).toEqual([])
      await mirror.close()
    },
  )

  test('a mirror that fails at any statement goes on, and each version is there once', async () => {
    await using at = await place()
    const client = await desk()
    const { id } = await client.customers.create({ name: 'One' })
    const { id: gone } = await client.customers.create({ name: 'Gone' })
    let [left, steps] = [Number.POSITIVE_INFINITY, 0]
    const store = hooked(at.store(), () => {
      steps++
      if (left-- === 0) throw new Fault('at this statement')
    })
    const mirror = mirrorOf(client, store)
    await mirror.catchUp()
    steps = 0
    await client.customers.update(id, { name: 'Two' })
    await mirror.catchUp()
    const most = steps
    expect(most).toBeGreaterThan(8)
    const stride = strides[name as keyof typeof strides]
    let changes = 2
    // Each run of the slower ones begins at another.
    for (let n = Date.now() % stride; n < most; n += stride) {
      changes++
      await client.customers.update(id, { name: `At ${n}` })
      if (n >= most >> 1 && n < (most >> 1) + stride) await client.customers.delete(gone)
      left = n
      await mirror.catchUp().catch((error) => expect(error).toBeInstanceOf(Fault))
      left = Number.POSITIVE_INFINITY
      await mirror.catchUp()
      expect(await historyFaults(at, ['customers'])).toEqual([])
    }
    expect(await versionsIn(at, 'customers', id)).toHaveLength(changes)
    expect(await versionsIn(at, 'customers', gone)).toEqual([])
    expect((await mirror.verify()).exact).toBe(true)
    await mirror.close()
  })
})

test('what cannot keep versions says so', async () => {
  const client = await desk()
  const store = new MemoryStore()
  await mirrorOf(client, store, { history: undefined, select: { body: false } }).catchUp()
  await expect(mirrorOf(client, store).catchUp()).rejects.toThrow('begun without history and without `_body`')
})
