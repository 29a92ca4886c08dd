/** Search documents that an earlier release wrote, written as this one does. Rows stay as they are: no stamp, no event. */
import type { Pool } from 'pg'
import { isHeldElsewhere } from '../../db/failure.ts'
import { transaction } from '../../db/transaction.ts'
import { timestampText } from '../../journal/body.ts'
import { type OutdatedRow, organizationsWith } from '../../journal/outdated.ts'
import { nilUuid } from '../../kernel/ids.ts'
import { mapYielding } from '../../kernel/yielding.ts'
import type { Kind } from './kind.ts'
import { parseRepresentation } from './representation.ts'
import { documentVersion, searchTerms } from './search.ts'

const isOutdated = `left(t.terms, ${documentVersion.length}) <> '${documentVersion}'`

/** Organizations with such documents. */
export function organizationsToReindex(pool: Pool, { table }: Kind): Promise<readonly string[]> {
  if (!table.searchable) return Promise.resolve([])
  return organizationsWith(pool, `${table.name}_words`, isOutdated)
}

/** As many as writers of the organization can wait for. */
const documentsAtOnce = 32

/** Writes the documents after the id `after`. `last`: the last of them; null when there are no more. */
export async function reindexPiece(
  pool: Pool,
  kind: Kind,
  organizationId: string,
  after: string | null,
): Promise<{ readonly changed: number; readonly last: string | null } | 'busy'> {
  const { name } = kind.table
  const { rows } = await pool.query<OutdatedRow>(
    `select r.id, r.body, ${timestampText('r.updated_at')} as "updatedAt", r.body_version as version
       from (select t.organization_id, t.id from ${name}_words t
           where t.organization_id = $1 and t.id > $2 and ${isOutdated} order by t.id limit ${documentsAtOnce}) o
         join ${name} r on r.organization_id = o.organization_id and r.id = o.id order by r.id`,
    [organizationId, after ?? nilUuid],
  )
  const terms = await mapYielding(rows, (row) => termsOf(kind, row))
  try {
    return await transaction(pool, async (tx) => {
      // No writer commits meanwhile, and a row that has changed since has a document of that change.
      await tx.query(`set local lock_timeout = '250ms'`)
      await tx.query('select 1 from organization_clocks c where c.organization_id = $1 for update', [
        organizationId,
      ])
      const { rowCount } = await tx.query(
        `update ${name}_words w set terms = n.terms
           from unnest($2::uuid[], $3::timestamptz[], $4::text[]) as n(id, updated_at, terms)
             join ${name} r on r.organization_id = $1 and r.id = n.id and r.updated_at = n.updated_at
           where w.organization_id = $1 and w.id = n.id and n.terms is not null and ${isOutdated.replace('t.', 'w.')}`,
        [organizationId, rows.map(({ id }) => id), rows.map(({ updatedAt }) => updatedAt), terms],
      )
      const last = rows.length < documentsAtOnce ? null : (rows.at(-1)?.id ?? null)
      return { changed: rowCount ?? 0, last }
    })
  } catch (error) {
    if (isHeldElsewhere(error)) return 'busy'
    throw error
  }
}

/** Null for a row that cannot be read, as upgrading it fails. */
function termsOf(kind: Kind, row: OutdatedRow): string | null {
  try {
    return searchTerms(kind, parseRepresentation(kind, row).state)
  } catch {
    return null
  }
}
