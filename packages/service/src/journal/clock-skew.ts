/** How far the stream's clock may be ahead of the database's (decision 1). */

/** No process pushes the stream's clock further ahead than this, in milliseconds. */
export const maxClockSkew = 60_000

/** What the commit function raises when it is given a time beyond that. Nothing was changed. */
export const clockAheadCode = 'DW001'
