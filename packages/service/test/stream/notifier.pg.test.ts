/** What is told of commits, and how often. */
import { expect, test } from 'vitest'
import { listen } from '../../src/db/listen.ts'
import {
  createNotifier,
  decodeNotification,
  deliveriesChannel,
  streamChannel,
  type WorkerBeside,
} from '../../src/journal/notifier.ts'
import { testDatabase } from '../harness/database.ts'

type Heard = Record<typeof deliveriesChannel | typeof streamChannel, string[]>

/** Runs `tell` with an announcer, and gives all that was heard until `enough`. */
async function hearing(
  tell: (notifier: ReturnType<typeof createNotifier>) => unknown,
  enough: (heard: Heard) => boolean,
  worker: WorkerBeside | null = null,
): Promise<Heard> {
  await using database = await testDatabase()
  const fail = (error: Error) => {
    throw error
  }
  const heard: Heard = { [deliveriesChannel]: [], [streamChannel]: [] }
  const ready = [deliveriesChannel, streamChannel].map((channel) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    // The first says that it listens.
    let listening = false
    const notify = (payload: string) => {
      if (listening) heard[channel as keyof Heard].push(payload)
      listening = true
      resolve()
    }
    return { promise, listener: listen(database.connection, channel, notify, fail) }
  })
  await Promise.all(ready.map(({ promise }) => promise))
  await tell(createNotifier(database.pool, fail, worker))
  await expect.poll(() => enough(heard), { timeout: 10_000 }).toBe(true)
  await Promise.all(ready.map(({ listener }) => listener.close()))
  return heard
}

test('what a commit for two organizations tells is told at once, to each that it concerns', async () => {
  const heard = await hearing(
    (notifier) => {
      notifier.deliveries()
      notifier.changes('a', ['customer', 'ticket'])
      notifier.changes('b', ['booking'])
    },
    (heard) => heard[streamChannel].length > 0 && heard[deliveriesChannel].length > 0,
  )
  expect(heard[deliveriesChannel]).toEqual(['due 0'])
  expect(heard[streamChannel].map(decodeNotification)).toEqual([
    new Map([
      ['a', new Set(['customer', 'ticket'])],
      ['b', new Set(['booking'])],
    ]),
  ])
})

test('workers are not woken by changes without deliveries, nor readers by deliveries', async () => {
  const heard = await hearing(
    async (notifier) => {
      notifier.changes('a', ['customer'])
      await Promise.resolve()
      await Promise.resolve()
      notifier.deliveries()
    },
    (heard) => heard[streamChannel].length > 0 && heard[deliveriesChannel].length > 0,
  )
  expect(heard).toEqual({ [deliveriesChannel]: ['due 0'], [streamChannel]: ['a:customer'] })
})

test('all that one notification tells is due when the last of it is, and was told to a worker if all of it was', async () => {
  const made = { queues: [], handedOver: [], maxAttempts: 6 }
  const told = async (ids: readonly (string | null)[]) => {
    const left = [...ids]
    const worker = { id: 'w', leaseFor: 15_000, tell: () => left.shift() !== null }
    const heard = await hearing(
      (notifier) => {
        for (const at of [2_000, 3_000, 1_000]) notifier.deliveries({ at, ...made })
      },
      (heard) => heard[deliveriesChannel].length > 0,
      worker,
    )
    return heard[deliveriesChannel]
  }
  expect(await told(['w', 'w', 'w'])).toEqual(['due 3000 w'])
  expect(await told(['w', null, 'w'])).toEqual(['due 3000'])
})

test('however many commits there are, one notification is sent in ten milliseconds, and none is kept back for ever', async () => {
  const organizations = Array.from({ length: 500 }, (_, n) => `o${n}`)
  const began = performance.now()
  const heard = await hearing(
    async (notifier) => {
      for (const organization of organizations) {
        notifier.changes(organization, ['customer'])
        await new Promise(setImmediate)
      }
    },
    (heard) => heard[streamChannel].join(',').split(',').length === organizations.length,
  )
  const sent = heard[streamChannel].length
  expect(sent).toBeLessThanOrEqual(6 + (performance.now() - began) / 10)
  expect(sent).toBeGreaterThan(1)
  const told = heard[streamChannel].flatMap((payload) => [...(decodeNotification(payload)?.keys() ?? [])])
  // Connections of the pool may overtake each other.
  expect(told.sort()).toEqual(organizations.sort())
})
