/**
 * Begins a new epoch of a restored database's streams, before anybody reads them (specification 7.5, decision 20).
 * Copies may hold records that the restore has lost. So each organization gets an epoch that no cursor has, a record
 * of the lost span, and a clock past that span: no new commit gets a stamp that a lost one may have had.
 */
import { randomInt } from 'node:crypto'
import { isServedHere } from '../db/not-served.ts'
import type { Tx } from '../db/pool.ts'
import { formatTimestamp } from '../kernel/timestamps.ts'
import { maxClockSkew } from './commit-protocol.ts'

/** How far the lost span reaches past the restore: as far as lost stamps may have been ahead. In milliseconds. */
export const lostSpanMargin = maxClockSkew

export interface NewEpoch {
  readonly epoch: number
  readonly organizations: number
}

/**
 * Begins a new epoch of every organization that the database serves at `now`, in milliseconds, in the caller's
 * transaction. It locks the clocks first, so that each commit is before the span or after it. The epoch is random: a
 * counter would repeat after a second restore of one backup, the time after a clock was set back.
 */
export async function beginEpoch(tx: Pick<Tx, 'query'>, now: number): Promise<NewEpoch> {
  await tx.query(
    `select o.organization_id from organization_clocks o
       where ${isServedHere('o')} order by o.organization_id for update`,
  )
  const epoch = await unusedEpoch(tx)
  const noted = await tx.query(
    `insert into restores (organization_id, epoch, restored_to, restored_at)
       select o.organization_id, $1, o.last_stamp,
           greatest(o.last_stamp, $2) + interval '${lostSpanMargin} milliseconds'
         from clocks o where ${isServedHere('o')}`,
    [epoch, formatTimestamp(now)],
  )
  await tx.query(
    `update organization_clocks c set last_stamp = r.restored_at, epoch = r.epoch
       from restores r where r.organization_id = c.organization_id and r.epoch = $1`,
    [epoch],
  )
  // For organizations that are created from now on.
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
