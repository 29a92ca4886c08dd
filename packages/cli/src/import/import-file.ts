/** One file into one service: goes on where an earlier run stopped, and says so where this one stops. */

import { createHash, randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import { DeskwireError } from '@deskwire/sdk'
import type { Kind } from '@deskwire/service/kinds'
import type { Target } from '../client.ts'
import { CommandFailure, exitCodes } from '../failure.ts'
import { printError, screen } from '../terminal.ts'
import { toBatches } from './batches.ts'
import {
  type Counts,
  type ImportIdentity,
  loadProgress,
  noCounts,
  type Progress,
  progressPath,
  removeProgress,
  saveProgress,
} from './progress.ts'
import { openRejects } from './rejects.ts'
import { atOnce, runImport } from './run.ts'
import { createSender } from './send.ts'
import { count, createShow, rowsText } from './show.ts'
import { rowsOf, type Source, type Survey } from './survey.ts'

/** The service knows an Idempotency-Key for a day; an hour less, as nobody knows when it got the last of them. */
const keysLast = 23 * 60 * 60 * 1_000

/** What an import came to. */
interface Done {
  readonly counts: Counts
  readonly operation: ImportIdentity['operation']
  /** How many rows were done before this run. */
  readonly resumedAt: number
  /** The file of rejected lines; null where there are none. */
  readonly rejects: string | null
}

/**
 * Imports a file that was surveyed, or the rest of it. @throws CommandFailure when it is interrupted, or when nobody
 * can tell what is done; DeskwireError when the service stops answering or refuses a batch as a whole.
 */
export async function importFile(kind: Kind, source: Source, target: Target, found: Survey): Promise<Done> {
  const { path, ignored, again = false } = source
  const { file, layout, rows: total, delimiter, hasSeparatorLine } = found
  const { isHistory } = layout
  const operation = isHistory ? 'import' : found.matched > 0 ? 'upsert' : 'create'
  const identity = {
    file,
    kind: kind.plural,
    operation,
    delimiter,
    ignored,
    again,
    target: digestOf(target),
  } as const
  const begun = await loadProgress(path, identity)
  const progress = begun ?? firstProgress(identity)
  if (found.others > 0 && Date.now() - progress.at > keysLast) throw tooLate(path, progress)
  await saveProgress(path, progress)

  const stop = interruption()
  const send = createSender(kind, target, {
    keyOf: ({ number, isMatched, digest }) =>
      `import:${isMatched || again ? progress.keys : file.sha256.slice(0, 32)}:${number}:${digest.slice(0, 32)}`,
    // Those under way when this import was interrupted are of it.
    isOwn: ({ number }) => begun !== null && begun.counts.replayed === 0 && number < begun.batches + atOnce,
    isHistory,
    signal: stop,
  })
  const resumedAt = progress.counts.rows
  const show = createShow(screen, { total, done: resumedAt, now: () => performance.now() })
  await using rejects = await openRejects(path, {
    layout,
    delimiter,
    hasSeparatorLine,
    kept: progress.rejects ?? null,
  })
  let soFar = resumedAt
  try {
    const end = await runImport({
      path,
      batches: toBatches(rowsOf(source, found), layout),
      progress,
      send,
      rejects,
      onProgress(now, rejected) {
        soFar = now.rows
        show.update(now, rejected)
      },
    })
    await removeProgress(path)
    return { counts: end.counts, operation, resumedAt, rejects: end.rejects?.path ?? null }
  } catch (error) {
    if (soFar === 0 && isTurnedAway(error)) {
      await removeProgress(path)
      throw error
    }
    const state = `${count(soFar)} of ${rowsText(total)} done; run the same command again to go on`
    if (stop.aborted) throw new CommandFailure(`interrupted: ${state}`, exitCodes.interrupted)
    printError(`deskwire: ${state}\n`)
    throw error
  } finally {
    show.end()
  }
}

/** The address or the key is wrong: nothing has begun that another one would have to go on with. */
function isTurnedAway(error: unknown): boolean {
  return error instanceof DeskwireError && [401, 403, 404].includes(error.status)
}

function firstProgress(of: ImportIdentity): Progress {
  return {
    of,
    keys: randomUUID(),
    batches: 0,
    counts: noCounts,
    rejects: null,
    at: Date.now(),
  }
}

function tooLate(path: string, { counts }: Progress): CommandFailure {
  const after = count(counts.rows)
  return new CommandFailure(
    `${path}: this import stopped after ${after} rows more than 23 hours ago, and the service forgets after 24 what it was sent: look up whether the rows that follow are there, put those that are not in a file of their own, and delete ${basename(progressPath(path))}; rows with an externalId can be sent again at any time`,
  )
}

/** Tells services and keys apart without keeping the key. */
function digestOf({ baseUrl, apiKey }: Target): string {
  return createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex').slice(0, 16)
}

/** Handlers that stay: Ctrl-C under npx arrives twice. What is under way is given up, as it can be sent again. */
export function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => controller.abort())
  return controller.signal
}
