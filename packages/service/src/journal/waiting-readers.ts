/** Readers that wait for a change (specification 7.6), woken by notifications, and by polls in case one is lost. */
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { FairQueue, LimitExceeded, noQueue } from '../admission/fair-queue.ts'
import { listen } from '../db/listen.ts'
import { OrganizationNotServed } from '../db/not-served.ts'
import type { DatabaseAddress } from '../db/pool.ts'
import { hiddenArray } from '../db/text-query.ts'
import { loggable } from '../kernel/log.ts'
import { periodic } from '../kernel/periodic.ts'
import { singleFlight } from '../kernel/shared-work.ts'
import { decodeNotification, type StreamNotification, streamChannel } from './notifier.ts'

interface Interest {
  readonly organizationId: string
  /** Kinds that change, or types of events. */
  readonly topics: ReadonlySet<string>
}

interface Watch extends Disposable {
  /**
   * True: read again, as something changed since the watch began or the last call. False: the wait is over.
   * @throws OrganizationNotServed when the organization has moved; its reader waits on at the other database.
   */
  next(): Promise<boolean>
  /** The organization's last stamp that the reader has seen. The poll wakes it when a later one exists. */
  seen(clock: number): void
}

export interface WaitingReaders {
  /**
   * Waits up to so many milliseconds, or until the signal aborts. Call it before reading, so that no change is missed.
   * @throws LimitExceeded when the organization, or all together, have too many waiting readers.
   */
  watch(interest: Interest, milliseconds: number, signal?: AbortSignal): Watch
  /**
   * Reads for all waiting readers with the same key, which one commit wakes together. The read begins after each call.
   */
  share<P>(key: string, read: () => Promise<P>): Promise<P>
  notify(notification: StreamNotification): void
  /** Reads the clocks of all organizations with waiting readers, in one query, and wakes those that are behind. */
  poll(): Promise<void>
  /** Ends the waits of an organization that has moved to another database. */
  endOf(organizationId: string): void
  /** Ends all waiting, now and from now on. */
  end(): void
  readonly waiting: number
}

/** The last stamps of these organizations, in milliseconds. */
type ReadClocks = (organizationIds: readonly string[]) => Promise<ReadonlyMap<string, number>>

interface Waiter {
  readonly interest: Interest
  clock: number
  isDue: boolean
  isOver: boolean
  hasMoved: boolean
  wake: (() => void) | null
}

/** More readers than this are woken over `spreadOver` milliseconds, so that they do not all read at once. */
const atOnce = 50
const spreadOver = 25
/** Waiting readers of all organizations. Each keeps a connection of its client open. */
const waitAtMost = 20_000

export function createWaitingReaders(readClocks: ReadClocks, atMost: number = waitAtMost): WaitingReaders {
  const byOrganization = new Map<string, Set<Waiter>>()
  const permits = new FairQueue('waiting_readers', { ...noQueue, capacity: atMost, share: 1 })
  let ended = false
  let waiting = 0
  const shared = singleFlight<unknown>()

  return {
    watch,
    share: <P>(key: string, read: () => Promise<P>) => shared(key, read) as Promise<P>,
    notify,
    poll,
    endOf(organizationId) {
      for (const waiter of byOrganization.get(organizationId) ?? []) {
        waiter.hasMoved = true
        finish(waiter)
      }
    },
    end() {
      ended = true
      for (const waiters of byOrganization.values()) for (const waiter of waiters) finish(waiter)
    },
    get waiting() {
      return waiting
    },
  }

  function watch(interest: Interest, milliseconds: number, signal?: AbortSignal): Watch {
    const permit = permits.tryAcquire(interest.organizationId)
    if (permit instanceof LimitExceeded) throw permit
    const waiter: Waiter = {
      interest,
      clock: Number.POSITIVE_INFINITY,
      isDue: false,
      isOver: ended,
      hasMoved: false,
      wake: null,
    }
    const waiters = byOrganization.get(interest.organizationId) ?? new Set()
    byOrganization.set(interest.organizationId, waiters.add(waiter))
    const timer = setTimeout(() => finish(waiter), milliseconds)
    const leave = () => {
      // Once: by the second time, others of the organization may wait in a set of their own.
      if (!waiters.delete(waiter)) return
      permit.release()
      clearTimeout(timer)
      finish(waiter)
      if (waiters.size === 0) byOrganization.delete(interest.organizationId)
    }
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave, { once: true })
    return {
      seen(clock) {
        waiter.clock = clock
      },
      async next() {
        if (!waiter.isDue && !waiter.isOver) await sleep(waiter)
        if (waiter.hasMoved && !ended) throw new OrganizationNotServed()
        const { isDue } = waiter
        waiter.isDue = false
        return isDue && !waiter.isOver
      },
      [Symbol.dispose]: leave,
    }
  }

  async function sleep(waiter: Waiter): Promise<void> {
    waiting++
    await new Promise<void>((resolve) => {
      waiter.wake = resolve
    })
    waiter.wake = null
    waiting--
  }

  function finish(waiter: Waiter): void {
    waiter.isOver = true
    waiter.wake?.()
  }

  function notify(notification: StreamNotification): void {
    if (notification === null) {
      for (const waiters of byOrganization.values()) wakeAll([...waiters])
      return
    }
    for (const [organizationId, topics] of notification) {
      const waiters = byOrganization.get(organizationId)
      if (waiters === undefined) continue
      wakeAll([...waiters].filter(({ interest }) => [...interest.topics].some((topic) => topics.has(topic))))
    }
  }

  async function poll(): Promise<void> {
    if (waiting === 0) return
    const clocks = await readClocks([...byOrganization.keys()])
    for (const [organizationId, clock] of clocks) {
      const waiters = byOrganization.get(organizationId) ?? []
      wakeAll([...waiters].filter((waiter) => clock > waiter.clock))
    }
  }

  function wakeAll(waiters: readonly Waiter[]): void {
    const areMany = waiters.length > atOnce
    for (const waiter of waiters) {
      if (waiter.isDue) continue
      waiter.isDue = true
      if (areMany && waiter.wake !== null) setTimeout(() => waiter.wake?.(), Math.random() * spreadOver)
      else waiter.wake?.()
    }
  }
}

export function createReadClocks(pool: Pool): ReadClocks {
  return async (organizationIds) => {
    const { rows } = await pool.query<{ organization_id: string; last_stamp: Date }>({
      name: 'read_clocks',
      text: `select c.organization_id, c.last_stamp from clocks c
               where c.organization_id = any(${hiddenArray('$1', 'uuid')})`,
      values: [organizationIds],
    })
    return new Map(rows.map((row) => [row.organization_id, row.last_stamp.getTime()]))
  }
}

/** Milliseconds: the longest delay after a lost notification. */
const pollEvery = 1_000
/** Milliseconds that a stop waits for the running query, which then ends with its pool. */
const stopWithin = 1_000

/**
 * Wakes readers by notifications of commits, and by polls in case one is lost. Uses one connection and one query a
 * second for all readers; `close` ends both. `database`: its name among several.
 */
export function startStreamListener(
  readers: WaitingReaders,
  address: DatabaseAddress,
  log: FastifyBaseLogger,
  database: string | null = null,
): { close(): Promise<void> } {
  const of = database === null ? {} : { database }
  const complain = (error: Error) =>
    log.warn({ ...of, err: loggable(error) }, 'notifications of the stream cannot be received; trying again')
  const listener = listen(
    address,
    streamChannel,
    (payload) => readers.notify(decodeNotification(payload)),
    complain,
  )
  const polling = periodic({
    every: pollEvery,
    stopWithin,
    run: () => readers.poll(),
    onFailure: complain,
  })
  polling.start()
  return {
    async close() {
      await Promise.all([polling.stop(), listener.close()])
    },
  }
}
