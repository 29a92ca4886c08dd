/**
 * The recoverer: does the pieces of recoveries that are due, beside the engine, which sends what they bring back. A few
 * recoveries at a time and each for a while only, so that one of a million events keeps none of a hundred waiting.
 */
import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from '../kernel/clock.ts'
import { createKeyedQueue, type KeyedQueue } from '../kernel/keyed-queue.ts'
import { loggable } from '../kernel/loggable.ts'
import type { Piece, Recoveries, RecoveryKey } from './recoveries.ts'

export interface Recoverer {
  /** Looks again and again until stopped. */
  start(): void
  /** Begins no more pieces, and waits for those under way; gives leases back. */
  stop(): Promise<void>
  /** Does all that is due by the clock, and answers how many turns that took. For tests and drains. */
  runDue(): Promise<number>
}

/** Recoveries done at once: a piece holds a connection, of which the engine needs more. */
const atOnce = 2
/** Pieces of one turn, after which others have theirs. */
const piecesATurn = 50
/** How often to look without being woken, in milliseconds. */
const pollEvery = 250
/** How long a recovery stays a worker's without a piece being done, in milliseconds. A piece takes a few. */
const leaseFor = 10_000
/** How long to leave an organization alone whose clock row others hold, in milliseconds. */
const pauseFor = 250

export function createRecoverer(services: {
  readonly recoveries: Recoveries
  readonly clock: Clock
  readonly log: Pick<FastifyBaseLogger, 'warn'>
  /** Deliveries may be due. */
  readonly onDeliveries: () => void
  /** Calls that take an organization's clock row, one at a time of each. */
  readonly clockTurns?: KeyedQueue
}): Recoverer {
  const { recoveries, clock, log, onDeliveries, clockTurns = createKeyedQueue() } = services
  /** By organization: recoveries of the same one would wait for each other, and others for both. */
  const running = new Map<string, Promise<unknown>>()
  /** Organizations whose clock row others hold: to be left alone for a while. */
  const paused = new Map<string, NodeJS.Timeout>()
  let stopping = false
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | null = null

  return {
    start() {
      timer = setInterval(wake, pollEvery)
      wake()
    },
    async stop() {
      stopping = true
      clearInterval(timer)
      for (const pause of paused.values()) clearTimeout(pause)
      await looking
      await Promise.all(running.values())
    },
    async runDue() {
      const busy: string[] = []
      for (let turns = 0; ; ) {
        const [recovery] = await recoveries.findDue(clock.now(), 1, busy)
        if (recovery === undefined || stopping) return turns
        if ((await turn(recovery)) === 'busy') busy.push(recovery.organizationId)
        turns++
      }
    },
  }

  function wake(): void {
    if (stopping || looking !== null || running.size >= atOnce) return
    looking = look()
      .catch((error: Error) =>
        log.warn({ err: loggable(error) }, 'recoveries cannot be found; looking again'),
      )
      .finally(() => {
        looking = null
      })
  }

  async function look(): Promise<void> {
    while (!stopping && running.size < atOnce) {
      const [recovery] = await recoveries.findDue(clock.now(), 1, [...running.keys(), ...paused.keys()])
      if (recovery === undefined || stopping) return
      const { organizationId } = recovery
      const done = turn(recovery)
        .then(
          (came) => {
            if (came === 'busy') pause(organizationId)
          },
          // The lease runs out and it is found again.
          (error: Error) => log.warn({ ...recovery, err: loggable(error) }, 'a recovery was interrupted'),
        )
        .finally(() => {
          running.delete(organizationId)
          wake()
        })
      running.set(organizationId, done)
    }
  }

  function pause(organizationId: string): void {
    if (stopping) return
    const over = () => {
      paused.delete(organizationId)
      wake()
    }
    paused.set(organizationId, setTimeout(over, pauseFor))
  }

  /** Takes the recovery and does its pieces while there are some, it is active, and this worker goes on. */
  async function turn(recovery: RecoveryKey): Promise<Piece> {
    const leaseId = randomUUID()
    if (!(await recoveries.take(recovery, leaseId, clock.now(), clock.now() + leaseFor))) return 'lost'
    let came: Piece = 'more'
    for (let pieces = 0; came === 'more' && pieces < piecesATurn && !stopping; pieces++) {
      const now = clock.now()
      came = await clockTurns.run(recovery.organizationId, () =>
        recoveries.piece(recovery, leaseId, now, now + leaseFor),
      )
      if (came === 'more' || came === 'done') onDeliveries()
    }
    if (came === 'more' || came === 'busy') await recoveries.release(recovery, leaseId)
    return came
  }
}
