/**
 * The engine: finds lanes with something due and runs their turns, many at once, each its own. It is woken right after a
 * commit, and looks besides: a notification is a hint, the table is the truth.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { stopwatch } from '../kernel/clock.ts'
import { createKeyedQueue, type KeyedQueue } from '../kernel/keyed-queue.ts'
import { loggable } from '../kernel/loggable.ts'
import { Alarm } from './alarm.ts'
import { createDisabler } from './disabler.ts'
import { Halt } from './halt.ts'
import type { Place } from './lane-sweep.ts'
import type { DueLane, LaneKey, Lanes } from './lanes.ts'
import { tickEvery } from './pace.ts'
import { leaseOf } from './schedule.ts'
import { type SlotLimits, Slots } from './slots.ts'
import { foundAtOnce, tiers } from './tiers.ts'
import { type Shared, Turn, type TurnEnd, type TurnServices } from './turn.ts'

export interface Engine {
  /** Something may be due: look at once. */
  wake(): void
  /** Looks again and again until stopped. */
  start(): void
  /**
   * Takes no more lanes, begins no more attempts, and waits for those under way to be settled: for 12 s, after
   * which what is not answered is left due; and for 2 s more, after which a database that does not answer is left.
   */
  stop(): Promise<void>
  /** Does all that is due by the clock, and answers how many turns that took. For tests and drains. */
  runDue(): Promise<number>
  /** Attempts under way. */
  readonly inFlight: number
}

/**
 * Milliseconds from one look to the next at least: whoever is woken more often looks for all of them at once. Without it, a
 * crowd of lanes that wait for slots made thousands of searches a second.
 */
const looksApart = 5
/**
 * Milliseconds from one look for slow lanes to the next, at least; each finds a few. Attempts that hang together are given up
 * together: a thousand handshakes begun at once in their place held everybody else up for seconds, every ten.
 */
export const slowApart = 80
/** They begin one after another, in milliseconds: each may have a handshake to make, and whoever is well waits for those. */
const slowStep = slowApart / foundAtOnce.slow
/** How often to look without being woken, in milliseconds. */
const pollEvery = 500
/** How long a stop waits for attempts, and then for the database; together below the service's 15 s. */
const attemptsMayTake = 12_000
const settlingMayTake = 2_000
/** How often to look for due deliveries whose lane does not say so, in milliseconds. */
const sweepEvery = 30_000
/** Clocks of workers may differ by so much, in milliseconds, before one takes the other's leases for impossible. */
const clocksDiffer = 60_000
/** A clock that goes back by more was set back, in milliseconds; others may follow it within so many sweeps, which search again. */
const setBackBy = 1_000
const suspiciousSweeps = 4

interface RunningTurn {
  readonly turn: Turn
  readonly ended: Promise<TurnEnd>
}

export function createEngine(
  services: TurnServices,
  options: {
    readonly slots?: SlotLimits
    /** Whose leases these are: whoever learns of the worker's death gives them back by it. */
    readonly workerId?: string
    /** For turns of all but the light, who are not to wait for a connection behind them. */
    readonly otherLanes?: Lanes
    /** Calls that take an organization's clock row, one at a time of each. */
    readonly clockTurns?: KeyedQueue
  } = {},
): Engine {
  const { lanes, clock, log, schedule } = services
  const {
    slots: limits,
    workerId = randomUUID(),
    otherLanes = lanes,
    clockTurns = createKeyedQueue(),
  } = options
  const disabler = createDisabler({ ...services, lanes: otherLanes, clockTurns, onDisabled })
  const running = new Map<string, RunningTurn>()
  const halt = new Halt()
  const shared: Shared = {
    workerId,
    slots: new Slots(limits),
    alarm: new Alarm(),
    disabler,
    halt,
    payloads: 0,
  }
  let sweeping: Promise<void> | null = null
  let searching: Promise<unknown> | null = null
  /** Where the search for what a clock left in the future goes on; null at its beginning. */
  let place: Place | null = null
  let timers: NodeJS.Timeout[] = []
  let ticker: NodeJS.Timeout | undefined
  let looking: Promise<void> | null = null
  let lookAgain = false
  /** Lanes may be waiting for a slot. */
  let behind = false
  /** Somebody drains by hand, and looks again by itself. */
  let draining = false
  /** Nothing is known of the time before the first look: the clock may have been set back then. */
  let lastLook = Number.POSITIVE_INFINITY
  /** Searches to be made for what a clock left in the future. */
  let suspicions = 0
  let sinceLook = () => Number.POSITIVE_INFINITY
  let sinceSlow = () => Number.POSITIVE_INFINITY
  /** Wakes when slow lanes may be looked for again. */
  let slowTimer: NodeJS.Timeout | null = null

  return {
    wake,
    start,
    stop,
    runDue,
    get inFlight() {
      return shared.slots.inUse
    },
  }

  function wake(): void {
    if (halt.requested) return
    if (looking !== null) {
      lookAgain = true
      return
    }
    looking = lookInTime()
      .then(
        () => {},
        (error: Error) => log.warn({ err: loggable(error) }, 'due deliveries cannot be found; looking again'),
      )
      .finally(() => {
        looking = null
        if (lookAgain) {
          lookAgain = false
          wake()
        }
      })
  }

  async function lookInTime(): Promise<unknown> {
    const since = sinceLook()
    if (since < looksApart) await delay(looksApart - since)
    sinceLook = stopwatch()
    return look()
  }

  /** Begins turns of what is due, as many as there are slots for. */
  async function look(): Promise<readonly RunningTurn[]> {
    const now = clock.now()
    if (now < lastLook - setBackBy) {
      suspicions = 1 + suspiciousSweeps
      // What is due does not wait for it: there may be a million that are not.
      const searched = searchFuture()
      if (draining) await searched
      else searched.catch(complain)
    }
    lastLook = now
    const withRoom = tiers.filter((tier) => shared.slots.hasRoom(tier))
    const open = draining || mayBeSlow() ? withRoom : withRoom.filter((tier) => tier !== 'slow')
    const due = open.length === 0 ? [] : await lanes.findDue(shared.workerId, now, open)
    const begun: RunningTurn[] = []
    behind = withRoom.length < tiers.length
    const full = open.some((tier) => due.filter((lane) => lane.tier === tier).length === foundAtOnce[tier])
    let slow = 0
    for (const lane of due) {
      if (lane.tier === 'slow' && !draining && slow++ > 0) {
        setTimeout(begin, (slow - 1) * slowStep, lane)
        continue
      }
      const turn = begin(lane)
      if (turn !== null) begun.push(turn)
    }
    // There are more where those came from.
    if (full && (begun.length > 0 || slow > 1) && !draining) wake()
    return begun
  }

  /** Wakes the lane's turn, or begins one, which it then answers. */
  function begin(lane: DueLane): RunningTurn | null {
    const known = running.get(keyOf(lane))
    known?.turn.wake()
    const turn = known === undefined ? launch(lane) : null
    if (known === undefined && turn === null) behind = true
    return turn
  }

  /** What is pending on it has to fail. */
  function onDisabled(): void {
    if (!draining) wake()
  }

  /** Whether slow lanes may be looked for now; if not, they are when it is time. */
  function mayBeSlow(): boolean {
    const since = sinceSlow()
    if (since >= slowApart) {
      sinceSlow = stopwatch()
      return true
    }
    slowTimer ??= setTimeout(() => {
      slowTimer = null
      wake()
    }, slowApart - since)
    return false
  }

  function launch(lane: DueLane): RunningTurn | null {
    const slot = halt.requested ? null : shared.slots.enter(lane.tier)
    if (slot === null) return null
    const turn = new Turn(
      { ...services, lanes: lane.tier === 'light' ? lanes : otherLanes },
      shared,
      lane,
      slot,
    )
    const ended = turn
      .run()
      .catch((error: Error) => {
        // The lease runs out and the lane is found again.
        const { organizationId, webhookId } = lane
        log.warn({ organizationId, webhookId, err: loggable(error) }, 'a turn failed')
        return { ran: false, more: false }
      })
      .finally(() => {
        running.delete(keyOf(lane))
        if (running.size === 0) clearInterval(ticker)
      })
    if (running.size === 0) ticker = setInterval(tick, tickEvery)
    const begun = { turn, ended }
    running.set(keyOf(lane), begun)
    void ended.then(({ more }) => {
      // On this lane, or on one that has waited for a slot.
      if ((more || behind) && !draining) wake()
    })
    return begun
  }

  function tick(): void {
    for (const { turn } of running.values()) turn.tick()
  }

  function start(): void {
    timers = [setInterval(wake, pollEvery), setInterval(sweep, sweepEvery)]
    wake()
    sweep()
  }

  function sweep(): void {
    sweeping ??= sweepOnce()
      .then((woken) => {
        if (woken > 0) log.warn({ lanes: woken }, 'due deliveries were found whose lanes did not say so')
      }, complain)
      .finally(() => {
        sweeping = null
      })
  }

  async function sweepOnce(): Promise<number> {
    const woken = await lanes.sweep(clock.now(), leaseOf(schedule) + clocksDiffer)
    if (suspicions > 0) await searchFuture()
    return woken
  }

  /** Looks through all that is pending and not due, piece by piece; what failed goes on where it was. */
  function searchFuture(): Promise<unknown> {
    searching ??= walk().finally(() => {
      searching = null
    })
    return searching
  }

  async function walk(): Promise<void> {
    do {
      const { woken, next } = await lanes.wakeFromTheFuture(clock.now(), place)
      place = next
      if (woken > 0) {
        log.warn({ deliveries: woken }, 'deliveries were found that a clock had left in the future')
        // Whoever drains looks when this is done.
        if (!draining) wake()
      }
    } while (place !== null && !halt.requested)
    if (place === null) suspicions--
  }

  function complain(error: Error): void {
    log.warn({ err: loggable(error) }, 'the sweep for stray deliveries failed; it will be tried again')
  }

  async function stop(): Promise<void> {
    halt.request()
    disabler.stop()
    for (const timer of timers) clearInterval(timer)
    if (slowTimer !== null) clearTimeout(slowTimer)
    const turns = () => Promise.all([...running.values()].map(({ ended }) => ended))
    const ended = Promise.all([sweeping, searching?.catch(() => {}), Promise.resolve(looking).then(turns)])
    const over = new AbortController()
    const limit = (milliseconds: number) =>
      delay(milliseconds, undefined, { signal: over.signal }).catch(() => {})
    await Promise.race([ended, limit(attemptsMayTake)])
    halt.cut()
    await Promise.race([ended, limit(settlingMayTake)])
    over.abort()
  }

  async function runDue(): Promise<number> {
    draining = true
    for (let turns = 0; ; ) {
      const begun = await look()
      if (begun.length === 0) return turns
      const ends = await Promise.all(begun.map(({ ended }) => ended))
      turns += ends.filter(({ ran }) => ran).length
    }
  }
}

function keyOf({ organizationId, webhookId }: LaneKey): string {
  return `${organizationId} ${webhookId}`
}
