/**
 * Follows the stream, stores every record and the copy, and reports what is wrong with them. The test supplies how a
 * page is read: over HTTP, from the feed, or deliberately wrong.
 */

import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { readJson } from '@deskwire/sdk/json'
import type { Pool } from 'pg'
import type { Feed } from '../service/src/journal/feed.ts'
import type { Cursor } from '../service/src/kernel/cursor.ts'

export interface StreamRecord {
  readonly id: string
  /** `updatedAt`, or `removedAt` of a removal record. */
  readonly at: string
  readonly removed: boolean
  readonly body: string
}

export interface FollowedPage<C> {
  readonly records: readonly StreamRecord[]
  readonly next: C
  /** Null until the page has caught up. */
  readonly checkpoint: Checkpoint | null
}

export interface Checkpoint {
  readonly count: number
  readonly digest: string
  readonly contentDigest: string
}

export interface Follower {
  readonly seen: readonly StreamRecord[]
  /** Existing rows by id, as bytes. */
  readonly copy: ReadonlyMap<string, string>
  /** Faults of order, repeats, and checkpoints that differ from the copy. */
  readonly faults: readonly string[]
  readonly pages: number
  /** Reads one page; true when it has caught up. */
  poll(): Promise<boolean>
  drain(): Promise<void>
}

/** `read(null)` starts; `read(next)` goes on. */
export function follow<C>(read: (cursor: C | null) => Promise<FollowedPage<C>>): Follower {
  const seen: StreamRecord[] = []
  const copy = new Map<string, string>()
  const faults: string[] = []
  const termsOf = rememberTerms()
  let cursor: C | null = null
  let pages = 0

  async function poll(): Promise<boolean> {
    const page: FollowedPage<C> = await read(cursor)
    cursor = page.next
    pages++
    for (const record of page.records) {
      const last = seen.at(-1)
      if (last !== undefined && place(record) <= place(last)) {
        faults.push(`${place(record)} came after ${place(last)}`)
      }
      seen.push(record)
      if (record.removed) copy.delete(record.id)
      else copy.set(record.id, record.body)
    }
    if (page.checkpoint === null) return false
    const held = checkpointOf(copy.values(), termsOf)
    if (!isDeepStrictEqual(held, page.checkpoint)) {
      faults.push(`holds ${JSON.stringify(held)} where the service has ${JSON.stringify(page.checkpoint)}`)
    }
    return true
  }

  return {
    seen,
    copy,
    faults,
    get pages() {
      return pages
    },
    poll,
    async drain() {
      while (!(await poll()));
    },
  }
}

/** Reads the feed itself: a first sync or, with `organizationCreatedAt`, the whole stream with its removals. */
export function feedReader(
  feed: Feed,
  organizationId: string,
  limit: number,
  watermark: { readonly organizationCreatedAt: number } | 'first sync' = 'first sync',
): (cursor: Cursor | null) => Promise<FollowedPage<Cursor>> {
  const started =
    watermark === 'first sync'
      ? { updatedAfter: 0, organizationCreatedAt: 1 }
      : { updatedAfter: watermark.organizationCreatedAt, ...watermark }
  return async (cursor) => {
    const result = await feed.page(
      organizationId,
      cursor === null ? { from: 'watermark', ...started } : { from: 'cursor', cursor },
      limit,
    )
    if (!result.ok) throw new Error('the epoch changed')
    const { records, next, checkpoint } = result.value
    return { records: splitRecords(records), next, checkpoint }
  }
}

/** A record's position in the stream; compares as text. */
export function place(record: { readonly at: string; readonly id: string }): string {
  return `${record.at} ${record.id}`
}

export function recordOf(body: string): StreamRecord {
  const parsed = readJson(body) as { object: string; id: string; updatedAt: string; removedAt: string }
  const removed = parsed.object === 'removed'
  return { id: parsed.id, at: removed ? parsed.removedAt : parsed.updatedAt, removed, body }
}

/** Splits a page into bodies where they really end. */
function splitRecords(records: string): StreamRecord[] {
  if (records === '') return []
  const bodies = (readJson(`[${records}]`) as unknown[]).map((body) => JSON.stringify(body))
  if (bodies.join(',') !== records) throw new Error('a page is not the JSON that was written')
  return bodies.map(recordOf)
}

interface Terms {
  readonly version: bigint
  readonly content: bigint
}

/** Computed from the bytes alone (specification 7.8). */
export function checkpointOf(bodies: Iterable<string>, termsOf: (body: string) => Terms = computeTerms) {
  let count = 0
  let [versions, contents] = [0n, 0n]
  for (const body of bodies) {
    const { version, content } = termsOf(body)
    count++
    versions += version
    contents += content
  }
  return { count, digest: hex(versions), contentDigest: hex(contents) }
}

function computeTerms(body: string): Terms {
  const { id, at } = recordOf(body)
  return { version: term(`${id}:${at}`), content: term(body) }
}

/** Computes each body's terms once, as a follower adds up its copy at every page. */
function rememberTerms(): (body: string) => Terms {
  const known = new Map<string, Terms>()
  return (body) => {
    const terms = known.get(body) ?? computeTerms(body)
    known.set(body, terms)
    return terms
  }
}

function term(text: string): bigint {
  return createHash('sha256').update(text).digest().readBigUInt64BE(0)
}

function hex(sum: bigint): string {
  return BigInt.asUintN(64, sum).toString(16).padStart(16, '0')
}

/** All records of the table, in the order of the stream. */
export async function tableRecords(
  pool: Pick<Pool, 'query'>,
  table: string,
  organizationId: string,
): Promise<StreamRecord[]> {
  const { rows } = await pool.query<{ body: string }>(
    `select t.body from ${table} t where t.organization_id = $1 order by t.updated_at, t.id`,
    [organizationId],
  )
  return rows.map(({ body }) => recordOf(body))
}

/** How a copy differs from the rows of the table. */
export function differences(copy: ReadonlyMap<string, string>, table: readonly StreamRecord[]): string[] {
  const existing = new Map(table.filter(({ removed }) => !removed).map(({ id, body }) => [id, body]))
  const missing = [...existing].filter(([id, body]) => copy.get(id) !== body)
  const invented = [...copy.keys()].filter((id) => !existing.has(id))
  return [
    ...missing.map(([id]) => `${copy.has(id) ? 'stale' : 'missing'} ${id}`),
    ...invented.map((id) => `left over ${id}`),
  ]
}
