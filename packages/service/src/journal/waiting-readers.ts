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
  /** The API key that holds a stream open for this interest, of which it may have so many. */
  readonly streamOf?: string
}

/** Why a wait is over: its time is up, the process stops, or its client has left. */
type Over = 'time_up' | 'stopping' | 'left'

interface Watch extends Disposable {
  /**
   * True: read again, as something changed since the watch began or the last call. False: the wait is over, or nothing
   * changed for so many milliseconds.
   * @throws OrganizationNotServed when the organization has moved; its reader waits on at the other database.
   */
  next(within?: number): Promise<boolean>
  /** Null while the wait goes on. */
  readonly over: Over | null
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
  readonly limits: ReaderLimits
}

export interface ReaderLimits {
  /** Waiting readers of all organizations. Each keeps a connection of its client open. */
  readonly all: number
  /** Streams that an API key holds open. */
  readonly streamsOfKey: number
  /** Milliseconds after which a stream in which nothing happens shows that it is alive. */
  readonly heartbeat: number
  /** Milliseconds after which a stream ends, so that clients spread over the processes of the service again. */
  readonly lifetime: number
}

export const readerLimits: ReaderLimits = {
  all: 20_000,
  streamsOfKey: 100,
  // Proxies close a connection that is silent for a minute, some for half of that.
  heartbeat: 15_000,
  lifetime: 60 * 60 * 1_000,
}

/** The last stamps of these organizations, in milliseconds. */
type ReadClocks = (organizationIds: readonly string[]) => Promise<ReadonlyMap<string, number>>

interface Waiter {
  readonly interest: Interest
  clock: number
  isDue: boolean
  over: Over | 'moved' | null
  wake: (() => void) | null
}

/** More readers than this are woken over `spreadOver` milliseconds, so that they do not all read at once. */
const atOnce = 50
const spreadOver = 25

export function createWaitingReaders(
  readClocks: ReadClocks,
  given: Partial<ReaderLimits> = {},
): WaitingReaders {
  const limits = { ...readerLimits, ...given }
  const byOrganization = new Map<string, Set<Waiter>>()
  const permits = new FairQueue('waiting_readers', { ...noQueue, capacity: limits.all, share: 1 })
  const streams = new Map<string, number>()
  let ended = false
  let waiting = 0
  const shared = singleFlight<unknown>()

  return {
    watch,
    share: <P>(key: string, read: () => Promise<P>) => shared(key, read) as Promise<P>,
    notify,
    poll,
    endOf(organizationId) {
      for (const waiter of byOrganization.get(organizationId) ?? []) finish(waiter, 'moved')
    },
    end() {
      ended = true
      for (const waiters of byOrganization.values()) for (const waiter of waiters) finish(waiter, 'stopping')
    },
    get waiting() {
      return waiting
    },
    limits,
  }

  /** Null: the key has as many streams as it may. */
  function countStream(key: string): (() => void) | null {
    const open = streams.get(key) ?? 0
    if (open >= limits.streamsOfKey) return null
    streams.set(key, open + 1)
    return () => {
      const left = (streams.get(key) ?? 0) - 1
      if (left > 0) streams.set(key, left)
      else streams.delete(key)
    }
  }

  function watch(interest: Interest, milliseconds: number, signal?: AbortSignal): Watch {
    const { streamOf } = interest
    const leaveKey = streamOf === undefined ? () => {} : countStream(streamOf)
    if (leaveKey === null) throw new LimitExceeded('own_share', 'streams')
    const permit = permits.tryAcquire(interest.organizationId)
    if (permit instanceof LimitExceeded) {
      leaveKey()
      throw permit
    }
    const waiter: Waiter = {
      interest,
      clock: Number.POSITIVE_INFINITY,
      isDue: false,
      over: ended ? 'stopping' : null,
      wake: null,
    }
    const waiters = byOrganization.get(interest.organizationId) ?? new Set()
    byOrganization.set(interest.organizationId, waiters.add(waiter))
    const timer = setTimeout(() => finish(waiter, 'time_up'), milliseconds)
    const leave = () => {
      // Once: by the second time, others of the organization may wait in a set of their own.
      if (!waiters.delete(waiter)) return
      permit.release()
      leaveKey()
      clearTimeout(timer)
      finish(waiter, 'left')
      if (waiters.size === 0) byOrganization.delete(interest.organizationId)
    }
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave, { once: true })
    return {
      seen(clock) {
        waiter.clock = clock
      },
      async next(within) {
        if (!waiter.isDue && waiter.over === null) await sleep(waiter, within)
        if (waiter.over === 'moved') throw new OrganizationNotServed()
        const { isDue } = waiter
        waiter.isDue = false
        return isDue && waiter.over === null
      },
      get over() {
        return waiter.over === 'moved' ? null : waiter.over
      },
      [Symbol.dispose]: leave,
    }
  }

  async function sleep(waiter: Waiter, within: number | undefined): Promise<void> {
    waiting++
    const { promise, resolve } = Promise.withResolvers<void>()
    waiter.wake = resolve
    const timer = within === undefined ? undefined : setTimeout(resolve, within)
    await promise
    clearTimeout(timer)
    waiter.wake = null
    waiting--
  }

  /** A stop overrides a move, as nothing here waits on at the other database then. */
  function finish(waiter: Waiter, over: Over | 'moved'): void {
    if (waiter.over === null || over === 'stopping') waiter.over = over
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
