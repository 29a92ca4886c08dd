/** A mirror of a real service: what it holds, whatever happens meanwhile. */
import { type BatchAnswer, type Client, createClient } from '@deskwire/sdk'
import { describe, expect, test } from 'vitest'
import { markRestored } from '../../service/src/backup/restore.ts'
import { systemClock } from '../../service/src/kernel/timestamps.ts'
import { eventually } from '../../testbed/eventually.ts'
import type { Api } from '../../testbed/service.ts'
import { sharedService } from '../../testbed/shared-service.ts'
import {
  type CopyDifference,
  Mirror,
  MirrorError,
  type MirrorOptions,
  NameTaken,
  type Store,
  StoreUnavailable,
  statusOf,
  type Trouble,
} from '../src/index.ts'
import { MemoryStore } from '../src/stores/memory.ts'
import { differencesByHand } from './by-hand.ts'
import { hooked } from './hooked.ts'
import { type Place, places, plantRow } from './stores.ts'

const shared = sharedService()
const plurals = ['teammates', 'customers', 'conversations', 'messages', 'notes', 'tickets', 'bookings']

const optionsOf = ({ token }: Api) => ({ baseUrl: `${shared().url}/v1`, apiKey: token })
const clientOf = (api: Api) => createClient(optionsOf(api))

/** Some of everything: a teammate, and so many of each other kind. */
async function furnish(client: Client, count = 2): Promise<{ customerIds: string[] }> {
  const { id: assigneeId } = await client.teammates.create({ name: 'Grace' })
  const customAttributes = { plan: 'team "é"\\', ratio: 1e-7, more: 1e21, 'a b': true }
  const tags = ['a, b', '{x}']
  const each = <T>(make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n))
  const customerIds = idsOf(
    await client.customers.batch(
      each((n) => ({ name: `Ada\t${n}\n`, tags, customAttributes: { ...customAttributes, seats: n } })),
    ),
  )
  const of = (n: number) => ({ customerId: customerIds[n] as string })
  const conversationIds = idsOf(
    await client.conversations.batch(each((n) => ({ ...of(n), channel: 'email', subject: `No. ${n}` }))),
  )
  const conversation = (n: number) => ({ conversationId: conversationIds[n] as string })
  const author = { type: 'customer' } as const
  idsOf(
    await client.messages.batch(
      each((n) => ({ ...conversation(n), direction: 'inbound', author, body: 'Hello' })),
    ),
  )
  idsOf(
    await client.notes.batch(each((n) => ({ ...conversation(n), author: { type: 'ai' }, body: 'Careful' }))),
  )
  idsOf(
    await client.tickets.batch(
      each((n) => ({ ...of(n), ...conversation(n), subject: `Ticket ${n}`, assigneeId })),
    ),
  )
  const visit = {
    title: 'A visit',
    startAt: '2026-03-01T10:00:00Z',
    endAt: '2026-03-01T10:30:00.120Z',
    timezone: 'Europe/Zurich',
    location: { type: 'phone', value: '+41' },
  } as const
  idsOf(await client.bookings.batch(each((n) => ({ ...of(n), ...visit }))))
  await client.teammates.update(assigneeId, { active: false })
  return { customerIds }
}

function idsOf({ data }: BatchAnswer): string[] {
  return data.map((outcome) => {
    if (outcome.outcome === 'refused') throw new Error(JSON.stringify(outcome))
    return outcome.id
  })
}

const mirrorOf = (client: Client, store: Store, options: Partial<MirrorOptions> = {}) =>
  new Mirror({ client, store, ...options })

const exact = (client: Client, at: Place) =>
  expect(differencesByHand(client, at.sql, plurals)).resolves.toEqual([])

describe.each(Object.entries(places))('in %s', (_, placeOf) => {
  const place = () => placeOf(shared().database.connection)

  test('a copy holds every kind, byte for byte, and takes in what changes and goes', async () => {
    await using at = await place()
    const client = clientOf(await shared().newOrganization())
    const { customerIds } = await furnish(client)
    const loaded: number[] = []
    const changes: Record<string, number>[] = []
    const mirror = mirrorOf(client, at.store(), {
      onLoaded: ({ rows, total }) => loaded.push(rows / total),
      onChanges: (page) => changes.push(page.changes),
    })
    await mirror.catchUp()
    expect(loaded.at(-1)).toBe(1)
    expect(changes).toEqual([])
    await exact(client, at)

    const [first = '', second = ''] = customerIds
    await client.customers.delete(first)
    await client.customers.update(second, { name: null, email: 'ada@example.com', tags: [] })
    await furnish(client, 1)
    await mirror.catchUp()
    await exact(client, at)
    expect(changes.at(-1)).toMatchObject({ customer: 3, ticket: 2, teammate: 1 })
    await mirror.close()

    // Another process goes on where this one was, also if that was of an earlier release, which noted no status and no last changes.
    await at.sql('drop table _deskwire_status')
    await at.sql("delete from deskwire_mirror where name = 'status'")
    const [noted] = await at.sql("select value from deskwire_mirror where name = 'live'")
    const { last: _, ...position } = JSON.parse(noted?.value as string)
    await at.sql(`update deskwire_mirror set value = '${JSON.stringify(position)}' where name = 'live'`)
    const later = await client.customers.create({ name: 'Later' })
    const again = mirrorOf(client, at.store())
    await again.catchUp()
    expect(await again.verify()).toEqual({
      exact: true,
      rows: expect.anything(),
      differences: [],
      quarantined: [],
    })
    await exact(client, at)
    await again.close()

    // A table shows the state of each kind.
    const rows = await at.sql('select * from _deskwire_status order by kind')
    expect(rows).toHaveLength(plurals.length)
    const customer = rows.find(({ kind }) => kind === 'customer')
    expect(Number(customer?.rows)).toBe(3)
    expect([true, 1, 1n]).toContain(customer?.exact)
    const store = at.store()
    const status = await statusOf(store)
    await store.close()
    expect(status?.kinds.find(({ kind }) => kind === 'customer')).toMatchObject({
      rows: 3,
      lastChangeAt: later.updatedAt,
      exact: true,
    })
    expect(status?.lagSeconds).toBeLessThan(600)
  })

  test('removals that are marked stay, with their time: verify and repair cover them, also those of a copy of the first form', async () => {
    await using at = await place()
    const client = clientOf(await shared().newOrganization())
    const { customerIds } = await furnish(client, 8)
    const mirror = mirrorOf(client, at.store(), { removals: 'mark' })
    await mirror.catchUp()
    const removed = customerIds.slice(0, 5)
    for (const id of removed) await client.customers.delete(id)
    await mirror.catchUp()
    await exact(client, at)
    const times = () =>
      at.sql('select id, removed_at from customers where removed_at is not null order by id')
    const before = await times()
    expect(before.map(({ id }) => id)).toEqual([...removed].sort())
    // With each customer went its ticket.
    expect(await at.sql('select id from tickets where removed_at is not null')).toHaveLength(5)
    const where = (id: string | undefined) => `where id = '${id}'`
    const invented = '01980000-0000-7000-8000-000000000001'
    const [unmarked, moved, renamed, changed, deleted] = removed
    await at.sql(`update customers set removed_at = null ${where(unmarked)}`)
    await at.sql(`update customers set removed_at = '2001-01-01T00:00:00.000Z' ${where(moved)}`)
    await at.sql(`update customers set name = 'Mallory' ${where(renamed)}`)
    await at.sql(`update customers set removed_at = '2001-01-01T00:00:00.000Z' ${where(customerIds[6])}`)
    await plantRow(at, 'customers', invented, customerIds[7])
    const names = new Map<string, unknown>(customerIds.map((id, n) => [id, n]))
    const told = (differences: readonly CopyDifference[]) =>
      differences.map(({ id, type, columns }) => `${names.get(id) ?? id} ${type} ${columns}`.trim()).sort()
    const wrong = [
      '0 changed removed_at',
      '1 changed removed_at',
      '2 changed name',
      '6 changed removed_at',
      `${invented} extra`,
    ].sort()
    expect(told((await mirror.verify()).differences)).toEqual(wrong)
    expect(told(await mirror.repair())).toEqual(wrong)
    expect(await mirror.verify()).toMatchObject({ exact: true, rows: { customer: 3 } })
    // The invented row is gone, and marks have the times that they had.
    expect(await times()).toEqual(before)
    expect(await at.sql(`select id from customers where id = '${invented}'`)).toEqual([])
    await exact(client, at)
    await mirror.close()

    // A copy of the first form had no marks but the times.
    for (const plural of plurals) await at.sql(`alter table ${plural} drop column _removal`)
    const [noted] = await at.sql("select value from deskwire_mirror where name = 'live'")
    const { removed: _, quarantined: __, ...position } = JSON.parse(noted?.value as string)
    const first = JSON.stringify({ ...position, form: 1 })
    await at.sql(`update deskwire_mirror set value = '${first}' where name = 'live'`)
    const other = mirrorOf(client, at.store(), { removals: 'delete' })
    await expect(other.catchUp()).rejects.toThrow("begun with removals: 'mark'")
    await other.close()
    const later = mirrorOf(client, at.store())
    expect(await later.verify()).toMatchObject({ exact: true, rows: { customer: 3 } })
    expect(await times()).toEqual(before)

    // The service has nothing of what was removed: what is lost is said.
    await at.sql(`update customers set _body = '{"name":"Eve"}' ${where(changed)}`)
    await at.sql(`delete from customers ${where(deleted)}`)
    expect(told((await later.verify()).differences)).toEqual(['3 lost _body', 'lost'])
    expect(told(await later.repair())).toEqual(['3 lost _body', 'lost'])
    expect(told((await later.verify()).differences)).toEqual(['3 lost _body'])
    await later.close()
  })

  test('nothing is touched that no mirror made, and who verifies or repairs where there is no copy is told so', async () => {
    await using at = await place()
    const client = clientOf(await shared().newOrganization())
    await furnish(client)
    const nothing = async () => {
      const before = await at.look()
      const mirror = mirrorOf(client, at.store())
      await expect(mirror.verify()).rejects.toThrow(
        new MirrorError('There is no copy in the store. catchUp() makes one.'),
      )
      await expect(mirror.repair()).rejects.toThrow(MirrorError)
      await mirror.close()
      expect(await at.look()).toEqual(before)
    }
    await nothing()
    await at.occupy()
    // Nor in what is somebody else's.
    await nothing()
    await at.sql('create table customers (mine integer)')
    await at.sql('insert into customers values (7)')
    const before = await at.look()
    const refused = async (name: string) => {
      const mirror = mirrorOf(client, at.store())
      await expect(mirror.catchUp()).rejects.toThrow(
        `There is a table or view ${name} that no mirror made, and nothing was changed.`,
      )
      await mirror.close()
    }
    await refused('customers')
    expect(await at.look()).toEqual(before)
    expect(await at.sql('select mine from customers')).toEqual([{ mine: 7 }])
    await at.sql('alter table customers rename to customers_of_mine')
    await at.sql('create view customers as select * from customers_of_mine')
    await refused('customers')
    await at.sql('drop view customers')
    await at.sql('create table deskwire_mirror (mine integer)')
    await refused('deskwire_mirror')
    expect(await at.sql('select mine from deskwire_mirror')).toEqual([])
    await at.sql('drop table deskwire_mirror')
    const mirror = mirrorOf(client, at.store())
    await mirror.catchUp()
    await exact(client, at)
    // Nor where a new copy is built.
    await at.sql('create table tickets_next (mine integer)')
    await markRestored(shared().database.pool, systemClock)
    await expect(mirror.catchUp()).rejects.toThrow(NameTaken)
    expect(await at.sql('select mine from tickets_next')).toEqual([])
    await at.sql('drop table tickets_next')
    await mirror.catchUp()
    await exact(client, at)
    expect(await at.sql('select mine from customers_of_mine')).toEqual([{ mine: 7 }])
    await mirror.close()
  })

  test('a table that was changed is an error that repair heals', async () => {
    await using at = await place()
    const client = clientOf(await shared().newOrganization())
    const { customerIds } = await furnish(client, 3)
    const running = mirrorOf(client, at.store())
    await running.catchUp()
    // What is renamed stays there, and could be in the way.
    for (const [change, why] of [
      ['alter table customers rename column name to full_name', 'name is missing'],
      ['alter table customers rename to customers_of_mine', 'table customers is not there'],
    ] as const) {
      await at.sql(change)
      const mirror = mirrorOf(client, at.store())
      for (const call of [() => mirror.catchUp(), () => mirror.verify(), () => running.catchUp()]) {
        const refusal: Error = await call().then(
          () => expect.unreachable(`it was not seen: ${change}`),
          (error) => error,
        )
        expect(refusal).toBeInstanceOf(MirrorError)
        expect(refusal.message).toContain(why)
        expect(refusal.message).toContain('deskwire mirror repair')
      }
      await client.customers.update(customerIds[0] as string, { name: `After: ${change}` })
      await expect(running.catchUp()).rejects.toThrow(why)
      await mirror.repair()
      expect(await mirror.verify()).toMatchObject({ exact: true, rows: { customer: 3 } })
      await exact(client, at)
      await mirror.close()
    }
    await running.close()
  })

  test('plain SQL on the copy is found, named and mended, and nothing else is fetched', async () => {
    await using at = await place()
    const asked: string[] = []
    const client = createClient({
      ...optionsOf(await shared().newOrganization()),
      fetch(url, init) {
        asked.push(new URL(url).pathname.replace('/v1/', ''))
        return fetch(url, init)
      },
    })
    await furnish(client, 12)
    const mirror = mirrorOf(client, at.store())
    await mirror.catchUp()
    await client.customers.create({ name: 'Later' })
    asked.length = 0
    expect(await mirror.verify()).toMatchObject({ exact: true, rows: { customer: 13 } })
    // Where all rows add up, the service has no ranges to compute.
    expect(new Set(asked)).toEqual(new Set(['changes']))
    const ids = (await at.sql('select id from customers order by id')).map(({ id }) => id as string)
    const where = (n: number) => `where id = '${ids[n]}'`
    await at.sql(`update customers set name = 'Mallory' ${where(0)}`)
    await at.sql(`update customers set _body = substr(_body, 1, 40) ${where(1)}`)
    await at.sql(
      `update customers set _body = replace(_body, 'Ada', 'Eve'), name = replace(name, 'Ada', 'Eve') ${where(2)}`,
    )
    await at.sql(`delete from customers ${where(3)}`)
    await at.sql(`update customers set id = '01980000-0000-7000-8000-000000000001' ${where(4)}`)
    await at.sql(`update customers set custom_attributes = '{"plan": "team"}', tags = '{}' ${where(5)}`)
    await at.sql(`update customers set created_at = '2026-01-31T09:30:00.001Z' ${where(6)}`)
    await at.sql(`update customers set _body = '' ${where(7)}`)
    await plantRow(at, 'tickets', 'ffffffff-ffff-4fff-bfff-ffffffffffff')
    await plantRow(at, 'tickets', '00000000-0000-0000-0000-000000000000')
    await at.sql('delete from bookings')
    const { exact: isExact, differences } = await mirror.verify()
    expect(isExact).toBe(false)
    const told = differences.map(
      ({ kind, id, type, columns }) => `${kind} ${ids.indexOf(id)} ${type} ${columns}`,
    )
    expect(told.sort()).toEqual(
      [
        'customer 0 changed name',
        'customer 1 changed _body',
        'customer 2 changed name,_body',
        'customer 3 missing ',
        'customer 4 missing ',
        'customer -1 extra ',
        'customer 5 changed tags,custom_attributes',
        'customer 6 changed created_at',
        'customer 7 changed _body',
        'ticket -1 extra ',
        'ticket -1 extra ',
        ...Array(12).fill('booking -1 missing '),
      ].sort(),
    )
    const mended = await mirror.repair()
    expect(mended).toHaveLength(differences.length)
    expect(await mirror.verify()).toMatchObject({ exact: true })
    await exact(client, at)

    // What it counts is right again too: the next checkpoint agrees.
    const troubles: unknown[] = []
    const next = mirrorOf(client, at.store(), { onTrouble: (trouble) => troubles.push(trouble) })
    await client.customers.update(ids[1] as string, { name: 'Grace' })
    await client.customers.delete(ids[2] as string)
    await next.catchUp()
    expect(troubles).toEqual([])
    await exact(client, at)
    await Promise.all([mirror.close(), next.close()])
  })

  test('after a restore a new copy takes the place of the old one, which is never empty', async () => {
    await using at = await place()
    const client = clientOf(await shared().newOrganization())
    const { customerIds } = await furnish(client, 4)
    const counts: number[] = []
    const watched = hooked(at.store(), async () => {
      if (isWatched) counts.push(Number((await at.sql('select count(*) as n from all_customers'))[0]?.n))
    })
    let isWatched = false
    const mirror = mirrorOf(client, watched)
    await mirror.catchUp()
    await at.sql('create view all_customers as select * from customers')
    // What the backup did not have, and what it had otherwise.
    await plantRow(at, 'customers', '01980000-0000-7000-8000-000000000001')
    await at.sql(`update customers set name = 'Lost' where id = '${customerIds[0]}'`)
    await markRestored(shared().database.pool, systemClock)
    await client.customers.create({ name: 'After' })
    isWatched = true
    await mirror.catchUp()
    isWatched = false
    expect(new Set(counts)).toEqual(new Set([5]))
    await exact(client, at)
    expect(await at.sql('select * from all_customers')).toHaveLength(5)
    await client.customers.create({ name: 'Later' })
    expect(await mirror.verify()).toMatchObject({ exact: true, rows: { customer: 6 } })
    await exact(client, at)
    await mirror.close()
  })

  test('two mirrors of one store do each page once', async () => {
    await using at = await place()
    const client = clientOf(await shared().newOrganization())
    await furnish(client)
    const troubles: string[] = []
    const both = [0, 1].map(() =>
      mirrorOf(client, at.store(), { onTrouble: ({ type }) => troubles.push(type) }),
    )
    await both[0]?.catchUp()
    for (let n = 0; n < 2; n++) {
      await furnish(client, 1)
      await Promise.all(both.map((mirror) => mirror.catchUp()))
    }
    await exact(client, at)
    expect(troubles).toEqual([])
    await Promise.all(both.map((mirror) => mirror.close()))
  })
})

// What the mirror does with any store: that each keeps what it is given, stores.pg.test.ts shows.
describe('whatever the store', () => {
  const place = () => places.SQLite()

  test('a table that was emptied is filled again before the copy counts as caught up', async () => {
    await using at = await place()
    const client = clientOf(await shared().newOrganization())
    await furnish(client, 3)
    const before = mirrorOf(client, at.store())
    await before.catchUp()
    await before.close()
    await at.sql('delete from tickets')
    const troubles: Trouble[] = []
    let isCaughtUp = false
    const mirror = mirrorOf(client, at.store(), {
      onTrouble: (trouble) => troubles.push(trouble),
      onCaughtUp: () => {
        isCaughtUp = true
      },
    })
    await mirror.catchUp()
    expect(isCaughtUp).toBe(true)
    expect(troubles).toMatchObject([{ type: 'repaired', differences: Array(3).fill({ type: 'missing' }) }])
    await exact(client, at)
    await mirror.close()
  })

  test('a row that was touched and then changed by the service is found by the checkpoint, and all is mended', async () => {
    await using at = await place()
    const client = clientOf(await shared().newOrganization())
    const { customerIds } = await furnish(client, 3)
    const troubles: string[] = []
    const mirror = mirrorOf(client, at.store(), { onTrouble: ({ type }) => troubles.push(type) })
    await mirror.catchUp()
    await at.sql(`update customers set _body = '{}' where id = '${customerIds[0]}'`)
    await at.sql(`delete from customers where id = '${customerIds[1]}'`)
    await client.customers.update(customerIds[0] as string, { name: 'New' })
    await mirror.catchUp()
    expect(troubles).toEqual(['repaired'])
    await exact(client, at)
    expect(await mirror.verify()).toMatchObject({ exact: true })
    await mirror.close()
  })

  test('what writers do between any two calls of a verification and a repair is no difference', async () => {
    await using at = await place()
    const api = await shared().newOrganization()
    const client = clientOf(api)
    const { customerIds } = await furnish(client, 12)
    const [changing, touched] = [customerIds.slice(0, 6), customerIds.slice(6)]
    const made: string[] = []
    let changes = 0
    const write = async () => {
      const n = changes++
      if (n % 3 === 0) made.push((await client.customers.create({ name: `Made ${n}` })).id)
      else if (n % 3 === 1) await client.customers.update(changing[n % 6] as string, { name: `Changed ${n}` })
      else await client.customers.delete(made.shift() as string)
    }
    let isWriting = false
    const { token: apiKey } = await client.apiKeys.create({ name: 'Mirror', scopes: ['customers:read'] })
    const disturbed = createClient({
      ...optionsOf(api),
      apiKey,
      fetch: async (url, init) => {
        if (isWriting) await write()
        return fetch(url, init)
      },
    })
    const mirror = mirrorOf(disturbed, at.store())
    await mirror.catchUp()
    await at.sql(`update customers set name = 'Mallory' where id = '${touched[0]}'`)
    await at.sql(`update customers set _body = '{}' where id = '${touched[1]}'`)
    await at.sql(`delete from customers where id = '${touched[2]}'`)
    isWriting = true
    const { differences } = await mirror.verify()
    const found = differences.map(({ id, type, columns }) => `${touched.indexOf(id)} ${type} ${columns}`)
    expect(found.sort()).toEqual(['0 changed name', '1 changed _body', '2 missing '])
    const before = changes
    expect(await mirror.repair()).toHaveLength(3)
    expect(changes - before).toBeGreaterThan(3)
    expect((await mirror.verify()).exact).toBe(true)
    isWriting = false
    await mirror.catchUp()
    await expect(differencesByHand(client, at.sql, ['customers'])).resolves.toEqual([])
    await mirror.close()
  })

  test('kinds that the key may read later are kept from the next start on', async () => {
    await using at = await place()
    const api = await shared().newOrganization()
    const client = clientOf(api)
    await furnish(client)
    const key = await client.apiKeys.create({ name: 'Mirror', scopes: ['customers:read'] })
    const narrow = createClient({ baseUrl: `${shared().url}/v1`, apiKey: key.token })
    const mirror = mirrorOf(narrow, at.store())
    await mirror.catchUp()
    expect((await mirror.verify()).rows).toEqual({ customer: 2 })
    await mirror.close()
    await client.customers.create({ name: 'Meanwhile' })
    await client.apiKeys.update(key.id, { scopes: ['customers:read', 'tickets:read'] })
    const again = mirrorOf(narrow, at.store())
    await again.catchUp()
    expect(await again.verify()).toMatchObject({ exact: true, rows: { customer: 3, ticket: 2 } })
    await expect(differencesByHand(client, at.sql, ['customers', 'tickets'])).resolves.toEqual([])
    await again.close()
  })
})

describe('following', () => {
  test('hears of changes, waits out a store and a service that are gone, and ends with its signal', async () => {
    const client = clientOf(await shared().newOrganization())
    const { customerIds } = await furnish(client)
    const store = new MemoryStore()
    let isGone = true
    const failing = hooked(store, () => {
      if (isGone) throw new StoreUnavailable('gone')
    })
    const controller = new AbortController()
    const troubles: string[] = []
    const mirror = mirrorOf(client, failing, {
      onTrouble: (trouble) => troubles.push(trouble.type),
      sleep: async () => {
        isGone = false
      },
    })
    const following = mirror.follow({ signal: controller.signal })
    const ended = expect(following).rejects.toThrow('seen enough')
    const names = () => [...store.rowsOf('customers')].map(({ text }) => JSON.parse(text).name)
    await eventually('the copy is there', () => names().length === 2)
    expect(troubles).toEqual(['unavailable'])
    await client.customers.update(customerIds[0] as string, { name: 'Heard' })
    await eventually('it has heard', () => names().includes('Heard'))
    isGone = true
    await client.customers.update(customerIds[0] as string, { name: 'Kept' })
    await eventually('it has gone on', () => names().includes('Kept'))
    controller.abort(new Error('seen enough'))
    await ended
    expect((await mirror.verify()).exact).toBe(true)
  })

  test('by hints looks when it is told to, and from time to time', async () => {
    const client = clientOf(await shared().newOrganization())
    await furnish(client)
    const store = new MemoryStore()
    const controller = new AbortController()
    let asleep: (() => void) | undefined
    const slept: number[] = []
    const mirror = mirrorOf(client, store, {
      sleep: (ms, signal) => {
        slept.push(ms)
        return new Promise((wake) => {
          asleep = wake
          signal?.addEventListener('abort', () => wake())
        })
      },
    })
    const following = mirror.follow({ by: 'hints', everyMs: 5_000, signal: controller.signal })
    const ended = expect(following).rejects.toThrow('seen enough')
    const count = () => [...store.rowsOf('customers')].length
    await eventually('it sleeps', () => slept.length === 1)
    await client.customers.create({ name: 'Hinted' })
    mirror.hint()
    await eventually('it has looked', () => count() === 3 && slept.length === 2)
    await client.customers.create({ name: 'In time' })
    asleep?.()
    await eventually('it has looked again', () => count() === 4 && slept.length === 3)
    expect(slept).toEqual([5_000, 5_000, 5_000])
    controller.abort(new Error('seen enough'))
    await ended
  })
})

test('a store with the copy of another organization is refused, and what the service refuses is thrown', async () => {
  const store = new MemoryStore()
  await mirrorOf(clientOf(await shared().newOrganization()), store).catchUp()
  const other = mirrorOf(clientOf(await shared().newOrganization('Other')), store)
  await expect(other.catchUp()).rejects.toThrow(MirrorError)
  await expect(other.follow()).rejects.toThrow(/holds a copy of organization .* the key is of .* \(Other\)/)
  const unknown = createClient({ baseUrl: `${shared().url}/v1`, apiKey: 'dwk_wrong' })
  await expect(mirrorOf(unknown, new MemoryStore()).follow()).rejects.toMatchObject({ status: 401 })
})
