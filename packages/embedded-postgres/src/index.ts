// A real PostgreSQL that a program runs for itself.
export { createPrivate, syncDirectory } from './datadir.ts'
export { EmbeddedDatabaseError } from './error.ts'
export type { Host, Words } from './host.ts'
export { createLauncher, type Launcher } from './launcher.ts'
export type { Replacement } from './replace.ts'
export type { EmbeddedConnection, EmbeddedDatabase, EmbeddedLog } from './start.ts'
