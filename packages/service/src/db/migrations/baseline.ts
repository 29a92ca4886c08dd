/**
 * The tables and functions of the first release, those of kinds apart; docs/schema.sql shows the outcome. A released
 * migration never changes.
 */
import { readStatements } from '../sql-file.ts'

const files = [
  'digest-term',
  'content-term',
  'new-uuid-v7',
  'first-uuid-v7',
  'millisecond-after',
  'search-vector',
  'organizations',
  'keys',
  'events',
  'endpoints',
  'deliveries',
  'jobs',
  'databases',
] as const

export const baseline: readonly string[] = files.flatMap((file) =>
  readStatements(import.meta.url, `./baseline/${file}.sql`),
)
