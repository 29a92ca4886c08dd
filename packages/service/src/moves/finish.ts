/** Completes the arrival of organizations whose mover was killed between departure and arrival. Until then no database serves them. */
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import type { Directory } from '../databases/directory.ts'
import { loggable } from '../kernel/loggable.ts'
import { type Periodic, periodic } from '../kernel/periodic.ts'
import { arrive } from './cutover.ts'

/** Milliseconds from the end of a look to the next. */
const every = 1_000
/** After a failed look: the database does not answer, which others report. */
const everyAfterFailure = 10_000
const stopWithin = 5_000

interface Unfinished {
  readonly organization_id: string
  readonly target: string
}

export async function finishMoves(
  from: string,
  databases: {
    readonly pools: ReadonlyMap<string, Pool>
    readonly directory: Pick<Directory, 'databaseOf' | 'note' | 'cutOver'>
  },
): Promise<number> {
  const { pools, directory } = databases
  const source = pools.get(from)
  if (source === undefined) throw new Error(`there is no database ${from}`)
  const { rows } = await source.query<Unfinished>(
    `select m.organization_id, m.target from organization_moves m where m.state = 'left'`,
  )
  let finished = 0
  for (const { organization_id: organizationId, target: to } of rows) {
    const target = pools.get(to)
    // This process does not have that database; another one will.
    if (target === undefined) continue
    await arrive({ organizationId, source, target, from, to, directory })
    finished++
  }
  return finished
}

/** Looks into each database repeatedly; a failure of one does not stop the others. */
export function createMoveFinisher(
  databases: Parameters<typeof finishMoves>[1],
  {
    log,
    isReady,
  }: {
    readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>
    readonly isReady: (name: string) => boolean
  },
): Pick<Periodic, 'start' | 'stop'> {
  const loops = [...databases.pools.keys()].map((from) =>
    periodic({
      every,
      everyAfterFailure,
      stopWithin,
      run: async () => {
        if (!isReady(from)) return
        const finished = await finishMoves(from, databases)
        if (finished > 0) log.info({ from, finished }, 'moves were finished that somebody had begun')
      },
      onFailure: (error) =>
        log.warn({ from, err: loggable(error) }, 'could not look for unfinished moves; trying again'),
    }),
  )
  return {
    start: () => {
      for (const loop of loops) loop.start()
    },
    stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))),
  }
}
