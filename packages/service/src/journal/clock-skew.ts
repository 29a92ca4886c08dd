/** How far the clock of any process may be ahead of the database's, in milliseconds (decision 1). */
export const maxClockSkew = 60_000

/** PostgreSQL's error code of a commit with a later time. Nothing was changed. */
export const clockAheadCode = 'DW001'
