/** How a database refuses statements for an organization that it does not serve (decision 65). Nothing was changed. */
import { OrganizationGone } from '../db/call-function.ts'

/** PostgreSQL's error code of the refusal. */
export const notServedCode = 'DW003'

/** `fenced`: no database serves it for a moment; try again. Otherwise the directory knows the one that does. */
type NotServed = 'arriving' | 'fenced' | 'moved'

/**
 * SQL: organizations that this database does not serve; searches for work leave them out. An array is read once a
 * statement.
 */
export const notServedOrganizations =
  'array(select o.organization_id from organizations o where o.away is not null)'

export class OrganizationNotServed extends Error {
  readonly state: NotServed

  constructor(state: NotServed) {
    super(`the organization is ${state}`)
    this.state = state
  }
}

export function notServedStateOf(error: unknown): NotServed | null {
  // One whose rows were dropped after a move has moved. One that was deleted is not found by its token next time.
  if (error instanceof OrganizationGone) return 'moved'
  if (error instanceof OrganizationNotServed) return error.state
  const { code, detail } = (error ?? {}) as { readonly code?: unknown; readonly detail?: unknown }
  return code === notServedCode ? (detail as NotServed) : null
}

/** A refusal, for a function. `state`: an expression of the organization's column `away`. */
export function refuseNotServed(state: string): string {
  return `raise exception 'this database does not serve the organization' using errcode = '${notServedCode}', detail = ${state};`
}
