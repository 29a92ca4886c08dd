/**
 * How a database refuses statements for an organization that it does not serve, as another has it. Nothing was
 * changed.
 */
import { OrganizationGone } from './call-function.ts'

/** PostgreSQL's error code of the refusal. */
export const notServedCode = 'DW003'

/**
 * SQL: whether this database serves the organization of `row`, of `organizations` or their clocks, and the opposite.
 */
export const isServedHere = (row: string) => `${row}.away is null`
export const isServedElsewhere = (row: string) => `${row}.away is not null`

/**
 * SQL: organizations that this database does not serve; searches for work leave them out. An array is read once a
 * statement.
 */
export const notServedOrganizations = `array(select o.organization_id from organizations o where ${isServedElsewhere('o')})`

/** The directory knows the database that serves the organization. */
export class OrganizationNotServed extends Error {
  constructor() {
    super('the organization has moved to another database')
  }
}

export function isNotServed(error: unknown): boolean {
  // One whose rows were dropped after a move has moved. One that was deleted is not found by its token next time.
  if (error instanceof OrganizationGone || error instanceof OrganizationNotServed) return true
  return ((error ?? {}) as { readonly code?: unknown }).code === notServedCode
}
