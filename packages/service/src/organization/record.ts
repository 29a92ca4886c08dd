/** The organization as the API shows it (specification 3.6), and what of it can be set. */
import { formatTimestamp } from '../kernel/timestamps.ts'
import { text } from '../resource/fields.ts'
import { field, type Shown, text as string, time, uuid } from '../resource/shown-field.ts'
import type { Shape } from '../resource/validate.ts'

export interface OrganizationRow {
  readonly organization_id: string
  readonly name: string
  readonly created_at: Date
  readonly updated_at: Date
}

export function organizationRecord(row: OrganizationRow) {
  return {
    id: row.organization_id,
    object: 'organization' as const,
    name: row.name,
    createdAt: formatTimestamp(row.created_at.getTime()),
    updatedAt: formatTimestamp(row.updated_at.getTime()),
  }
}

export type OrganizationRecord = ReturnType<typeof organizationRecord>

export const organizationFields: Shown<OrganizationRecord> = {
  id: field(uuid, 'Its id: `organizationId` of everything that it owns.'),
  object: field({ const: 'organization' }, 'Its kind.'),
  name: field(string, 'What it is called.'),
  createdAt: field(time, 'When it was made.'),
  updatedAt: field(time, 'When it was last changed.'),
}

const fields = { name: text({ required: true, min: 1, max: 255, description: 'What it is called.' }) }

export const organizationShape: Shape = { name: 'organization', fields, fieldNames: Object.keys(fields) }
