/** Suggests organizations to move, so that databases hold and write about the same. */
import type { Pool } from 'pg'
import { firstIdAt } from '../kernel/ids.ts'
import type { Clock } from '../kernel/timestamps.ts'

interface OrganizationLoad {
  readonly organizationId: string
  readonly name: string
  /** Of the representations of existing objects. */
  readonly bytes: number
  /** Events of the last day. */
  readonly changes: number
}

export interface DatabaseLoad {
  readonly name: string
  readonly organizations: readonly OrganizationLoad[]
}

interface ProposedMove extends OrganizationLoad {
  readonly from: string
  readonly to: string
}

const day = 24 * 60 * 60 * 1000

export async function readLoad(name: string, pool: Pick<Pool, 'query'>, clock: Clock): Promise<DatabaseLoad> {
  const { rows } = await pool.query<OrganizationLoad>({
    text: `select o.organization_id as "organizationId", o.name,
             (select coalesce(sum(c.stored_bytes), 0)::float8 from kind_counters c where c.organization_id = o.organization_id) as bytes,
             (select count(*)::float8 from events e where e.organization_id = o.organization_id and e.id >= $1) as changes
           from organizations o where o.away is null order by o.organization_id`,
    values: [firstIdAt(clock.now() - day)],
  })
  return { name, organizations: rows }
}

/**
 * Moves that bring the fullest database nearer to the mean, most useful first. Load: the greater share, of bytes or of
 * changes. Pure.
 */
export function proposeMoves(databases: readonly DatabaseLoad[], most = 10): readonly ProposedMove[] {
  const all = databases.flatMap(({ organizations }) => organizations)
  const total = { bytes: Math.max(1, sumOf(all, 'bytes')), changes: Math.max(1, sumOf(all, 'changes')) }
  const held = new Map(databases.map(({ name, organizations }) => [name, [...organizations]]))
  const shareOf = (organizations: readonly OrganizationLoad[]) =>
    Math.max(sumOf(organizations, 'bytes') / total.bytes, sumOf(organizations, 'changes') / total.changes)
  const moves: ProposedMove[] = []
  while (moves.length < most) {
    const ranked = [...held].sort(([, a], [, b]) => shareOf(b) - shareOf(a))
    const [from, full] = ranked[0] ?? ['', []]
    const [to, free] = ranked.at(-1) ?? ['', []]
    if (shareOf(full) - shareOf(free) <= worthwhile) break
    const best = full
      .map((one) => {
        const left = full.filter((other) => other !== one)
        return { one, worst: Math.max(shareOf(left), shareOf([...free, one])) }
      })
      .sort((a, b) => a.worst - b.worst)[0]
    if (best === undefined || best.worst > shareOf(full) - worthwhile / 2) break
    moves.push({ ...best.one, from, to })
    held.set(
      from,
      full.filter((other) => other !== best.one),
    )
    held.set(to, [...free, best.one])
  }
  return moves
}

function sumOf(organizations: readonly OrganizationLoad[], what: 'bytes' | 'changes'): number {
  return organizations.reduce((sum, one) => sum + one[what], 0)
}

/** Shares with a smaller difference count as equal. */
const worthwhile = 0.05
