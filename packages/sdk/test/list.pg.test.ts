/** Iterating lists of a real service that is written to meanwhile. */
import { expect, test } from 'vitest'
import { sharedService } from '../../testbed/shared-service.ts'
import { createClient } from '../src/index.ts'

const shared = sharedService()

test('a list of tickets neither misses nor repeats a row that exists throughout, while others are created, changed and deleted', async () => {
  const api = await shared().newOrganization()
  const client = createClient({ baseUrl: `${shared().url}/v1`, apiKey: api.token })
  const { id: customerId } = await client.customers.create({ name: 'Ada' })
  const create = (subject: string) => client.tickets.create({ customerId, subject })
  // Created at once, so that pages end between rows of one moment.
  const made = await Promise.all(Array.from({ length: 340 }, (_, n) => create(`Ticket ${n}`)))
  const doomed = made.filter((_, n) => n % 4 === 0).map(({ id }) => id)
  const lasting = made.filter((_, n) => n % 4 !== 0).map(({ id }) => id)

  const seen: string[] = []
  let reading = true
  let writes = 0
  const write = async (change: () => Promise<unknown> | undefined) => {
    while (reading) {
      const begun = change()
      if (begun === undefined) return
      await begun
      writes++
    }
  }
  const changed = lasting.slice()
  const writers = [
    () => write(() => create('New')),
    () =>
      write(() =>
        client.tickets.update(changed[writes % changed.length] as string, { subject: `${writes}` }),
      ),
    () => write(() => (doomed.length > 0 ? client.tickets.delete(doomed.pop() as string) : undefined)),
  ].map((begin) => begin())
  // As many writes as rows are read, so that each page is followed by writes.
  for await (const { id } of client.tickets.list()) {
    seen.push(id)
    const wanted = seen.length / 2
    await expect.poll(() => writes, { interval: 1, timeout: 60_000 }).toBeGreaterThan(wanted)
  }
  reading = false
  await Promise.all(writers)

  expect(new Set(seen).size).toBe(seen.length)
  expect(lasting.filter((id) => !seen.includes(id))).toEqual([])
  expect(doomed.length).toBeLessThan(85)
})
