/** What managing keys over HTTP needs beside the keys themselves. */
import type { Migration } from '../migration.ts'

export const keyMigrations: readonly Migration[] = [
  {
    id: '20261121-10-keys',
    statements: [
      // What counts moves neither updatedAt nor anything else of the key: rows of their own.
      `create table api_key_uses (
        organization_id uuid not null,
        api_key_id uuid not null,
        last_used_at timestamptz(3) not null,
        primary key (organization_id, api_key_id),
        foreign key (organization_id, api_key_id) references api_keys on delete cascade
      ) with (fillfactor = 50)`,
      // Set by the worker that has taken note of the expiry: what the key registered is disabled. Until then the key
      // is in the index that such keys are found by, whenever they expire.
      `alter table api_keys add column expiry_settled_at timestamptz(3)`,
      `alter table api_keys add check (expiry_settled_at is null or expires_at is not null)`,
      `create index api_keys_expiring on api_keys (expires_at) where expires_at is not null and expiry_settled_at is null`,
      `create index api_keys_newest on api_keys (organization_id, created_at desc, id desc)`,
      `create index api_key_tokens_of_key on api_key_tokens (organization_id, api_key_id)`,
      `create index webhooks_registrant on webhooks (organization_id, api_key_id) where status = 'active'`,
    ],
  },
]
