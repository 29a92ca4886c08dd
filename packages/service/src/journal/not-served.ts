/**
 * How a database refuses statements of an organization that it does not serve: another database serves it, or none for a moment
 * (decision 65). Nothing was changed.
 */

/** PostgreSQL's code of the refusal. */
export const notServedCode = 'DW003'

/** `fenced`: no database serves it for a moment; try again. Others: another database does, which the directory knows. */
type NotServed = 'arriving' | 'fenced' | 'moved'

/**
 * SQL of the organizations that this database holds and does not serve, as an array: read once a statement. Searches for work over all
 * organizations leave these out.
 */
export const notServedOrganizations =
  'array(select o.organization_id from organizations o where o.away is not null)'

/** The database that was asked does not serve the organization. */
export class OrganizationNotServed extends Error {
  readonly state: NotServed

  constructor(state: NotServed) {
    super(`the organization is ${state}`)
    this.state = state
  }
}

/** Why the database does not serve the organization, where that is the error; null for any other. */
export function notServedStateOf(error: unknown): NotServed | null {
  if (error instanceof OrganizationNotServed) return error.state
  const { code, detail } = (error ?? {}) as { readonly code?: unknown; readonly detail?: unknown }
  return code === notServedCode ? (detail as NotServed) : null
}

/** Refuses a change, in a function; `state` is the expression with the organization's column `away`. */
export function refuseNotServed(state: string): string {
  return `raise exception 'this database does not serve the organization' using errcode = '${notServedCode}', detail = ${state};`
}
