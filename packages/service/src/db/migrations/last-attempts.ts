/** A delivery's row holds all of its last attempt; what was logged before stands where the attempts before the last do. */
import type { Migration } from '../migration.ts'

export const lastAttemptMigrations: readonly Migration[] = [
  {
    id: '20261121-40-last-attempts',
    statements: ['alter table deliveries add column response_body text'],
  },
]
