/** SQL about the rows of the delivery log, as `d`. */

/** Conditions on a row. `since` is an SQL expression. */
export const rowIs = {
  pending: `d.log_day = 'infinity'`,
  completed: (since: string) =>
    `d.log_day >= (${since}::timestamptz at time zone 'UTC')::date and d.log_day < 'infinity'`,
  /** The index by status has these alone, so a statement that is to use it must say so. */
  indexedByStatus: `d.status in ('failed', 'skipped')`,
} as const

/** The lowest id created after that time, so that an index on ids suffices. */
export const firstIdSince = (since: string): string =>
  `first_uuid_v7(${since}::timestamptz + interval '1 millisecond')`
