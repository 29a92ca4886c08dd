/** What endpoints may ask for beyond the baseline: columns that are null, or false, for those that ask for nothing. */
import type { Migration } from '../migration.ts'

export const endpointOptions: readonly Migration[] = [
  {
    id: '20261126-02-recover-succeeded',
    statements: [
      'alter table recoveries add column if not exists include_succeeded boolean not null default false',
    ],
  },
]
