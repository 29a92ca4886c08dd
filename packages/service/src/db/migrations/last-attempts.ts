/**
 * A delivery's row holds all of its last attempt; what was logged before stands where the attempts before the last do. And of
 * the log's columns only those that rows are found by are counted: PostgreSQL looks at them anew whenever a twentieth has changed,
 * which among deliveries is every few seconds, and took a seventh of all its time for sorting bodies and times.
 */
import type { Migration } from '../migration.ts'

/** With the partitions that stand. */
function uncounted(table: string, columns: readonly string[]): string {
  return `alter table ${table} ${columns.map((column) => `alter column ${column} set statistics 0`).join(', ')}`
}

export const lastAttemptMigrations: readonly Migration[] = [
  {
    id: '20261121-40-last-attempts',
    statements: ['alter table deliveries add column response_body text'],
  },
  {
    id: '20261121-50-counted-columns',
    statements: [
      uncounted('events', ['subject_kind', 'body']),
      uncounted('deliveries', [
        'event_created_at',
        'subject_kind',
        'subject_id',
        'payload',
        'attempt_count',
        'max_attempts',
        'response_status',
        'response_body',
        'last_error_code',
        'last_error_message',
        'duration_ms',
        'last_attempt_at',
        'delivered_at',
        'updated_at',
      ]),
      uncounted('attempts', [
        'at',
        'response_status',
        'error_code',
        'error_message',
        'duration_ms',
        'response_body',
      ]),
    ],
  },
]
