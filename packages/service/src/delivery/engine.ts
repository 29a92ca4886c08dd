/**
 * The engine: finds lanes with something due and runs their rounds, many lanes at once, each its own. It is woken
 * right after a commit, and looks besides: a notification is a hint, the table is the truth.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { loggable } from '../kernel/loggable.ts'
import { Halt } from './halt.ts'
import type { LaneKey } from './lanes.ts'
import { type RoundServices, runRound } from './round.ts'

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
  /** Does all that is due by the clock, and answers how many rounds that took. For tests and drains. */
  runDue(): Promise<number>
}

/** Lanes run at once. */
const lanesAtOnce = 128
/** How often to look without being woken, in milliseconds. */
const pollEvery = 500
/** How long a stop waits for attempts, and then for the database; together below the service's 15 s. */
const attemptsMayTake = 12_000
const settlingMayTake = 2_000
/** How often to look for due deliveries whose lane does not say so, in milliseconds. */
const sweepEvery = 30_000

export function createEngine(services: RoundServices): Engine {
  const { lanes, clock, log } = services
  const running = new Map<string, Promise<boolean>>()
  const halt = new Halt()
  let sweeping: Promise<void> | null = null
  let timers: NodeJS.Timeout[] = []
  let looking: Promise<void> | null = null
  let lookAgain = false

  return { wake, start, stop, runDue }

  function wake(): void {
    if (halt.requested) return
    if (looking !== null) {
      lookAgain = true
      return
    }
    looking = look()
      .catch((error: Error) =>
        log.warn({ err: loggable(error) }, 'due deliveries cannot be found; looking again'),
      )
      .finally(() => {
        looking = null
        if (lookAgain) {
          lookAgain = false
          wake()
        }
      })
  }

  async function look(): Promise<void> {
    const free = lanesAtOnce - running.size
    if (free <= 0) return
    const due = await lanes.findDue(clock.now(), free + running.size)
    for (const lane of due) if (running.size < lanesAtOnce) launch(lane)
  }

  function launch(lane: LaneKey): void {
    const key = `${lane.organizationId} ${lane.webhookId}`
    if (halt.requested || running.has(key)) return
    const round = runRound(services, lane, halt).catch((error: Error) => {
      // The lease runs out and the lane is found again.
      log.warn({ ...lane, err: loggable(error) }, 'a round failed')
      return false
    })
    running.set(key, round)
    void round.then((ran) => {
      running.delete(key)
      // More may be due on this lane, or waiting for a place.
      if (ran) wake()
    })
  }

  function start(): void {
    timers = [setInterval(wake, pollEvery), setInterval(sweep, sweepEvery)]
    wake()
  }

  function sweep(): void {
    sweeping ??= lanes
      .sweep(clock.now())
      .then(
        (woken) => {
          if (woken > 0) log.warn({ lanes: woken }, 'due deliveries were found whose lanes did not say so')
        },
        (error: Error) =>
          log.warn({ err: loggable(error) }, 'the sweep for stray deliveries failed; it will be tried again'),
      )
      .finally(() => {
        sweeping = null
      })
  }

  async function stop(): Promise<void> {
    halt.request()
    for (const timer of timers) clearInterval(timer)
    const ended = Promise.all([sweeping, Promise.resolve(looking).then(() => Promise.all(running.values()))])
    const over = new AbortController()
    const limit = (milliseconds: number) =>
      delay(milliseconds, undefined, { signal: over.signal }).catch(() => {})
    await Promise.race([ended, limit(attemptsMayTake)])
    halt.cut()
    await Promise.race([ended, limit(settlingMayTake)])
    over.abort()
  }

  async function runDue(): Promise<number> {
    for (let rounds = 0; ; ) {
      const due = await lanes.findDue(clock.now(), lanesAtOnce)
      if (due.length === 0 || halt.requested) return rounds
      const ran = await Promise.all(due.map((lane) => runRound(services, lane, halt)))
      rounds += ran.filter(Boolean).length
    }
  }
}
