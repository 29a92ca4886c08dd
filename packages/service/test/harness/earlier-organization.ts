/** An organization with its first key, made as releases did before organizations had epochs: for databases that have an earlier schema. */
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { hashToken, newToken } from '../../src/auth/token.ts'

export async function createEarlierOrganization(
  pool: Pick<Pool, 'query'>,
  name: string,
): Promise<{ readonly organizationId: string; readonly token: string }> {
  const organizationId = randomUUID()
  const token = newToken()
  await pool.query(
    `with organization as (
       insert into organizations (organization_id, name, created_at, updated_at) values ($1, $2, now(), now())),
     clock as (insert into organization_clocks (organization_id, last_stamp) values ($1, now())),
     key as (
       insert into api_keys (organization_id, id, name, scopes, created_at, updated_at)
         values ($1, $1, 'First key', '{*}', now(), now()))
     insert into api_key_tokens (token_hash, organization_id, api_key_id, last4, created_at)
       values ($3, $1, $1, $4, now())`,
    [organizationId, name, Buffer.from(hashToken(token), 'hex'), token.slice(-4)],
  )
  return { organizationId, token }
}
