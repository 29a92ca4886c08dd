/**
 * Where organizations live, when there are several databases: an organization's home is the one database that has it and
 * everything of it. The first of the databases holds the directory beside organizations of its own: which database each of the
 * others lives in, and which organization the hash of each of their tokens is of. Nothing else of them is there (decision 65).
 *
 * What has no row in the directory lives in the directory's own database, whose tables of organizations and tokens are part of
 * the directory: with one database these are all of it, and nothing is written twice.
 *
 * Whoever makes an organization or a token writes it here first, and there then: what is here alone, as there was no "then", harms
 * nobody, and is swept. A home that does not serve the organization any more says so itself, whatever is believed here.
 */
import type { Pool } from 'pg'
import { rolledBack } from '../db/failure.ts'
import type { Queryable } from '../db/pool.ts'
import { arrayParameter, hiddenArray, type PreparedStatement, queryText } from '../db/text-query.ts'
import { coalesce } from '../kernel/coalesce.ts'

/** The channel of the directory's database on which the id of an organization is told whose home has changed. */
export const directoryChannel = 'deskwire_directory'

/** The tables of the directory: nobody's of an organization, though they have its id. */
export const directoryTables = ['directory_organizations', 'directory_tokens']

/**
 * SQL: the first database is the home of its organization `o`. A copy that a move has left behind there is none; one that has left and
 * has not arrived yet has no other.
 */
const livesHere = `(o.away is distinct from 'moved' or exists (select 1 from organization_moves m
  where m.organization_id = o.organization_id and m.state = 'left'))`

/** Where an organization lives. */
interface Residence {
  /** The name of the database. */
  readonly database: string
  /** How often it has moved, which is the greater of two databases' word. */
  readonly moves: number
}

/** Whose a token is, and where that organization lives. */
export interface Owner extends Residence {
  readonly organizationId: string
}

export interface Directory {
  /** Whose the token with this hash (as hex) is, as far as is known here; null where nothing is. Those asked for at the same time go together. */
  ownerOf(tokenHash: string): Promise<Owner | null>
  /** Where the organization lives; null when there is none. */
  homeOf(organizationId: string): Promise<Residence | null>
  /** An organization is about to be made in this database. */
  place(organizationId: string, database: string): Promise<void>
  /** Tokens with these hashes are about to be made of an organization that does not live in the directory's database. */
  note(organizationId: string, tokenHashes: readonly Buffer[]): Promise<void>
  /** A token is about to replace one of which another is known: it is the same organization's. False when that one is not known. */
  noteBeside(knownHash: Buffer, tokenHash: Buffer): Promise<boolean>
  /** Tokens with these hashes were noted, and are good for nothing. */
  forgetTokens(tokenHashes: readonly Buffer[]): Promise<void>
  /**
   * From now on the organization lives in `to`, and every process is told; false, and nothing is changed, unless it has lived in
   * `from` so far and moved one time less than `moves`. All hashes of its tokens are to be noted before.
   */
  turn(organizationId: string, move: { from: string; to: string; moves: number }): Promise<boolean>
  /** The organization is gone, for good. */
  forget(organizationId: string): Promise<void>
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
             or exists (select 1 from organizations o where o.organization_id = t.organization_id and ${livesHere})`,
}

/** The directory in this database, which is the first and has this name. */
export function createDirectory(pool: Pool, name: string): Directory {
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
    ownerOf: find,

    async homeOf(organizationId) {
      const { rows } = await pool.query<Residence>(
        `select coalesce(h.database_name, $2) as database, coalesce(h.moves, o.moves) as moves
           from (select $1::uuid as organization_id) a
           left join directory_organizations h on h.organization_id = a.organization_id
           left join organizations o on o.organization_id = a.organization_id and ${livesHere}
           where h.organization_id is not null or o.organization_id is not null`,
        [organizationId, name],
      )
      return rows[0] ?? null
    },

    async place(organizationId, database) {
      await pool.query(
        'insert into directory_organizations (organization_id, database_name) values ($1, $2)',
        [organizationId, database],
      )
    },

    note: (organizationId, tokenHashes) => noteTokens(pool, organizationId, tokenHashes),

    async noteBeside(knownHash, tokenHash) {
      const { rowCount } = await pool.query(
        `insert into directory_tokens (token_hash, organization_id)
           select $2, d.organization_id from directory_tokens d where d.token_hash = $1`,
        [knownHash, tokenHash],
      )
      return rowCount === 1
    },

    async forgetTokens(tokenHashes) {
      await pool.query('delete from directory_tokens t where t.token_hash = any($1)', [tokenHashes])
    },

    async turn(organizationId, { from, to, moves }) {
      // What has no row lives in the directory's own database, and has not moved.
      const { rows } = await pool.query(
        `with turned as (
           insert into directory_organizations as h (organization_id, database_name, moves)
             select $1, $3, $4 where $5 or exists (select 1 from directory_organizations o where o.organization_id = $1)
             on conflict (organization_id) do update
               set database_name = excluded.database_name, moves = excluded.moves, placed_at = now()
               where h.database_name = $2 and h.moves = $4 - 1
             returning h.organization_id)
         select pg_notify('${directoryChannel}', t.organization_id::text) from turned t`,
        [organizationId, from, to, moves, from === name && moves === 1],
      )
      return rows.length === 1
    },

    async forget(organizationId) {
      await pool.query('delete from directory_tokens where organization_id = $1', [organizationId])
      await pool.query('delete from directory_organizations where organization_id = $1', [organizationId])
    },
  }
}

/**
 * Has a token noted before `make` makes it, and forgotten again unless `make` says that it is `done` or may have done it. Where a refusal
 * can be foreseen it is to come first: nobody who is refused again and again has the directory write each time.
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
    // Where nobody can say what became of it, it may have been made.
    if (rolledBack(error)) await forget()
    throw error
  })
  if (made !== 'done') await forget()
  return made
}

async function noteTokens(
  db: Queryable,
  organizationId: string,
  tokenHashes: readonly Buffer[],
): Promise<void> {
  await db.query(
    `insert into directory_tokens (token_hash, organization_id) select t.hash, $1 from unnest($2::bytea[]) as t(hash)
       on conflict (token_hash) do nothing`,
    [organizationId, tokenHashes],
  )
}
