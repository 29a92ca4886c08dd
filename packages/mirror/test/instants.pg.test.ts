/** A mirror that fails at each instant of what it does, one after the other, and another that goes on. */
import { type Client, createClient } from '@deskwire/sdk'
import { expect, test } from 'vitest'
import { markRestored } from '../../service/src/backup/restore.ts'
import { systemClock } from '../../service/src/kernel/timestamps.ts'
import { sharedService } from '../../testbed/shared-service.ts'
import { Mirror } from '../src/index.ts'
import { differencesByHand } from './by-hand.ts'
import { Fault, hooked } from './hooked.ts'
import { type Place, places } from './stores.ts'

const shared = sharedService()
const plurals = ['customers', 'tickets']

/** The same client, which asks but once for what does not change here. */
function quick(client: Client): Client {
  const [document, organization] = [client.document(), client.organization.get()]
  return Object.assign(Object.create(client), {
    document: () => document,
    organization: { get: () => organization },
  })
}

/** An instant of one store is one of each other: of the slower ones, some are enough. */
const strides = { SQLite: 1, PostgreSQL: 19, DuckDB: 23 }

test.each(Object.entries(places))('in %s', async (name, place) => {
  const stride = strides[name as keyof typeof strides]
  const service = shared()
  await using at = await place(service.database.connection)
  const { organizationId, token } = await service.newOrganization()
  const all = createClient({ baseUrl: `${service.url}/v1`, apiKey: token })
  const { id: customerId } = await all.customers.create({ name: 'Ada', tags: ['a'] })
  await all.tickets.create({ customerId, subject: 'The engine halts' })
  const key = await service.newKey(organizationId, ['customers:read', 'tickets:read'])
  const client = quick(createClient({ baseUrl: `${service.url}/v1`, apiKey: key.token }))
  const failuresOf = async (work: (mirror: Mirror) => Promise<unknown>) => {
    const failures = await failAtEach(at, client, stride, work)
    expect(await differencesByHand(client, at.sql, plurals)).toEqual([])
    return failures * stride
  }
  const catchUp = (mirror: Mirror) => mirror.catchUp()

  // The first load.
  expect(await failuresOf(catchUp)).toBeGreaterThan(20)
  // A page, with something of everything.
  const { id } = await all.customers.create({ name: 'Short' })
  await all.customers.update(customerId, { name: 'Changed' })
  await all.customers.delete(id)
  await all.tickets.create({ customerId, subject: 'New' })
  expect(await failuresOf(catchUp)).toBeGreaterThan(7)
  await at.sql("update tickets set subject = 'Touched' where number = 1")
  expect(await failuresOf((mirror) => mirror.repair())).toBeGreaterThan(9)
  // A new copy beside the old one.
  await markRestored(service.database.pool, systemClock)
  expect(await failuresOf(catchUp)).toBeGreaterThan(30)
})

/**
 * Has one mirror after the other do the work, each of which fails one instant later than the one before; and at the first again, where
 * that one has committed something. Answers how many have failed when one does not.
 */
async function failAtEach(
  at: Place,
  client: Client,
  stride: number,
  work: (mirror: Mirror) => Promise<unknown>,
): Promise<number> {
  // Each run of the slower ones begins at another.
  const first = Date.now() % Math.min(stride, 5)
  let instant = first
  for (let failures = 0; ; failures++) {
    let steps = 0
    let [isNoted, isMoved] = [false, false]
    const store = hooked(at.store(), (step, first) => {
      if (step === 'begin') isNoted = false
      // The status is recorded whenever the copy has caught up, which moves nothing.
      isNoted ||= step === 'setNote' && first !== 'status'
      isMoved ||= isNoted && step === 'committed'
      if (steps++ === instant) throw new Fault()
    })
    const onTrouble = ({ type }: { type: string }) => expect(type).toBe('restored')
    const mirror = new Mirror({ client, store, onTrouble })
    const failure = await work(mirror).then(
      () => null,
      (error: unknown) => error,
    )
    await mirror.close()
    if (failure === null) return failures
    expect(failure, `at ${instant}`).toBeInstanceOf(Fault)
    instant = isMoved ? first : instant + stride
  }
}
