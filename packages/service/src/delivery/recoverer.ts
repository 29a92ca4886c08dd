/**
 * The recoverer: does the pieces of recoveries that are due, beside the engine, which sends what they bring back. A few
 * recoveries at a time and each for a while only, so that one of a million events keeps none of a hundred waiting.
 */
import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from '../kernel/clock.ts'
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

export function createRecoverer(services: {
  readonly recoveries: Recoveries
  readonly clock: Clock
  readonly log: Pick<FastifyBaseLogger, 'warn'>
  /** Deliveries may be due. */
  readonly onDeliveries: () => void
}): Recoverer {
  const { recoveries, clock, log, onDeliveries } = services
  const running = new Map<string, Promise<void>>()
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
      await looking
      await Promise.all(running.values())
    },
    async runDue() {
      for (let turns = 0; ; ) {
        const due = await recoveries.findDue(clock.now(), atOnce)
        if (due.length === 0 || stopping) return turns
        for (const recovery of due) await turn(recovery)
        turns += due.length
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
    for (const recovery of await recoveries.findDue(clock.now(), 2 * atOnce)) {
      const key = recovery.recoveryId
      if (stopping || running.has(key) || running.size >= atOnce) continue
      const done = turn(recovery)
        // The lease runs out and it is found again.
        .catch((error: Error) =>
          log.warn({ ...recovery, err: loggable(error) }, 'a recovery was interrupted'),
        )
        .finally(() => {
          running.delete(key)
          wake()
        })
      running.set(key, done)
    }
  }

  /** Takes the recovery and does its pieces while there are some, it is active, and this worker goes on. */
  async function turn(recovery: RecoveryKey): Promise<void> {
    const leaseId = randomUUID()
    if (!(await recoveries.take(recovery, leaseId, clock.now(), clock.now() + leaseFor))) return
    let came: Piece = 'more'
    for (let pieces = 0; came === 'more' && pieces < piecesATurn && !stopping; pieces++) {
      const now = clock.now()
      came = await recoveries.piece(recovery, leaseId, now, now + leaseFor)
      if (came === 'more' || came === 'done') onDeliveries()
    }
    if (came === 'more') await recoveries.release(recovery, leaseId)
  }
}
