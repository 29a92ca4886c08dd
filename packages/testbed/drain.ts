/** Syncs as a client, and computes checkpoints by code that shares nothing with the service. */
import { createHash } from 'node:crypto'
import type { Api } from './service.ts'

/** A row or a removal record. */
export interface SyncRecord {
  readonly id: string
  readonly object: string
  readonly updatedAt: string
  readonly removedAt: string
}

export interface Checkpoint {
  readonly count: number
  readonly digest: string
  readonly contentDigest: string
}

interface SyncPage {
  readonly data: readonly SyncRecord[]
  readonly pagination: {
    readonly total: number
    readonly limit: number
    readonly offset: number
    readonly hasMore: boolean
    readonly nextCursor: string
    readonly checkpoint?: Checkpoint
  }
}

/** Earlier than any organization. */
export const beginning = 'updatedAfter=1970-01-01T00:00:00Z'

/** `start`: the query without the limit. */
export async function syncPage(api: Api, path: string, start: string, limit = 100): Promise<SyncPage> {
  const answer = await api.get(`${path}?limit=${limit}&${start}`)
  if (answer.status !== 200) throw new Error(`${path}?${start}: ${answer.status} ${answer.text}`)
  return answer.json
}

/** All pages to the end. */
export async function drain(
  api: Api,
  path: string,
  start: string,
  limit = 100,
): Promise<{ readonly records: readonly SyncRecord[]; readonly pages: number; readonly last: SyncPage }> {
  const records: SyncRecord[] = []
  for (let pages = 1, next = start; ; pages++) {
    const page = await syncPage(api, path, next, limit)
    records.push(...page.data)
    if (!page.pagination.hasMore) return { records, pages, last: page }
    next = `cursor=${page.pagination.nextCursor}`
  }
}

/** Applies records to a client's copy by the rules of the specification alone. */
export function applyRecords(copy: Map<string, SyncRecord>, records: readonly SyncRecord[]): void {
  for (const record of records) {
    if (record.object === 'removed') copy.delete(record.id)
    else copy.set(record.id, record)
  }
}

export function checkpointOf(rows: Iterable<SyncRecord>): Checkpoint {
  let [count, sum, contents] = [0, 0n, 0n]
  for (const row of rows) {
    sum += term(`${row.id}:${row.updatedAt}`)
    // Parsed and written again, the service's JSON stays the same.
    contents += term(JSON.stringify(row))
    count++
  }
  return { count, digest: hex(sum), contentDigest: hex(contents) }
}

function term(text: string): bigint {
  return BigInt(`0x${createHash('sha256').update(text).digest('hex').slice(0, 16)}`)
}

function hex(sum: bigint): string {
  return (sum % 2n ** 64n).toString(16).padStart(16, '0')
}
