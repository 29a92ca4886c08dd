/** A mirror that fails at each instant of what it does, one after the other, and another that goes on. */
import { type Client, createClient } from '@deskwire/sdk'
import { expect, test } from 'vitest'
import { tellRestored } from '../../service/src/backup/restored.ts'
import { systemClock } from '../../service/src/kernel/timestamps.ts'
import { testService } from '../../service/test/harness/service.ts'
import { Mirror } from '../src/index.ts'
import { differencesByHand } from './by-hand.ts'
import { Fault, failingAt, hooked } from './hooked.ts'
import { type Place, places } from './stores.ts'

const plurals = ['customers', 'tickets']

/** The same client, which asks but once for what does not change here. */
function quick(client: Client): Client {
  const [document, organization] = [client.document(), client.organization.get()]
  return Object.assign(Object.create(client), {
    document: () => document,
    organization: { get: () => organization },
  })
}

/** An instant of one store is one of each other: of the slower ones, and of the longer work, some are enough. */
const strides = {
  SQLite: { short: 1, long: 4 },
  PostgreSQL: { short: 4, long: 13 },
  DuckDB: { short: 6, long: 19 },
}

test.each(Object.entries(places))('in %s', async (name, place) => {
  const { short, long } = strides[name as keyof typeof strides]
  await using service = await testService()
  await using at = await place()
  const { organizationId, token } = service.api
  const all = createClient({ baseUrl: `${service.url}/v1`, apiKey: token })
  const { id: customerId } = await all.customers.create({ name: 'Ada', tags: ['a'] })
  await all.tickets.create({ customerId, subject: 'The engine halts' })
  const key = await service.newKey(organizationId, ['customers:read', 'tickets:read'])
  const client = quick(createClient({ baseUrl: `${service.url}/v1`, apiKey: key.token }))

  let changes = 0
  const change = async () => {
    const { id } = await all.customers.create({ name: 'Short' })
    await all.customers.update(customerId, { name: `Changed ${changes++}` })
    await all.customers.remove(id)
    await all.tickets.create({ customerId, subject: 'New' })
  }
  const touch = () => at.sql("update tickets set subject = 'Touched' where number = 1")
  const restore = () => tellRestored(service.database.pool, systemClock)
  const catchUp = (mirror: Mirror) => mirror.catchUp()

  expect(await failed(at, client, long, () => drop(at), catchUp)).toBeGreaterThan(20 / long)
  expect(await failed(at, client, short, change, catchUp)).toBeGreaterThan(7 / short)
  expect(await failed(at, client, short, touch, (mirror) => mirror.repair())).toBeGreaterThan(9 / short)
  expect(await failed(at, client, long, restore, catchUp)).toBeGreaterThan(30 / long)
})

/**
 * Fails at an instant of the work, has another mirror do it, and holds what is there against the service; and so for instant after
 * instant, until there is none left. Answers at how many it failed.
 */
async function failed(
  at: Place,
  client: Client,
  stride: number,
  prepare: () => Promise<unknown>,
  work: (mirror: Mirror) => Promise<unknown>,
): Promise<number> {
  for (let instants = 0; ; instants++) {
    await prepare()
    const hook = failingAt(instants * stride)
    const failing = new Mirror({ client, store: hooked(at.store(), hook) })
    const failure = await work(failing).then(
      () => null,
      (error: unknown) => error,
    )
    await failing.close()
    expect(failure).toEqual(hook.hasFailed() ? expect.any(Fault) : null)
    const onTrouble = ({ type }: { type: string }) => expect(type).toBe('restored')
    const mirror = new Mirror({ client, store: at.store(), onTrouble })
    await work(mirror)
    await mirror.close()
    expect(await differencesByHand(client, at.sql, plurals)).toEqual([])
    if (failure === null) return instants
  }
}

async function drop(at: Place): Promise<void> {
  const store = at.store()
  await store.open()
  await store.write(async (tx) => {
    for (const copy of ['live', 'next']) {
      for (const [, table] of JSON.parse((await tx.note(`${copy} tables`)) ?? '[]')) await tx.drop(table)
      await tx.setNote(copy, null)
      await tx.setNote(`${copy} tables`, null)
    }
  })
  await store.close()
}
