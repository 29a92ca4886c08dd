/**
 * What every kind shares on the wire: a row's ordering keys, the removal record, the list envelope, the proof.
 * Nothing here names a kind.
 */

/** What every object of the service carries; all of it read-only. Times are ISO 8601 UTC with three decimals. */
export interface Row {
  id: string
  object: string
  organizationId: string
  createdAt: string
  updatedAt: string
}

/**
 * What a key that may write a kind and not read it is told of a row that it wrote, in place of the row. Every row has
 * these fields, so a program with such a key can say what it gets: `const made: Written = await
 * client.tickets.create(…)`.
 */
export interface Written {
  id: string
  object: string
  updatedAt: string
}

/** An enum as it is read: the values known today, and whatever `v1` adds later. */
export type Open<Known extends string> = Known | (string & {})

/** Stands in a sync where a row was removed (specification 4.9). */
export interface RemovalRecord {
  object: 'removed'
  id: string
  /** Kind of the removed row, for example `ticket`. */
  resource: string
  /** The same in the sync and in the matching `*.deleted` webhook. */
  removedAt: string
}

/** The proof of a copy: how many rows exist, and two numbers over all of them as 16 hex digits. */
export interface Checkpoint {
  count: number
  /** Over the ids and versions of the rows. */
  digest: string
  /** Over their bytes. */
  contentDigest: string
}

/** The receipt of an erase (specification 4.11). */
export interface Erasure {
  object: 'erasure'
  /** Kind of who was erased. */
  resource: string
  id: string
  /** The `removedAt` of every removal record. */
  erasedAt: string
  /** How many objects were removed, by kind. */
  removed: Record<string, number>
  /** What an exact copy of each kind has at `erasedAt`. */
  checkpoint: Record<string, Checkpoint>
  /**
   * Parts that are still being erased; absent when none are. A repetition with the same idempotency key shows when it
   * is done.
   */
  remaining?: 'payloads'[]
}

/** The ids after `after`, up to and including `before`. Neither need be the id of anything. */
export interface IdRange {
  after: string
  before: string
}

/** What stands in a range of ids (specification 7.9). */
export interface RangeDigest extends IdRange {
  count: number
  digest: string
  contentDigest: string
  /** The ids, lowest first, where they are no more than `idsUpTo`. */
  ids?: string[]
  /** The `contentDigest` of each of them alone, in their order. */
  contentDigests?: string[]
}

/** Ranges of ids, lowest first, all at one moment. */
export interface RangeDigests {
  /** The moment: every `updatedAt` and `removedAt` up to it is counted in, and no later one. */
  asOf: string
  /** The same moment in the sync of the kind. */
  cursor: string
  data: RangeDigest[]
}

/** Fields that all list answers carry beside their rows (specification 6.1). */
export interface Pagination {
  /** Rows that the filters let through. */
  total: number
  /** Page size applied: a larger `limit` than 100 is served as 100. */
  limit: number
  offset: number
  hasMore: boolean
  /** False where `total` stopped counting, at 10,000: there are at least that many. */
  totalIsExact?: false
}

/** A page for display, newest first; rows move between pages while data changes. */
export interface ListPage<T> {
  data: T[]
  pagination: Pagination
}

/** A page of a sync as it stands on the wire. */
export interface SyncAnswer<T, C = Checkpoint> {
  data: (T | RemovalRecord)[]
  pagination: Pagination & { nextCursor: string; checkpoint?: C }
}

/**
 * Tells a removal record from a row. It reads `object` and nothing else, as a client must before it reads any
 * other field (specification 4.9).
 */
export const isRemoval = (row: { object: string }): row is RemovalRecord => row.object === 'removed'
