-- API keys, their tokens, and sessions of the console.

-- Identities of clients and their scopes. A key outlives its tokens.
create table api_keys (
  organization_id uuid not null references organizations,
  id uuid not null,
  name text not null,
  scopes text[] not null,
  expires_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- Set by the worker that has disabled what the key registered. Until then the key is in api_keys_expiring.
  expiry_settled_at timestamptz(3),
  primary key (organization_id, id),
  check (expiry_settled_at is null or expires_at is not null)
);
create index api_keys_expiring on api_keys (expires_at) where expires_at is not null and expiry_settled_at is null;
create index api_keys_newest on api_keys (organization_id, created_at desc, id desc);

-- From the hash of a token to its key: the one look-up without an organization, because it finds the organization.
create table api_key_tokens (
  token_hash bytea primary key,
  organization_id uuid not null,
  api_key_id uuid not null,
  last4 text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3),
  foreign key (organization_id, api_key_id) references api_keys on delete cascade
);
create index api_key_tokens_of_key on api_key_tokens (organization_id, api_key_id);

-- When a key was last used. Uses change nothing of the key, not even updatedAt, so they have rows of their own.
create table api_key_uses (
  organization_id uuid not null,
  api_key_id uuid not null,
  last_used_at timestamptz(3) not null,
  primary key (organization_id, api_key_id),
  foreign key (organization_id, api_key_id) references api_keys on delete cascade
) with (fillfactor = 50);

-- Links to sessions of the console, and the sessions that they began. Found by a hash alone, as tokens are.
create table console_links (
  -- Of the link's secret until that is exchanged, and then of its session's token: either is good once.
  token_hash bytea not null primary key,
  organization_id uuid not null,
  id uuid not null,
  api_key_id uuid not null,
  scopes text[] not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  exchanged_at timestamptz(3),
  unique (organization_id, id),
  foreign key (organization_id, api_key_id) references api_keys on delete cascade
);
create index console_links_of_key on console_links (organization_id, api_key_id);
create index console_links_expiring on console_links (expires_at);

-- Keys that were revoked, for 30 days.
create table revoked_api_keys (
  organization_id uuid not null,
  id uuid not null,
  name text not null,
  scopes text[] not null,
  last4 text not null,
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  revoked_at timestamptz(3) not null,
  -- The key that revoked it; null for the operator.
  revoked_by uuid,
  revoked_by_name text,
  primary key (organization_id, id)
);
create index revoked_api_keys_newest on revoked_api_keys (organization_id, revoked_at desc, id desc);
create index revoked_api_keys_age on revoked_api_keys (revoked_at);
