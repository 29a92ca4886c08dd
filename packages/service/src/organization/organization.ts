/** Reads an organization, and changes its name and settings. A change without effect is not stored. */

import type { Pool } from 'pg'
import { OrganizationGone } from '../db/call-function.ts'
import type { Database } from '../db/fair-pool.ts'
import { isServedElsewhere } from '../db/not-served.ts'
import { problem } from '../kernel/errors.ts'
import type { StateOf } from '../kernel/fields/field.ts'
import { flag, text } from '../kernel/fields/fields.ts'
import { parsePatch, type Shape } from '../kernel/fields/validate.ts'
import { done, type Outcome, refused, retryOnConflict } from '../kernel/outcome.ts'
import { type Clock, formatTimestamp } from '../kernel/timestamps.ts'
import { constant } from '../openapi/api-module.ts'
import { field, type Shown, text as string, time, uuid } from '../openapi/field-schemas.ts'

export interface Organizations {
  read(organizationId: string): Promise<OrganizationRecord>
  change(organizationId: string, body: unknown): Promise<Outcome<OrganizationRecord>>
}

export function createOrganizations(database: Pick<Database, 'of'>, clock: Clock): Organizations {
  async function find(organizationId: string): Promise<OrganizationRow> {
    const { rows } = await database.of(organizationId).query<OrganizationRow>(
      `select o.organization_id, o.name, o.prevents_double_booking, o.created_at, o.updated_at from organizations o
         where o.organization_id = $1`,
      [organizationId],
    )
    const [row] = rows
    if (row === undefined) throw new OrganizationGone(organizationId)
    return row
  }

  return {
    read: async (organizationId) => organizationRecord(await find(organizationId)),

    async change(organizationId, body) {
      const outcome = await retryOnConflict<Outcome<OrganizationRecord>>(async () => {
        const row = await find(organizationId)
        const { name: named, prevents_double_booking: prevented } = row
        const parsed = parsePatch(organizationShape, { name: named, preventDoubleBooking: prevented }, body)
        if (!parsed.ok) return refused(parsed.error)
        const { name, preventDoubleBooking: prevents_double_booking } = parsed.value.draft as StateOf<
          typeof fields
        >
        if (name === named && prevents_double_booking === prevented) return done(organizationRecord(row))
        // A later `updatedAt`, even if the clock has not moved.
        const updated_at = new Date(Math.max(clock.now(), row.updated_at.getTime() + 1))
        const { rowCount } = await database.of(organizationId).query(
          `update organizations set name = $2, updated_at = $3, prevents_double_booking = $5
               where organization_id = $1 and updated_at = $4`,
          [
            organizationId,
            name,
            formatTimestamp(updated_at.getTime()),
            formatTimestamp(row.updated_at.getTime()),
            prevents_double_booking,
          ],
        )
        if (rowCount !== 1) return null
        return done(organizationRecord({ ...row, name, prevents_double_booking, updated_at }))
      })
      return outcome ?? refused(problem('unavailable', 'The organization keeps changing. Send it again.'))
    },
  }
}

interface OrganizationRow {
  readonly organization_id: string
  readonly name: string
  readonly prevents_double_booking: boolean
  readonly created_at: Date
  readonly updated_at: Date
}

/** As the API shows it (specification 3.6). */
function organizationRecord(row: OrganizationRow) {
  return {
    id: row.organization_id,
    object: 'organization' as const,
    name: row.name,
    preventDoubleBooking: row.prevents_double_booking,
    createdAt: formatTimestamp(row.created_at.getTime()),
    updatedAt: formatTimestamp(row.updated_at.getTime()),
  }
}

type OrganizationRecord = ReturnType<typeof organizationRecord>

const doubleBooking =
  'Whether a booking is refused (409 booking_conflict) that overlaps with another of its assignee.'

export const organizationFields: Shown<OrganizationRecord> = {
  id: field(uuid, 'Its id: `organizationId` of everything that it owns.'),
  object: field(constant('organization'), 'Its kind.'),
  name: field(string, 'Its name.'),
  preventDoubleBooking: field({ type: 'boolean' }, doubleBooking),
  createdAt: field(time, 'When it was made.'),
  updatedAt: field(time, 'When it was last changed.'),
}

const fields = {
  name: text({ required: true, min: 1, max: 255, description: 'Its name.' }),
  preventDoubleBooking: flag({ initial: false, description: doubleBooking }),
}

export const organizationShape: Shape = { name: 'organization', fields }

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
  /** A move left this copy, or is creating it. */
  readonly isServedElsewhere: boolean
}

interface OrganizationRow {
  readonly is_served_elsewhere: boolean
  readonly organization_id: string
  readonly name: string
  readonly suspended_at: Date | null
  readonly deletion_began_at: Date | null
  readonly created_at: Date
  readonly keys: number
  readonly rows: number
  readonly bytes: number
}

/** The organizations of a database, for the operator. */
export async function listOrganizations(
  pool: Pick<Pool, 'query'>,
  organizationId: string | null = null,
): Promise<readonly OrganizationCopy[]> {
  const { rows } = await pool.query<OrganizationRow>(
    `select o.organization_id, o.name, o.suspended_at, o.deletion_began_at, o.created_at,
         ${isServedElsewhere('o')} as is_served_elsewhere,
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
    isServedElsewhere: row.is_served_elsewhere,
  }))
}
