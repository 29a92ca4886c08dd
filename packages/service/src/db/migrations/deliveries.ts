/** What deliveries remember of their schedule, and lanes of the workers that had them. */
import type { Migration } from '../migration.ts'

export const deliveryMigrations: readonly Migration[] = [
  {
    id: '20261122-30-attempts-before',
    statements: [
      // Attempts made before the schedule that runs was begun: by hand and by a recovery it is begun anew.
      'alter table deliveries add column attempts_before integer not null default 0',
      'alter table deliveries alter column attempts_before set statistics 0',
      // What was begun anew until now does not say when; with the number of delays that there are unless set otherwise it did.
      `update deliveries set attempts_before = max_attempts - 6
         where log_day = 'infinity' and payload = 'stored' and max_attempts > 6`,
    ],
  },
  {
    id: '20261122-31-lost-leases',
    statements: [
      // Leases in a row whose worker died; how many deliveries more are sent one at a time for it; and under the lease that
      // runs, which of them, since when.
      `alter table lanes add column lost_leases smallint not null default 0, add column alone_left smallint not null default 0,
        add column alone_id uuid, add column alone_since timestamptz(3),
        add check ((alone_id is null) = (alone_since is null))`,
    ],
  },
]
