/** A mirror that is killed in the middle of its transactions, and another that goes on. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createClient } from '@deskwire/sdk'
import { expect, test } from 'vitest'
import { sharedService } from '../../testbed/shared-service.ts'
import { Mirror, type MirrorOptions } from '../src/index.ts'
import { differencesByHand } from './by-hand.ts'
import type { KilledOrder } from './killed-process.ts'
import { places } from './stores.ts'

const shared = sharedService()
const program = fileURLToPath(new URL('killed-process.ts', import.meta.url))

/** Runs a mirror that kills itself with SIGKILL at the step that comes after the first of this name, and answers the signal it ended by. */
function killedAt(order: KilledOrder): Promise<string | undefined> {
  return new Promise((resolve) => {
    const words = ['--disable-warning=ExperimentalWarning', program, JSON.stringify(order)]
    execFile(process.execPath, words, (error) => resolve(error?.signal ?? undefined))
  })
}

test.each(Object.entries(places))('in %s', async (_, place) => {
  await using at = await place(shared().database.connection)
  const { token } = await shared().newOrganization()
  const options = { baseUrl: `${shared().url}/v1`, apiKey: token }
  const client = createClient(options)
  const create = (n: number) => client.customers.create({ name: `Customer ${n}`, tags: ['a'] })
  const kept = await create(0)
  const killed = (step: string) =>
    expect(killedAt({ ...options, place: at.address, step }), step).resolves.toBe('SIGKILL')
  // Rows are loaded, and where the load stands is not noted.
  await killed('append')
  const mirrorOf = (onTrouble?: MirrorOptions['onTrouble']) =>
    new Mirror({ client, store: at.store(), ...(onTrouble && { onTrouble }) })
  const first = mirrorOf()
  await first.catchUp()
  await first.close()
  // A row is written, and another is not removed yet.
  const gone = await create(1)
  await client.customers.update(kept.id, { name: 'Changed' })
  await client.customers.delete(gone.id)
  await create(2)
  await killed('put')
  const mirror = mirrorOf(({ type }) => expect(type).toBeUndefined())
  expect(await mirror.verify()).toMatchObject({ exact: true, rows: { customer: 2 } })
  expect(await differencesByHand(client, at.sql, ['customers'])).toEqual([])
  await mirror.close()
})
