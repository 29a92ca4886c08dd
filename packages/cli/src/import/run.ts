/** Sends the batches of a file, a few at once, and takes in what became of them in the order of the file. */
import type { BatchAnswer } from '@deskwire/sdk'
import type { Batch } from './batches.ts'
import type { Entry } from './entry.ts'
import { faultText } from './fault.ts'
import { type Counts, type Progress, saveProgress } from './progress.ts'
import type { Reject, Rejects } from './rejects.ts'

/** What became of a batch. */
export interface Sent {
  readonly answer: BatchAnswer
  /** Its rows were created by an earlier import. */
  readonly isReplayed: boolean
}

/** Sends the rows of a batch; safe to repeat. */
type SendBatch = (batch: Batch, items: readonly object[]) => Promise<Sent>

interface Run {
  readonly path: string
  /** All of the file, those that are done included. */
  readonly batches: AsyncIterable<Batch>
  /** Where it stands. */
  readonly progress: Progress
  readonly send: SendBatch
  readonly rejects: Rejects
  /** Told after each batch. */
  onProgress(counts: Counts, rejects: readonly Reject[]): void
}

/**
 * Batches under way at once: one is made while the service commits another. An organization's commits follow one
 * another, so more of them would wait there.
 */
export const atOnce = 3

/**
 * Imports what is not done yet and returns where it has come to. Throws what `send` throws, and the progress file then
 * says where to go on; batches that were under way are sent again under the keys that they had.
 */
export async function runImport({
  path,
  batches,
  send,
  rejects,
  onProgress,
  ...run
}: Run): Promise<Progress> {
  let { progress } = run
  const underWay: { readonly batch: Batch; readonly sent: Promise<Sent | null> }[] = []

  for await (const batch of batches) {
    if (batch.number < progress.batches) continue
    // The later line of a row wins, so it waits for the earlier one.
    while (underWay.length >= atOnce || underWay.some((other) => shareRow(other.batch, batch))) await takeIn()
    const items = batch.entries.flatMap((entry) => ('item' in entry ? [entry.item] : []))
    const sent = items.length === 0 ? Promise.resolve(null) : send(batch, items)
    // Awaited later: until then its failure is no surprise.
    sent.catch(() => {})
    underWay.push({ batch, sent })
  }
  while (underWay.length > 0) await takeIn()
  return progress

  /**
   * Waits for the oldest batch, and writes down what became of it: rejected lines first, as the progress counts them.
   */
  async function takeIn(): Promise<void> {
    const [oldest] = underWay
    if (oldest === undefined) return
    const sent = await oldest.sent
    underWay.shift()
    const rejected = rejectsOf(oldest.batch.entries, sent?.answer ?? null)
    const { counts } = progress
    const { created = 0, updated = 0, unchanged = 0 } = sent?.answer ?? {}
    const now = sent?.isReplayed
      ? { created: 0, updated: 0, unchanged: 0, replayed: created + updated + unchanged }
      : { created, updated, unchanged, replayed: 0 }
    progress = {
      ...progress,
      batches: oldest.batch.number + 1,
      counts: {
        rows: counts.rows + oldest.batch.entries.length,
        created: counts.created + now.created,
        updated: counts.updated + now.updated,
        unchanged: counts.unchanged + now.unchanged,
        replayed: counts.replayed + now.replayed,
        rejected: counts.rejected + rejected.length,
      },
      rejects: await rejects.append(rejected),
      at: Date.now(),
    }
    await saveProgress(path, progress)
    onProgress(progress.counts, rejected)
  }
}

function shareRow(a: Batch, b: Batch): boolean {
  return [...b.externalIds].some((id) => a.externalIds.has(id))
}

/** The lines that were not sent, and those that the service refused. */
function rejectsOf(entries: readonly Entry[], answer: BatchAnswer | null): Reject[] {
  const outcomes = (answer?.data ?? []).values()
  /** The lines of this batch that became rows, by their ids. */
  const lines = new Map<string, number>()
  return entries.flatMap(({ line, cells, ...entry }): Reject[] => {
    if ('fault' in entry) return [{ line, cells, error: entry.fault }]
    const outcome = outcomes.next().value
    if (outcome?.outcome !== 'refused') {
      if (outcome !== undefined) lines.set(outcome.id, line)
      return []
    }
    const { problem } = outcome
    // The service counts items of a call, of which the reader of a file knows nothing.
    const earlier = lines.get(problem.existingId ?? '')
    const error = earlier === undefined ? faultText(problem) : `line ${earlier} has the same unique value`
    return [{ line, cells, error }]
  })
}
