/** The organizations of a database, for the operator. */
import type { Pool } from 'pg'
import { formatTimestamp } from '../kernel/timestamps.ts'

export interface OrganizationStatus {
  readonly organizationId: string
  readonly name: string
  /** `deleting`: its deletion has begun and is not finished. */
  readonly status: 'active' | 'suspended' | 'deleting'
  readonly suspendedAt: string | null
  readonly createdAt: string
  readonly keys: number
  /** Existing rows of all kinds, and the bytes of their representations. */
  readonly rows: number
  readonly bytes: number
}

export interface OrganizationCopy extends OrganizationStatus {
  /** This database does not serve it: a move left this copy, or is creating it. */
  readonly away: boolean
}

interface OrganizationRow {
  readonly away: boolean
  readonly organization_id: string
  readonly name: string
  readonly suspended_at: Date | null
  readonly deletion_began_at: Date | null
  readonly created_at: Date
  readonly keys: number
  readonly rows: number
  readonly bytes: number
}

export async function listOrganizations(
  pool: Pick<Pool, 'query'>,
  organizationId: string | null = null,
): Promise<readonly OrganizationCopy[]> {
  const { rows } = await pool.query<OrganizationRow>(
    `select o.organization_id, o.name, o.suspended_at, o.deletion_began_at, o.created_at, o.away is not null as away,
         (select count(*)::int from api_keys k where k.organization_id = o.organization_id) as keys,
         coalesce(c.rows, 0)::float8 as rows, coalesce(c.bytes, 0)::float8 as bytes
       from organizations o
       left join lateral (select sum(c.live_count) as rows, sum(c.stored_bytes) as bytes
         from kind_counters c where c.organization_id = o.organization_id) c on true
       where $1::uuid is null or o.organization_id = $1
       order by o.created_at, o.organization_id`,
    [organizationId],
  )
  return rows.map((row) => ({
    organizationId: row.organization_id,
    name: row.name,
    status: row.deletion_began_at !== null ? 'deleting' : row.suspended_at !== null ? 'suspended' : 'active',
    suspendedAt: row.suspended_at === null ? null : formatTimestamp(row.suspended_at.getTime()),
    createdAt: formatTimestamp(row.created_at.getTime()),
    keys: row.keys,
    rows: row.rows,
    bytes: row.bytes,
    away: row.away,
  }))
}
