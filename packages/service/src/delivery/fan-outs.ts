/**
 * Large commits: makes the deliveries that they have left to be made, beside the engine, which sends them. In each round every
 * organization that has some has one piece, so that none waits for all of another's.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { unlessBusy } from '../db/call-function.ts'
import type { Clock } from '../kernel/clock.ts'
import { loggable } from '../kernel/loggable.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { fanOutFunction } from './fan-out-function.ts'

export interface FanOuts {
  /** Looks again and again until stopped. */
  start(): void
  /** Looks at once: a large commit was made. */
  wake(): void
  /** Begins no more pieces, and waits for those under way. */
  stop(): Promise<void>
  /** Does all that is due by the clock, and answers how many pieces that took. For tests and drains. */
  runDue(): Promise<number>
}

/** Pieces done at once, each of another organization: a piece holds a connection. */
const atOnce = 2
/** Organizations found at once. */
const foundAtOnce = 100
/** How often to look without being woken, in milliseconds. */
const pollEvery = 250
/** Events looked at in one piece, for which the organization's writers wait. */
const eventsAtOnce = 1_000
/** And of those, for one commit and endpoint. */
const eventsOfOne = 500
/** Deliveries due at an endpoint beyond which nothing more is brought to it just then. */
const backlogAtMost = 1_000

export function createFanOuts(services: {
  readonly pool: Pool
  readonly clock: Clock
  readonly log: Pick<FastifyBaseLogger, 'warn'>
  /** Deliveries may be due. */
  readonly onDeliveries: () => void
}): FanOuts {
  const { pool, clock, log, onDeliveries } = services
  let stopping = false
  let timer: NodeJS.Timeout | undefined
  let working: Promise<void> | null = null
  /** Woken while at work: what it was woken for may have been made after it was looked for. */
  let again = false

  return {
    start() {
      timer = setInterval(wake, pollEvery)
      wake()
    },
    wake,
    async stop() {
      stopping = true
      clearInterval(timer)
      await working
    },
    async runDue() {
      for (let pieces = 0; ; ) {
        const { done, more } = await round()
        pieces += done
        if (!more) return pieces
      }
    },
  }

  function wake(): void {
    if (stopping) return
    if (working !== null) {
      again = true
      return
    }
    working = work()
      .catch((error: Error) =>
        log.warn({ err: loggable(error) }, 'large commits cannot be found; looking again'),
      )
      .finally(() => {
        working = null
        if (!again) return
        again = false
        wake()
      })
  }

  async function work(): Promise<void> {
    while (!stopping && (await round()).more);
  }

  /** A piece for each organization that has one due. */
  async function round(): Promise<{ done: number; more: boolean }> {
    const due = (await findDue(pool, clock.now())).values()
    let done = 0
    let more = false
    const worker = async () => {
      for (const organizationId of due) {
        if (stopping) return
        const came = await piece(organizationId)
        if (came === 'busy') continue
        done++
        if (came === 'more') more = true
        onDeliveries()
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
    return { done, more }
  }

  /** It is found again when it fails; others go on. */
  async function piece(organizationId: string): Promise<'more' | 'done' | 'busy'> {
    try {
      const called = pool.query<{ came: 'more' | 'done' | 'busy' }>({
        name: fanOutFunction.name,
        text: `select ${fanOutFunction.name}($1, $2, ${eventsAtOnce}, ${eventsOfOne}, ${backlogAtMost}) as came`,
        values: [organizationId, formatTimestamp(clock.now())],
      })
      const answer = await unlessBusy(called)
      return answer === 'busy' ? answer : (answer.rows[0]?.came ?? 'busy')
    } catch (error) {
      log.warn({ organizationId, err: loggable(error as Error) }, 'a piece of a large commit was not made')
      return 'busy'
    }
  }
}

/** Organizations that have a piece due, that which had one last at the end. */
async function findDue(pool: Pool, now: number): Promise<readonly string[]> {
  const { rows } = await pool.query<{ organization_id: string }>({
    name: 'find_due_fan_outs',
    text: `select f.organization_id from fan_outs f where f.due_at <= $1
             group by f.organization_id order by max(f.due_at) limit ${foundAtOnce}`,
    values: [formatTimestamp(now)],
  })
  return rows.map(({ organization_id }) => organization_id)
}
