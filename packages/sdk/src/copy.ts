/** A copy of one kind in memory that can prove itself exact. */
import { ContentDigest, Digest } from './checkpoint.ts'
import type { Checkpoint, Row } from './envelope.ts'
import type { Change } from './sync.ts'

/** `held` is the copy's own checkpoint; a copy that is not exact is to be started over. */
export type Verdict =
  | { exact: true; held: Checkpoint }
  | { exact: false; held: Checkpoint; expected: Checkpoint }

/**
 * Holds the rows of one kind, begun empty and fed the pages of a first sync and what follows it, in order.
 * Feeding a page twice does no harm, and neither does the removal of something not held.
 */
export class MemoryCopy<T extends Row> {
  readonly #rows = new Map<string, T>()
  readonly #digest = new Digest()
  readonly #contents = new ContentDigest()

  /** The rows by id, live. Do not change a row: its proof rests on what it came with. */
  get rows(): ReadonlyMap<string, T> {
    return this.#rows
  }

  /** The copy's own checkpoint, of every change whose `apply` has settled. */
  get checkpoint(): Checkpoint {
    return { ...this.#digest.checkpoint, contentDigest: this.#contents.value }
  }

  /** Takes one change in. `rows` shows it at once; await it before asking for the checkpoint. */
  async apply(change: Change<T>): Promise<void> {
    const id = change.type === 'upsert' ? change.row.id : change.id
    const before = this.#rows.get(id)
    if (change.type === 'upsert') this.#rows.set(id, change.row)
    else this.#rows.delete(id)
    await Promise.all([
      ...(before ? [this.#digest.remove(before), this.#contents.remove(before)] : []),
      ...(change.type === 'upsert' ? [this.#digest.add(change.row), this.#contents.add(change.row)] : []),
    ])
  }

  /**
   * Compares the copy with the checkpoint of a page that was applied in full. Nothing is thrown for a copy that
   * differs: that is an answer.
   */
  verify(expected: Checkpoint): Verdict {
    const held = this.checkpoint
    const exact =
      held.count === expected.count &&
      held.digest === expected.digest &&
      held.contentDigest === expected.contentDigest
    return exact ? { exact, held } : { exact, held, expected }
  }
}
