/**
 * The directory of several databases: the shard of each organization, and in it the hashes of their tokens (decision
 * 65). It is in the first database, next to that one's organizations, whose own tables of organizations and tokens are
 * part of it: an organization without a row in the directory is in the first database.
 *
 * An organization or a token is written to the directory first, and then to its shard. A row in the directory alone, as
 * the process died in between, is harmless and swept. A shard that no longer serves an organization refuses it,
 * whatever the directory says.
 */
import type { Pool } from 'pg'
import { rolledBack } from '../db/failure.ts'
import { arrayParameter, hiddenArray, type PreparedStatement, queryText } from '../db/text-query.ts'
import { nilUuid } from '../kernel/ids.ts'
import { coalesce } from '../kernel/shared-work.ts'

/** The channel of the directory's database for ids of organizations whose shard has changed. */
export const directoryChannel = 'deskwire_directory'

/** The directory's tables: not part of an organization, though they have its id. */
export const directoryTables = ['directory_organizations', 'directory_tokens']

/**
 * SQL: the first database is the shard of its organization `o`. True until it has arrived; false for a copy that a move
 * left behind.
 */
const isServedHere = `(o.away is distinct from 'moved' or exists (select 1 from organization_moves m
  where m.organization_id = o.organization_id and m.state = 'left'))`

export interface Placement {
  readonly database: string
  /** How often it has moved. Of two databases that claim it, the greater number is right. */
  readonly moves: number
}

export interface Owner extends Placement {
  readonly organizationId: string
}

const statement: PreparedStatement = {
  name: 'find_token_owners',
  text: `select encode(t.token_hash, 'hex'), t.organization_id, coalesce(h.database_name, $2), coalesce(h.moves, 0)
           from (${[
             'select d.token_hash, d.organization_id from directory_tokens d where d.token_hash',
             'select k.token_hash, k.organization_id from api_key_tokens k where k.token_hash',
             'select c.token_hash, c.organization_id from console_links c where c.token_hash',
           ]
             .map((select) => `${select} = any(${hiddenArray('$1', 'bytea')})`)
             .join(' union ')}) t
           left join directory_organizations h on h.organization_id = t.organization_id
           where h.organization_id is not null
             or exists (select 1 from organizations o where o.organization_id = t.organization_id and ${isServedHere})`,
}

export type Directory = ReturnType<typeof createDirectory>

/** The directory in this database, the first, with this name. */
export function createDirectory(pool: Pool, name: string) {
  const find = coalesce(async (hashes: readonly string[]): Promise<(Owner | null)[]> => {
    const bytes = [...new Set(hashes)].map((hash) => `\\x${hash}`)
    const rows = await queryText(pool, statement, [arrayParameter(bytes), name])
    const found = new Map(
      rows.map(([hash, organizationId, database, moves]) => [
        hash,
        { organizationId: String(organizationId), database: String(database), moves: Number(moves) },
      ]),
    )
    return hashes.map((hash) => found.get(hash) ?? null)
  })

  return {
    /** The owner of the token with this hash (as hex); null for an unknown one. Concurrent look-ups share a query. */
    ownerOf: find,

    /** The database of the organization; null when there is no such organization. */
    async databaseOf(organizationId: string): Promise<Placement | null> {
      const { rows } = await pool.query<Placement>(
        `select coalesce(h.database_name, $2) as database, coalesce(h.moves, o.moves) as moves
           from (select $1::uuid as organization_id) a
           left join directory_organizations h on h.organization_id = a.organization_id
           left join organizations o on o.organization_id = a.organization_id and ${isServedHere}
           where h.organization_id is not null or o.organization_id is not null`,
        [organizationId, name],
      )
      return rows[0] ?? null
    },

    /** The organization is about to be created in this database. */
    async place(organizationId: string, database: string): Promise<void> {
      await pool.query(
        'insert into directory_organizations (organization_id, database_name) values ($1, $2)',
        [organizationId, database],
      )
    },

    /** Tokens with these hashes are about to be created, of an organization that is not in the first database. */
    async note(organizationId: string, tokenHashes: readonly Buffer[]): Promise<void> {
      await pool.query(
        `insert into directory_tokens (token_hash, organization_id) select t.hash, $1 from unnest($2::bytea[]) as t(hash)
           on conflict (token_hash) do nothing`,
        [organizationId, tokenHashes],
      )
    },

    /** A token is about to replace a known one of the same organization. False when that one is unknown. */
    async noteBeside(knownHash: Buffer, tokenHash: Buffer): Promise<boolean> {
      const { rowCount } = await pool.query(
        `insert into directory_tokens (token_hash, organization_id)
           select $2, d.organization_id from directory_tokens d where d.token_hash = $1`,
        [knownHash, tokenHash],
      )
      return rowCount === 1
    },

    /** Tokens with these hashes were noted, and are not valid. */
    async forgetTokens(tokenHashes: readonly Buffer[]): Promise<void> {
      await pool.query('delete from directory_tokens t where t.token_hash = any($1)', [tokenHashes])
    },

    /**
     * The organization is in `to` from now on, and every process is notified. False, without an effect, unless it was
     * in `from` and has moved one time less than `moves`. Call it after all hashes of its tokens are noted.
     */
    async cutOver(
      organizationId: string,
      { from, to, moves }: { from: string; to: string; moves: number },
    ): Promise<boolean> {
      // An organization without a row is in the first database, and has not moved.
      const { rows } = await pool.query(
        `with moved as (
           insert into directory_organizations as h (organization_id, database_name, moves)
             select $1, $3, $4 where $5 or exists (select 1 from directory_organizations o where o.organization_id = $1)
             on conflict (organization_id) do update
               set database_name = excluded.database_name, moves = excluded.moves, placed_at = now()
               where h.database_name = $2 and h.moves = $4 - 1
             returning h.organization_id)
         select pg_notify('${directoryChannel}', t.organization_id::text) from moved t`,
        [organizationId, from, to, moves, from === name && moves === 1],
      )
      return rows.length === 1
    },

    /** Erases the response that a repetition of the organization's creation gets, with the token of its first key. */
    async forgetCreation(organizationId: string): Promise<void> {
      await pool.query(
        'update idempotency_keys set sealed = null where organization_id = $1 and subject_id = $2',
        [nilUuid, organizationId],
      )
    },

    async forget(organizationId: string): Promise<void> {
      await pool.query('delete from directory_tokens where organization_id = $1', [organizationId])
      await pool.query('delete from directory_organizations where organization_id = $1', [organizationId])
    },
  }
}

/**
 * Notes a token before `make` creates it, and forgets it unless `done` or unknown. First check what can be refused
 * without writing.
 */
export async function announced<A extends string>(
  directory: Pick<Directory, 'note' | 'forgetTokens'> | null,
  { organizationId, hash }: { readonly organizationId: string; readonly hash: Buffer },
  make: () => Promise<A>,
): Promise<A> {
  if (directory === null) return make()
  await directory.note(organizationId, [hash])
  const forget = () => directory.forgetTokens([hash])
  const made = await make().catch(async (error: unknown) => {
    // With an unknown outcome, it may have been created.
    if (rolledBack(error)) await forget()
    throw error
  })
  if (made !== 'done') await forget()
  return made
}
