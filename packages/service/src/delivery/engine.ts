/**
 * The engine: finds lanes with something due and runs their rounds, many lanes at once, each its own. It is woken
 * right after a commit, and looks besides: a notification is a hint, the table is the truth.
 */
import { loggable } from '../kernel/loggable.ts'
import type { LaneKey } from './lanes.ts'
import { type RoundServices, runRound } from './round.ts'

export interface Engine {
  /** Something may be due: look at once. */
  wake(): void
  /** Looks again and again until stopped. */
  start(): void
  /** Takes no more lanes, and waits for the rounds under way. */
  stop(): Promise<void>
  /** Does all that is due by the clock, and answers how many rounds that took. For tests and drains. */
  runDue(): Promise<number>
}

/** Lanes run at once. */
const lanesAtOnce = 128
/** How often to look without being woken, in milliseconds. */
const pollEvery = 500
/** How often to look for due deliveries whose lane does not say so, in milliseconds. */
const sweepEvery = 30_000

export function createEngine(services: RoundServices): Engine {
  const { lanes, clock, log } = services
  const running = new Map<string, Promise<boolean>>()
  let timers: NodeJS.Timeout[] = []
  let looking: Promise<void> | null = null
  let lookAgain = false
  let stopped = false

  return { wake, start, stop, runDue }

  function wake(): void {
    if (stopped) return
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
    if (stopped || running.has(key)) return
    const round = runRound(services, lane).catch((error: Error) => {
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
    const sweep = () =>
      lanes.sweep(clock.now()).then(
        (woken) => {
          if (woken > 0) log.warn({ lanes: woken }, 'due deliveries were found whose lanes did not say so')
        },
        (error: Error) =>
          log.warn({ err: loggable(error) }, 'the sweep for stray deliveries failed; it will be tried again'),
      )
    timers = [setInterval(wake, pollEvery), setInterval(sweep, sweepEvery)]
    wake()
  }

  async function stop(): Promise<void> {
    stopped = true
    for (const timer of timers) clearInterval(timer)
    await looking
    await Promise.all(running.values())
  }

  async function runDue(): Promise<number> {
    for (let rounds = 0; ; ) {
      const due = await lanes.findDue(clock.now(), lanesAtOnce)
      if (due.length === 0) return rounds
      const ran = await Promise.all(due.map((lane) => runRound(services, lane)))
      rounds += ran.filter(Boolean).length
    }
  }
}
