import type { Migration } from '../db/migration.ts'

export const summarizerMigrations: readonly Migration[] = [
  {
    id: '20261121-20-summary-jobs',
    statements: [
      // One job a resolution that waits for its summary: made when the delay is over, gone once there is nothing
      // left to write. due_at is when a worker may take it; who takes it moves due_at to the end of the lease.
      `create table summary_jobs (
        organization_id uuid not null references organizations,
        conversation_id uuid not null,
        resolved_at timestamptz(3) not null,
        due_at timestamptz(3) not null,
        lease_id uuid,
        attempts integer not null check (attempts >= 0),
        gave_up boolean not null,
        primary key (organization_id, conversation_id)
      ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05)`,
      `create index summary_jobs_due on summary_jobs (organization_id, due_at)`,
    ],
  },
  {
    id: '20261122-32-summary-job-owners',
    // Who has, or had, the lease: when it died, its jobs are found by it.
    statements: ['alter table summary_jobs add column worker_id uuid'],
  },
]
