/** How far the stream's clock may be ahead of the database's (decision 1). */

/** The limit for every process, in milliseconds. */
export const maxClockSkew = 60_000

/** PostgreSQL's code of a commit with a time beyond that. Nothing was changed. */
export const clockAheadCode = 'DW001'
