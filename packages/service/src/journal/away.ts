/**
 * What a database says that does not serve an organization, though somebody asks it to: the organization is served by another
 * one, or by none for a moment (decision 65). Nothing was changed.
 */

/** What the database says in the place of a change. */
export const awayCode = 'DW003'

/** `fenced`: by none for a moment, after which it is to be asked again. Others: by another, which the directory knows. */
type Away = 'arriving' | 'fenced' | 'moved'

/**
 * SQL of the organizations that this database holds and does not serve, as an array: read once a statement. What searches all of them for
 * work passes these by.
 */
export const awayOrganizations =
  'array(select o.organization_id from organizations o where o.away is not null)'

/** The organization is away from the database that was asked. */
export class OrganizationAway extends Error {
  readonly away: Away

  constructor(away: Away) {
    super(`the organization is ${away}`)
    this.away = away
  }
}

/** How the organization is away, where that is what an error says; null of any other. */
export function awayOf(error: unknown): Away | null {
  if (error instanceof OrganizationAway) return error.away
  const { code, detail } = (error ?? {}) as { readonly code?: unknown; readonly detail?: unknown }
  return code === awayCode ? (detail as Away) : null
}

/** Refuses a change, in a function; `how` is the expression that says how the organization is away. */
export function refuseAway(how: string): string {
  return `raise exception 'this database does not serve the organization' using errcode = '${awayCode}', detail = ${how};`
}
