/**
 * The ordered stream of one kind's changes, page by page (specification 7).
 *
 * A caller keeps two things together: its copy and the last cursor. Applying a page and storing that page's
 * cursor in one transaction makes the copy exactly as old as its cursor; where that is not possible, apply
 * first: repeating a page does no harm.
 */
import { type Checkpoint, isRemoval, type RemovalRecord, type Row, type SyncAnswer } from './envelope.ts'
import type { CallOptions } from './options.ts'
import { unexpectedAnswer } from './problem.ts'
import type { Call, Send } from './transport.ts'

/** One step of a copy. The removal of something not held is a no-op. */
export type Change<T> =
  | { type: 'upsert'; row: T }
  | { type: 'removed'; id: string; resource: string; removedAt: string }

/** `C` is what the proof is of: of one kind, or of each of several. */
export interface SyncPage<T, C = Checkpoint> {
  /** In order; empty when nothing changed. */
  changes: Change<T>[]
  /** Goes on after this page, today or in a year: cursors do not expire. */
  cursor: string
  hasMore: boolean
  /** Number of existing rows of the kind, or kinds. */
  total: number
  /** The proof, on the page that has caught up. See `checkpointOf` and `MemoryCopy.verify`. */
  checkpoint?: C
}

/** Where a sync begins, and how much comes at once. */
export interface SyncParams {
  /**
   * A watermark, exclusive: RFC 3339 with an offset. Without it and without `cursor` the sync is a first one,
   * from before the organization began.
   */
  updatedAfter?: string | undefined
  /** Where an earlier sync stopped. It wins over `updatedAfter`. */
  cursor?: string | undefined
  /** Rows per page: 100 unless told, and at most. */
  limit?: number | undefined
  /** Seconds (at most 50) for which the service holds an answer that would be empty, until something changes. */
  wait?: number | undefined
}

/** A watermark earlier than any organization: the start of a first sync. */
const beginning = '1970-01-01T00:00:00.000Z'

/** Makes the change out of a row of a sync; looks at `object` before anything else. */
export const changeOf = <T extends Row>(row: T | RemovalRecord): Change<T> =>
  isRemoval(row)
    ? { type: 'removed', id: row.id, resource: row.resource, removedAt: row.removedAt }
    : { type: 'upsert', row }

/**
 * Yields pages until caught up: the last one has `hasMore: false`, and its cursor is what to keep. To go on
 * later, call again with that cursor. At least one page is yielded, if only for its cursor.
 *
 * Throws DeskwireError. `cursor_too_old` (410) means that the service was restored from an older backup: begin
 * a new copy with a first sync. That is never done silently here, as the copy is the caller's.
 */
export async function* syncPages<T extends Row, C = Checkpoint>(
  send: Send,
  path: string,
  params: SyncParams,
  options?: CallOptions,
): AsyncGenerator<SyncPage<T, C>, void, undefined> {
  let { cursor } = params
  for (;;) {
    const page = await nextPage<T, C>(send, path, { ...params, cursor }, options)
    yield page
    if (!page.hasMore) return
    cursor = page.cursor
  }
}

/**
 * The changes of these pages up to a moment, inclusive: a copy that has taken them in, and nothing later, goes on
 * from the `cursor` that came with this `asOf`. The pages are to be asked for after the moment was told. Rows that
 * have changed since are not among them: they come behind the moment, as they are then.
 */
export async function* changesUpTo<T extends Row>(
  pages: AsyncIterable<SyncPage<T, unknown>>,
  asOf: string,
): AsyncGenerator<Change<T>, void, undefined> {
  for await (const { changes } of pages) {
    for (const change of changes) {
      if ((change.type === 'upsert' ? change.row.updatedAt : change.removedAt) > asOf) return
      yield change
    }
  }
}

/** One page: that behind the cursor or, without one, behind the watermark. Throws DeskwireError. */
export const nextPage = async <T extends Row, C = Checkpoint>(
  send: Send,
  path: string,
  params: SyncParams,
  options?: CallOptions,
): Promise<SyncPage<T, C>> =>
  pageAfter(params.cursor, await send<SyncAnswer<T, C>>(pageCall(path, params), options))

export const pageCall = (
  path: string,
  { updatedAfter = beginning, cursor, limit = 100, wait }: SyncParams,
): Call => {
  const start = cursor === undefined ? { updatedAfter } : { cursor }
  return { method: 'GET', path, query: { ...start, limit, wait } }
}

/** Reads a page that was asked for behind the cursor. */
export const pageAfter = <T extends Row, C>(
  cursor: string | undefined,
  answer: SyncAnswer<T, C>,
): SyncPage<T, C> => {
  const page = pageOf(answer)
  if (page.hasMore && page.cursor === cursor) {
    throw unexpectedAnswer(200, 'The service promises more but its cursor does not move.')
  }
  return page
}

const pageOf = <T extends Row, C>({ data, pagination }: SyncAnswer<T, C>): SyncPage<T, C> => {
  const { nextCursor, hasMore, total, checkpoint } = pagination
  if (typeof nextCursor !== 'string') throw unexpectedAnswer(200, 'A page of a sync came without nextCursor.')
  const page = { changes: data.map((row) => changeOf<T>(row)), cursor: nextCursor, hasMore, total }
  return checkpoint === undefined ? page : { ...page, checkpoint }
}
