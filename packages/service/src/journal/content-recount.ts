/**
 * The recount: brings content digests (specification 7.8) to all existing rows of a kind, where rows are older than the first
 * release that kept them, or a process of such a release has written since (decision 45).
 *
 * It holds no writer up. What it needs is a sum that the commit function keeps without a gap from some moment on, whatever
 * that sum began with: one statement then reads that sum and the rows of one snapshot, and how far the two are apart stays the
 * same however much is written meanwhile. So what was read can be added at any later moment, if the sum was never
 * broken: `content_recount` names it, and `content_of_digest` tells whether something else has written.
 *
 * What is stored is counted with it, bytes and removal records: the commit function keeps these sums without a gap from the same
 * moment on.
 *
 * Nothing is kept of it but in the counters, so it can be killed at any moment. One process of an installation does it at a time, one statement
 * after the other.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { Pool } from 'pg'
import { unlessElsewhere } from '../db/elsewhere.ts'
import { queryWithin } from '../db/pool.ts'
import { loggable } from '../kernel/loggable.ts'
import { periodic } from '../kernel/periodic.ts'
import { awayOrganizations } from './away.ts'
import { digestModulus } from './body.ts'
import type { StreamTable } from './stream-table.ts'

/** The content digest of a row of `kind_counters`; null where it is not of all existing rows. */
export function knownContentDigest(counters: string): string {
  return `case when ${counters}.content_of_digest = ${counters}.digest and ${counters}.content_recount is null
        then ${counters}.content_digest end`
}

interface ContentRecount {
  /** Counts what there is to count, and looks again every minute until stopped. */
  start(): void
  /** Begins no more counts, and waits for the one under way, 5 s at most. */
  stop(): Promise<void>
  /**
   * Counts what there is to count, once, and answers how many kinds of organizations have a content digest for it: none where
   * another process does it. Rejects between two counts when the signal says so.
   */
  run(signal?: AbortSignal): Promise<number>
}

/** From the end of a run to the next, in milliseconds: processes of an earlier release may still write. */
const every = 60_000
/** A stop waits no longer for the count under way, in milliseconds. */
const stopWithin = 5_000
/** How long one count may take, in milliseconds: a million rows take some four seconds. */
const longestCount = 15 * 60 * 1000
/** PostgreSQL's number for "who recounts content digests": any constant that nothing else on the server locks by. */
const lockNumber = 673_720_112

/** A kind of an organization of which the content digest is not known. */
interface Uncounted {
  readonly organizationId: string
  readonly kind: string
}

/** A recount of these tables. It takes two connections of the pool, and does nothing until it is started or told to. */
export function createContentRecount(services: {
  readonly pool: Pool
  readonly tables: readonly StreamTable[]
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>
}): ContentRecount {
  const { pool, tables, log } = services
  const loop = periodic({
    every,
    stopWithin,
    run: async (signal) => {
      await run(signal)
    },
    onFailure: (error) =>
      log.warn({ err: loggable(error) }, 'counting content digests failed; it will go on'),
  })
  return { start: loop.start, stop: loop.stop, run }

  async function run(signal?: AbortSignal): Promise<number> {
    let counted = 0
    if ((await readUncounted()).length === 0) return counted
    await unlessElsewhere(pool, lockNumber, async () => {
      const left = await readUncounted()
      for (const one of left) {
        signal?.throwIfAborted()
        if (await count(one)) counted++
      }
      log.info({ counted, broken: left.length - counted }, 'content digests were counted')
    })
    return counted
  }

  /** One pass over the counters: what they are found by changes with every commit, so no index has it. */
  async function readUncounted(): Promise<readonly Uncounted[]> {
    const { rows } = await pool.query<Uncounted>(
      `select k.organization_id as "organizationId", k.kind from kind_counters k
         where k.kind = any($1) and k.organization_id <> all(${awayOrganizations}) and (k.content_of_digest is distinct from k.digest or k.content_recount is not null)
         order by k.organization_id, k.kind`,
      [tables.map(({ kind }) => kind)],
    )
    return rows
  }

  /** Whether it came to its end: somebody who keeps no content digest may have written meanwhile. */
  async function count({ organizationId, kind }: Uncounted): Promise<boolean> {
    const table = tables.find((one) => one.kind === kind)
    if (table === undefined) throw new Error(`the recount has no table of ${kind}`)
    const ofKind = 'c.organization_id = $1 and c.kind = $2'
    // Where nobody has begun a sum since.
    await pool.query(
      `update kind_counters c set content_digest = 0, content_of_digest = c.digest, content_recount = gen_random_uuid()
         where ${ofKind} and c.content_of_digest is distinct from c.digest`,
      [organizationId, kind],
    )
    const { rows } = await queryWithin<{ recount: string; lacking: string; bytes: string; removed: string }>(
      pool,
      longestCount,
      {
        text: `select c.content_recount as recount, coalesce(s.contents, 0) - c.content_digest as lacking,
             coalesce(s.bytes, 0) - c.stored_bytes as bytes, s.removed - c.removed_count as removed
           from kind_counters c
             cross join (select sum(content_term(t.body)) filter (where t.removed_at is null) as contents,
                 sum(octet_length(t.body)) filter (where t.removed_at is null) as bytes, count(t.removed_at) as removed
               from ${table.name} t where t.organization_id = $1) s
           where ${ofKind} and c.content_of_digest = c.digest and c.content_recount is not null`,
        values: [organizationId, kind],
      },
    )
    const [read] = rows
    if (read === undefined) return false
    const added = await pool.query(
      `update kind_counters c set content_recount = null,
           content_digest = mod(mod(c.content_digest + $3::numeric, ${digestModulus}) + ${digestModulus}, ${digestModulus}),
           stored_bytes = c.stored_bytes + $5::bigint, removed_count = c.removed_count + $6::bigint
         where ${ofKind} and c.content_of_digest = c.digest and c.content_recount = $4`,
      [organizationId, kind, read.lacking, read.recount, read.bytes, read.removed],
    )
    return added.rowCount === 1
  }
}
