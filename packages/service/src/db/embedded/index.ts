// The embedded database: a real PostgreSQL that the service runs for itself when no DESKWIRE_DATABASE_URL is set.
// Why it is built this way: decision 2.
export { EmbeddedDatabaseError } from './error.ts'
export { findEmbedded, hasEmbeddedDatabase } from './find.ts'
export { startReplacement } from './replace.ts'
export { type EmbeddedConnection, type EmbeddedDatabase, startEmbedded } from './start.ts'
