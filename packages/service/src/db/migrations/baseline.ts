/**
 * The tables and functions of the first release, those of kinds apart; docs/schema.sql shows the outcome. A released
 * migration never changes.
 */
import { readStatements } from '../sql-file.ts'

const files = [
  '../../journal/body.sql',
  './baseline/new-uuid-v7.sql',
  './baseline/first-uuid-v7.sql',
  './baseline/event-of-change.sql',
  './baseline/millisecond-after.sql',
  './baseline/search-vector.sql',
  './baseline/organizations.sql',
  './baseline/keys.sql',
  './baseline/events.sql',
  './baseline/endpoints.sql',
  './baseline/deliveries.sql',
  './baseline/jobs.sql',
  './baseline/databases.sql',
] as const

export const baseline: readonly string[] = files.flatMap((file) => readStatements(import.meta.url, file))
