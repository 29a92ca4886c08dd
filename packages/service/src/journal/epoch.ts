/**
 * A new epoch of the streams: what a restored database is told before anybody reads it, because they may have gone
 * back in time (specification 7.5). Copies outside may hold records that are lost here. So the epoch of each organization
 * becomes one that no cursor has, the span of time that was lost is noted for it, and its clock moves past that span: no
 * new commit gets a stamp that a lost one may have had.
 *
 * An epoch belongs to its organization, and stands beside its clock: wherever those rows are, its cursors hold (decision 20).
 */
import { randomInt } from 'node:crypto'
import type { Tx } from '../db/transaction.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { maxClockSkew } from './clock-skew.ts'

/**
 * Milliseconds past the restore that the lost span reaches: as far as lost stamps may have been ahead of the time. Until
 * they are over, new stamps are that much ahead.
 */
export const lostSpanMargin = maxClockSkew

export interface NewEpoch {
  readonly epoch: number
  /** How many organizations were told. */
  readonly organizations: number
}

/**
 * Begins a new epoch of every organization that the database serves at `now`, in milliseconds, as part of the caller's transaction. The
 * clocks are locked first, as every commit does: one that comes in between stands before the span that is noted, or after it.
 *
 * The epoch is drawn by lot from 2^30 numbers and is none that this database knows. A number that counts would be had
 * twice when the same backup is restored twice, and one made of the time when a clock was set back.
 */
export async function beginEpoch(tx: Pick<Tx, 'query'>, now: number): Promise<NewEpoch> {
  await tx.query(
    'select o.organization_id from organization_clocks o where o.away is null order by o.organization_id for update',
  )
  const epoch = await unusedEpoch(tx)
  const noted = await tx.query(
    `insert into restores (organization_id, epoch, restored_to, restored_at)
       select o.organization_id, $1, o.last_stamp,
           greatest(o.last_stamp, $2) + interval '${lostSpanMargin} milliseconds' from organization_clocks o where o.away is null`,
    [epoch, formatTimestamp(now)],
  )
  await tx.query(
    `update organization_clocks c set last_stamp = r.restored_at, epoch = r.epoch
       from restores r where r.organization_id = c.organization_id and r.epoch = $1`,
    [epoch],
  )
  // For organizations that are made from now on.
  await tx.query('update installation set epoch = $1 where singleton', [epoch])
  return { epoch, organizations: noted.rowCount ?? 0 }
}

async function unusedEpoch(tx: Pick<Tx, 'query'>): Promise<number> {
  const { rows } = await tx.query<{ epoch: number }>(
    `select i.epoch from installation i union select c.epoch from organization_clocks c
       union select r.epoch from restores r`,
  )
  const used = new Set(rows.map(({ epoch }) => epoch))
  for (;;) {
    const epoch = randomInt(2 ** 30, 2 ** 31)
    if (!used.has(epoch)) return epoch
  }
}
