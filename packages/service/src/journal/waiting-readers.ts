/**
 * Readers of the stream that wait for something to happen (specification 7.6). While nothing does, a thousand of them
 * cost one query a second together: they are woken by notifications from whoever committed, and, should a writer have
 * died before it told, by that poll.
 */
import type { Pool } from 'pg'
import { FairQueue, noQueue } from '../admission/fair-queue.ts'
import { LimitExceeded } from '../admission/limit-exceeded.ts'
import { hiddenArray } from '../db/text-query.ts'
import { OrganizationAway } from './away.ts'
import type { StreamNotification } from './notifier.ts'

/** What a reader waits for: a change of one of these kinds, later than the clock it has seen. */
interface Interest {
  readonly organizationId: string
  readonly kinds: ReadonlySet<string>
}

interface Watch extends Disposable {
  /**
   * True, to look again, when something that the reader wishes for has happened since the watch began or since this
   * was last called. False when the reader's time is up, it has gone, or waiting is over for all.
   * @throws OrganizationAway when the organization has moved: its reader goes on waiting where it is now.
   */
  next(): Promise<boolean>
  /** What the reader has seen: the organization's last stamp. The poll wakes it when that has moved. */
  seen(clock: number): void
}

export interface WaitingReaders {
  /**
   * Begins a wait of so many milliseconds; before the reader looks, so that nothing falls between.
   * @throws LimitExceeded when the organization, or all, have as many as may wait.
   */
  watch(interest: Interest, milliseconds: number): Watch
  /** Something was told. */
  notify(notification: StreamNotification): void
  /** Asks once for the clocks of all organizations that somebody waits for. */
  poll(): Promise<void>
  /** Ends the waiting for changes of the organization, which has moved to another database. */
  endOf(organizationId: string): void
  /** Ends all waiting, now and from now on. */
  end(): void
  /** Readers that wait at this moment. */
  readonly waiting: number
}

/** The last stamps of these organizations, in milliseconds. */
type ReadClocks = (organizationIds: readonly string[]) => Promise<ReadonlyMap<string, number>>

interface Waiter {
  readonly interest: Interest
  clock: number
  /** Something has happened that it has not been told of. */
  isDue: boolean
  isOver: boolean
  hasMoved: boolean
  wake: (() => void) | null
}

/** Woken one by one, many waiters look at once; up to so many do not matter. */
const atOnce = 50
/** Beyond that they are spread over so many milliseconds. */
const spreadOver = 25
/** Readers of all organizations that may wait; half of them of one that is alone. Each has a connection open. */
const waitAtMost = 20_000

export function createWaitingReaders(readClocks: ReadClocks, atMost: number = waitAtMost): WaitingReaders {
  const byOrganization = new Map<string, Set<Waiter>>()
  const permits = new FairQueue('waiting_readers', { ...noQueue, capacity: atMost, share: 1 })
  let ended = false
  let waiting = 0

  return {
    watch,
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

  function watch(interest: Interest, milliseconds: number): Watch {
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
    return {
      seen(clock) {
        waiter.clock = clock
      },
      async next() {
        if (!waiter.isDue && !waiter.isOver) await sleep(waiter)
        if (waiter.hasMoved && !ended) throw new OrganizationAway('moved')
        const { isDue } = waiter
        waiter.isDue = false
        return isDue && !waiter.isOver
      },
      [Symbol.dispose]() {
        permit.release()
        clearTimeout(timer)
        finish(waiter)
        waiters.delete(waiter)
        if (waiters.size === 0) byOrganization.delete(interest.organizationId)
      },
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
    for (const [organizationId, kinds] of notification) {
      const waiters = byOrganization.get(organizationId)
      if (waiters === undefined) continue
      wakeAll([...waiters].filter(({ interest }) => [...interest.kinds].some((kind) => kinds.has(kind))))
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

  /** Wakes them: a few at once, a crowd spread over some milliseconds, so that it does not come down on the database. */
  function wakeAll(waiters: readonly Waiter[]): void {
    const isCrowd = waiters.length > atOnce
    for (const waiter of waiters) {
      if (waiter.isDue) continue
      waiter.isDue = true
      if (isCrowd && waiter.wake !== null) setTimeout(() => waiter.wake?.(), Math.random() * spreadOver)
      else waiter.wake?.()
    }
  }
}

/** Reads the last stamps of organizations, in one query. */
export function createReadClocks(pool: Pool): ReadClocks {
  return async (organizationIds) => {
    const { rows } = await pool.query<{ organization_id: string; last_stamp: Date }>({
      name: 'read_clocks',
      text: `select c.organization_id, c.last_stamp from organization_clocks c
               where c.organization_id = any(${hiddenArray('$1', 'uuid')})`,
      values: [organizationIds],
    })
    return new Map(rows.map((row) => [row.organization_id, row.last_stamp.getTime()]))
  }
}
