/**
 * Changes of keys. Each function locks the organization's clock row first, as commits do. Then it checks the calling
 * key again: one that was revoked, has expired or lost a scope since authentication changes nothing.
 */

import { type SchemaFunction, schemaFunction } from '../../db/migration.ts'
import { disableRegistered } from '../../delivery/registrants.ts'
import { lockClock, refuseBeyondLimit, replayed, storeResponseAbout } from '../../journal/sql-fragments.ts'
import { managingScope } from '../scopes.ts'
import { noteRevoked } from './revoked.ts'

/** The calling key and its scopes at authentication. */
const callerArguments = 'p_caller_id uuid, p_caller_scopes text[]'
/** The key to change, and the version that was decided on. */
const keyArguments = 'p_organization_id uuid, p_api_key_id uuid, p_now timestamptz, p_expected timestamptz'

const checkCaller = `perform 1 from api_keys k where k.organization_id = p_organization_id and k.id = p_caller_id
    and k.scopes = p_caller_scopes and (k.expires_at is null or k.expires_at > p_now);
  if not found then
    return 'caller_changed';
  end if;`

const checkVersion = `perform 1 from api_keys k where k.organization_id = p_organization_id and k.id = p_api_key_id
    and k.updated_at = p_expected;
  if not found then
    return 'conflict';
  end if;`

const storeResponse = storeResponseAbout('p_api_key_id')

/** Returns `last_managing_key` when no other valid key could manage keys. */
const keepManager = `perform 1 from api_keys k where k.organization_id = p_organization_id and k.id <> p_api_key_id
      and k.scopes && array['*', '${managingScope}'] and (k.expires_at is null or k.expires_at > p_now);
    if not found then
      return 'last_managing_key';
    end if;`

const isManager = `exists (select 1 from api_keys k where k.organization_id = p_organization_id and k.id = p_api_key_id
      and k.scopes && array['*', '${managingScope}'] and (k.expires_at is null or k.expires_at > p_now))`

export const createFunction: SchemaFunction = schemaFunction(
  'create_api_key',
  {
    arguments: `p_organization_id uuid, p_api_key_id uuid, p_now timestamptz, ${callerArguments}, p_row jsonb, p_token_hash bytea, p_last4 text, p_limit int, p_response jsonb`,
    returns: 'text',
  },
  `begin
  ${lockClock}
  ${replayed}
  ${checkCaller}
  ${refuseBeyondLimit('api_keys k where k.organization_id = p_organization_id')}
  ${storeResponse}
  insert into api_keys (organization_id, id, name, scopes, expires_at, created_at, updated_at)
    select p_organization_id, p_api_key_id, r.name, r.scopes, r.expires_at, p_now, p_now
      from jsonb_to_record(p_row) as r(name text, scopes text[], expires_at timestamptz);
  insert into api_key_tokens (token_hash, organization_id, api_key_id, last4, created_at)
    values (p_token_hash, p_organization_id, p_api_key_id, p_last4, p_now);
  return 'done';
end;`,
)

/** An expiry that a worker has processed no longer changes. */
export const updateFunction: SchemaFunction = schemaFunction(
  'update_api_key',
  { arguments: `${keyArguments}, ${callerArguments}, p_row jsonb, p_manages boolean`, returns: 'text' },
  `declare
  r record;
begin
  ${lockClock}
  ${checkCaller}
  ${checkVersion}
  if not p_manages and ${isManager} then
    ${keepManager}
  end if;
  select x.name, x.scopes, x.expires_at, x.updated_at into r
    from jsonb_to_record(p_row) as x(name text, scopes text[], expires_at timestamptz, updated_at timestamptz);
  update api_keys k set name = r.name, scopes = r.scopes, expires_at = r.expires_at, updated_at = r.updated_at
    where k.organization_id = p_organization_id and k.id = p_api_key_id
      and (k.expiry_settled_at is null or k.expires_at is not distinct from r.expires_at);
  if not found then
    return 'conflict';
  end if;
  return 'done';
end;`,
)

/** Creates a token. Earlier ones work until p_expires_at, or their own earlier end. */
export const rotateFunction: SchemaFunction = schemaFunction(
  'rotate_api_key',
  {
    arguments: `${keyArguments}, ${callerArguments}, p_updated_at timestamptz, p_token_hash bytea, p_last4 text, p_expires_at timestamptz, p_response jsonb`,
    returns: 'text',
  },
  `begin
  ${lockClock}
  ${replayed}
  ${checkCaller}
  ${checkVersion}
  ${storeResponse}
  delete from api_key_tokens where organization_id = p_organization_id and api_key_id = p_api_key_id
    and expires_at <= p_now;
  update api_key_tokens set expires_at = p_expires_at
    where organization_id = p_organization_id and api_key_id = p_api_key_id and expires_at is null;
  insert into api_key_tokens (token_hash, organization_id, api_key_id, last4, created_at)
    values (p_token_hash, p_organization_id, p_api_key_id, p_last4, p_now);
  update api_keys set updated_at = p_updated_at where organization_id = p_organization_id and id = p_api_key_id;
  return 'done';
end;`,
)

export const dropPreviousFunction: SchemaFunction = schemaFunction(
  'drop_previous_tokens',
  { arguments: `${keyArguments}, ${callerArguments}, p_updated_at timestamptz`, returns: 'text' },
  `begin
  ${lockClock}
  ${checkCaller}
  ${checkVersion}
  update api_keys k set updated_at = p_updated_at
    where k.organization_id = p_organization_id and k.id = p_api_key_id
      and exists (select 1 from api_key_tokens t where t.organization_id = p_organization_id
        and t.api_key_id = p_api_key_id and t.expires_at > p_now);
  delete from api_key_tokens where organization_id = p_organization_id and api_key_id = p_api_key_id
    and expires_at is not null;
  return 'done';
end;`,
)

/**
 * Also disables the endpoints that the key registered, and erases stored responses with its tokens. Without
 * p_caller_id: for the operator, who may revoke the last key that manages keys.
 */
export const revokeFunction: SchemaFunction = schemaFunction(
  'revoke_api_key',
  { arguments: `${keyArguments}, ${callerArguments}`, returns: 'text' },
  `declare
  v_webhook_ids uuid[];
  v_ends_at timestamptz;
begin
  ${lockClock}
  if p_caller_id is not null then
    ${checkCaller}
  end if;
  ${checkVersion}
  if p_caller_id is not null and ${isManager} then
    ${keepManager}
  end if;
  ${disableRegistered}
  update idempotency_keys set sealed = null where organization_id = p_organization_id and subject_id = p_api_key_id;
  ${noteRevoked}
  delete from api_keys where organization_id = p_organization_id and id = p_api_key_id;
  return 'done';
end;`,
)

export const keyFunctions: readonly SchemaFunction[] = [
  createFunction,
  updateFunction,
  rotateFunction,
  dropPreviousFunction,
  revokeFunction,
]
