/**
 * The journal: the only way into the stream. A change goes in, its outcome comes out; in between it is committed
 * together with its event, its counters and its idempotency record, or not at all.
 */
import type { Pool } from 'pg'
import type { SchemaFunction } from '../db/migration.ts'
import type { Clock } from '../kernel/clock.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import type { Change, CommitOutcome } from './change.ts'
import { type CommitAnswer, decodeOutcomes, encodeChanges } from './commit-call.ts'
import { type CallPart, GroupCommit, type GroupLimits } from './group-commit.ts'

export interface Journal {
  /**
   * Commits one change of one organization. When it resolves with `done`, the change is durable and the next
   * read of the stream shows it. Rejects when the database failed; the change may then have committed.
   */
  commit(organizationId: string, change: Change): Promise<CommitOutcome>
}

export function createJournal(options: {
  readonly pool: Pool
  readonly commitFunction: SchemaFunction
  readonly clock: Clock
  /** Attempts that each delivery has. */
  readonly maxAttempts: number
  /** Called after a commit that made deliveries. */
  readonly onDeliveries: () => void
  readonly limits?: GroupLimits
}): Journal {
  const { pool, commitFunction, clock, maxAttempts, onDeliveries, limits } = options
  const single = { name: commitFunction.name, text: `select ${commitFunction.name}($1, $2, $3) as answer` }
  const several = {
    name: `${commitFunction.name}_several`,
    text: `select ${commitFunction.name}((c.part->>'organization')::uuid, $1, c.part->'changes') as answer
             from jsonb_array_elements($2::jsonb) as c(part)`,
  }

  async function call(parts: readonly CallPart[]): Promise<CommitOutcome[][]> {
    const now = latest(formatTimestamp(clock.now()), parts)
    const [first] = parts
    const answers =
      parts.length === 1 && first !== undefined
        ? await pool.query<{ answer: CommitAnswer }>({
            ...single,
            values: [first.organizationId, now, encodeChanges(first.changes, maxAttempts)],
          })
        : await pool.query<{ answer: CommitAnswer }>({
            ...several,
            values: [now, encodeParts(parts, maxAttempts)],
          })
    if (answers.rows.some(({ answer }) => answer.deliveries)) onDeliveries()
    return parts.map(({ changes }, part) => {
      const row = answers.rows[part]
      if (row === undefined) throw new Error('the commit function gave no answer for an organization')
      return decodeOutcomes(changes, row.answer)
    })
  }

  const group = new GroupCommit(call, limits)
  return { commit: (organizationId, change) => group.submit(organizationId, change) }
}

/** Not earlier than any decision of the call, though the clock may have stepped back since: no stamp is either. */
function latest(now: string, parts: readonly CallPart[]): string {
  let last = now
  for (const { changes } of parts) for (const { decidedAt } of changes) if (decidedAt > last) last = decidedAt
  return last
}

function encodeParts(parts: readonly CallPart[], maxAttempts: number): string {
  const encoded = parts.map(
    ({ organizationId, changes }) =>
      `{"organization":"${organizationId}","changes":${encodeChanges(changes, maxAttempts)}}`,
  )
  return `[${encoded.join(',')}]`
}
