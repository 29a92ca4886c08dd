/** What is told of commits, and how often. */
import { expect, test } from 'vitest'
import { testDatabase } from '../../../testbed/database.ts'
import { listen } from '../../src/db/listen.ts'
import {
  createNotifier,
  decodeDeliveries,
  decodeNotification,
  deliveriesChannel,
  encodeDeliveries,
  type NotifyWorker,
  streamChannel,
} from '../../src/journal/notifier.ts'

type Heard = Record<typeof deliveriesChannel | typeof streamChannel, string[]>

/** Runs `tell` with an announcer, and gives all that was heard until `enough`. */
async function hearing(
  tell: (notifier: ReturnType<typeof createNotifier>) => unknown,
  enough: (heard: Heard) => boolean,
  notifyWorker: NotifyWorker | null = null,
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
  await tell(createNotifier(database.pool, fail, notifyWorker))
  await expect.poll(() => enough(heard)).toBe(true)
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
  expect(heard[deliveriesChannel]).toEqual(['due 0 -'])
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
  expect(heard).toEqual({ [deliveriesChannel]: ['due 0 -'], [streamChannel]: ['a:customer'] })
})

const organizationId = '01990000-0000-7000-8000-000000000001'
const dueQueue = (n: number, priority = 0) => ({
  organizationId,
  webhookId: `01990000-0000-7000-8000-${String(n).padStart(12, '0')}`,
  priority,
  worker: n % 2 === 0 ? null : '01990000-0000-7000-8000-00000000000b',
})

test('names in one notification every queue that several commits woke, and the worker that was told of all of them', async () => {
  const heardOf = async (ids: readonly (string | null)[]) => {
    const left = [...ids]
    const heard = await hearing(
      (notifier) => {
        for (const at of [2_000, 3_000, 1_000]) notifier.deliveries({ at, queues: [dueQueue(at)] })
      },
      (heard) => heard[deliveriesChannel].length > 0,
      () => left.shift() ?? null,
    )
    return heard[deliveriesChannel].map(decodeDeliveries)
  }
  const queues = [2_000, 3_000, 1_000].map((n) => dueQueue(n))
  expect(await heardOf(['w', 'w', 'w'])).toEqual([{ at: 3_000, notified: 'w', queues }])
  expect(await heardOf(['w', null, 'w'])).toEqual([{ at: 3_000, notified: null, queues }])
})

test('says nothing of a commit that woke no queue', async () => {
  const heard = await hearing(
    (notifier) => {
      notifier.deliveries({ at: 1_000, queues: [] })
      notifier.changes('a', ['customer'])
    },
    (heard) => heard[streamChannel].length > 0,
  )
  expect(heard[deliveriesChannel]).toEqual([])
})

test('reads back what it writes, in as many payloads as its queues need', () => {
  const few = Array.from({ length: 3 }, (_, n) => dueQueue(n, n))
  const many = Array.from({ length: 1_000 }, (_, n) => dueQueue(2 * n + 1))
  const [at, notified] = [1_780_000_000_123, '01990000-0000-7000-8000-00000000000a']
  for (const said of [
    { at, notified: null, queues: null },
    { at, notified, queues: null },
    { at, notified, queues: few },
    { at, notified: null, queues: many },
  ]) {
    const payloads = encodeDeliveries(said)
    for (const payload of payloads) expect(payload.length).toBeLessThan(8_000)
    const read = payloads.map(decodeDeliveries)
    expect(read.every((one) => one.at === at && one.notified === said.notified)).toBe(true)
    expect(said.queues === null ? read[0]?.queues : read.flatMap(({ queues }) => queues)).toEqual(said.queues)
  }
  for (const payload of ['', 'large'])
    expect(decodeDeliveries(payload)).toEqual({ at: 0, notified: null, queues: null })
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
