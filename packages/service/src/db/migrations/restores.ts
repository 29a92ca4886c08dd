/** What is remembered of restores: which span of an organization's stream was lost. */
import type { Migration } from '../migration.ts'

export const restoreMigrations: readonly Migration[] = [
  {
    id: '20261121-30-restores',
    statements: [
      // Stamps after restored_to and up to restored_at are of a past that is lost; no new commit ever has one.
      `create table restores (
        organization_id uuid not null references organizations,
        epoch integer not null,
        restored_to timestamptz(3) not null,
        restored_at timestamptz(3) not null,
        primary key (organization_id, epoch),
        check (restored_to <= restored_at)
      )`,
    ],
  },
]
