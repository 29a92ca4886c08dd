/**
 * Reconciles the directory with a shard (decision 65). Of two shards that serve one organization, the one with more
 * moves is right.
 */
import type { Pool } from 'pg'
import type { Tx } from '../db/pool.ts'
import { transaction } from '../db/pool.ts'
import { nilUuid } from '../kernel/ids.ts'
import { directoryChannel } from './directory.ts'

export interface NamedPool {
  readonly name: string
  readonly pool: Pool
}

export interface Settled {
  /** Organizations that the directory did not have, or had elsewhere. */
  readonly organizations: number
  /** Organizations that the shard served though they have moved on: it no longer serves them. */
  readonly moved: number
  /** Hashes of tokens that the directory did not have. */
  readonly tokens: number
  /** Tokens that an organization of another shard has too; they stay with that one. */
  readonly taken: number
}

/** Rows that are compared at once. */
const piece = 5_000

interface Served {
  readonly organization_id: string
  readonly moves: number
}

/** Writes all that a shard has to the directory in the first database. It can be interrupted and repeated. */
export async function settleDirectory(directory: NamedPool, shard: NamedPool): Promise<Settled> {
  let organizations = 0
  let moved = 0
  let tokens = 0
  let taken = 0
  let after = nilUuid
  for (;;) {
    const { rows } = await shard.pool.query<Served>(
      `select o.organization_id, o.moves from organizations o
         where o.organization_id > $1 and o.away is null order by o.organization_id limit $2`,
      [after, piece],
    )
    const last = rows.at(-1)
    if (last === undefined) return { organizations, moved, tokens, taken }
    after = last.organization_id
    // Their tokens first, so that the tokens of a known organization are known.
    const noted = await noteAll(directory.pool, shard.pool, rows)
    tokens += noted.tokens
    taken += noted.taken
    const settled = await placeAll(directory, shard, rows)
    organizations += settled.placed
    moved += settled.elsewhere.length
    await leave(shard.pool, settled.elsewhere)
    await leave(directory.pool, settled.left)
  }
}

async function noteAll(
  directory: Pool,
  shard: Pool,
  served: readonly Served[],
): Promise<Pick<Settled, 'tokens' | 'taken'>> {
  const ids = served.map((row) => row.organization_id)
  const { rows } = await shard.query<{ token_hash: Buffer; organization_id: string }>(
    `select k.token_hash, k.organization_id from api_key_tokens k where k.organization_id = any($1)
     union all
     select c.token_hash, c.organization_id from console_links c where c.organization_id = any($1)`,
    [ids],
  )
  let tokens = 0
  let taken = 0
  for (let n = 0; n < rows.length; n += piece) {
    const some = rows.slice(n, n + piece)
    const { rows: counted } = await directory.query<{ tokens: number; taken: number }>(noteStatement, [
      some.map((row) => row.token_hash),
      some.map((row) => row.organization_id),
    ])
    tokens += counted[0]?.tokens ?? 0
    taken += counted[0]?.taken ?? 0
  }
  return { tokens, taken }
}

/** A token of two organizations stays with the one that the directory has. */
const noteStatement = `
  with offered as (
    select t.hash, t.organization_id from unnest($1::bytea[], $2::uuid[]) as t(hash, organization_id)
  ), taken as (
    select t.hash from offered t where ${['directory_tokens', 'api_key_tokens', 'console_links']
      .map(
        (table) =>
          `exists (select 1 from ${table} k where k.token_hash = t.hash and k.organization_id <> t.organization_id)`,
      )
      .join(' or ')}
  ), noted as (
    insert into directory_tokens (token_hash, organization_id)
      select t.hash, t.organization_id from offered t where not exists (select 1 from taken k where k.hash = t.hash)
      on conflict (token_hash) do nothing
      returning 1
  )
  select (select count(*) from noted)::int as tokens, (select count(*) from taken)::int as taken`

interface Placed {
  readonly placed: number
  readonly elsewhere: readonly string[]
  /** The directory's own database says that it serves them, and does not. */
  readonly left: readonly string[]
}

function placeAll(directory: NamedPool, shard: NamedPool, served: readonly Served[]): Promise<Placed> {
  return transaction(directory.pool, async (tx) => {
    const known = await knownTo(tx, directory.name, served)
    const wrong = served.filter(({ organization_id }) => known.get(organization_id)?.database !== shard.name)
    const isLater = ({ organization_id, moves }: Served) => moves > (known.get(organization_id)?.moves ?? -1)
    const placed = wrong.filter(isLater)
    await tx.query(
      `with placed as (
         insert into directory_organizations as d (organization_id, database_name, moves)
           select p.organization_id, $1, p.moves from unnest($2::uuid[], $3::int[]) as p(organization_id, moves)
           on conflict (organization_id) do update
             set database_name = excluded.database_name, moves = excluded.moves, placed_at = now()
           returning d.organization_id)
       select pg_notify('${directoryChannel}', p.organization_id::text) from placed p`,
      [shard.name, placed.map((row) => row.organization_id), placed.map((row) => row.moves)],
    )
    const left = placed.filter((row) => known.get(row.organization_id)?.database === directory.name)
    return {
      placed: placed.length,
      elsewhere: wrong.filter((row) => !isLater(row)).map((row) => row.organization_id),
      left: left.map((row) => row.organization_id),
    }
  })
}

/** The database of each in the directory, with those that the first database serves. */
async function knownTo(
  tx: Tx,
  name: string,
  served: readonly Served[],
): Promise<ReadonlyMap<string, { readonly database: string; readonly moves: number }>> {
  const { rows } = await tx.query<{ organization_id: string; database: string; moves: number }>(
    `select a.organization_id, coalesce(d.database_name, $1) as database, coalesce(d.moves, o.moves) as moves
       from unnest($2::uuid[]) as a(organization_id)
       left join directory_organizations d on d.organization_id = a.organization_id
       left join organizations o on o.organization_id = a.organization_id and o.away is null
       where d.organization_id is not null or o.organization_id is not null`,
    [name, served.map((row) => row.organization_id)],
  )
  return new Map(rows.map(({ organization_id, ...known }) => [organization_id, known]))
}

async function leave(pool: Pool, organizationIds: readonly string[]): Promise<void> {
  if (organizationIds.length === 0) return
  await transaction(pool, async (tx) => {
    // The clocks first, as in every commit.
    for (const table of ['organization_clocks', 'organizations'])
      await tx.query(`update ${table} set away = 'moved' where organization_id = any($1)`, [organizationIds])
  })
}

/** Before this age, the process that wrote to the directory may still be at work. */
const sweptAfter = "interval '1 day'"
/** Pieces of one run; the next run continues. */
const piecesARun = 20

/**
 * Removes what only the directory has of this shard: revoked tokens, expired links, what was never created. A part in
 * each run.
 */
export function createDirectorySweep(directory: Pool, shard: NamedPool): () => Promise<void> {
  let after: Buffer = Buffer.alloc(0)
  return async () => {
    for (let n = 0; n < piecesARun; n++) {
      const { rows } = await directory.query<{ token_hash: Buffer }>(
        `select t.token_hash from directory_tokens t
           join directory_organizations d on d.organization_id = t.organization_id
           where t.token_hash > $1 and d.database_name = $2 and t.noted_at < now() - ${sweptAfter}
           order by t.token_hash limit $3`,
        [after, shard.name, piece],
      )
      await sweep(
        directory,
        shard,
        rows.map((row) => row.token_hash),
      )
      after = rows.length < piece ? Buffer.alloc(0) : (rows.at(-1)?.token_hash ?? Buffer.alloc(0))
      if (rows.length < piece) break
    }
    await sweepOrganizations(directory, shard)
  }
}

async function sweep(directory: Pool, shard: NamedPool, hashes: readonly Buffer[]): Promise<void> {
  if (hashes.length === 0) return
  const { rows } = await shard.pool.query<{ token_hash: Buffer }>(
    `select a.token_hash from unnest($1::bytea[]) as a(token_hash)
       where not exists (select 1 from api_key_tokens k where k.token_hash = a.token_hash)
         and not exists (select 1 from console_links c where c.token_hash = a.token_hash)`,
    [hashes],
  )
  await directory.query('delete from directory_tokens t where t.token_hash = any($1)', [
    rows.map((row) => row.token_hash),
  ])
}

/** Removes organizations that were noted and never created, as their process died. */
async function sweepOrganizations(directory: Pool, shard: NamedPool): Promise<void> {
  const { rows: offered } = await directory.query<{ organization_id: string }>(
    `select d.organization_id from directory_organizations d
       where d.database_name = $1 and d.moves = 0 and d.placed_at < now() - ${sweptAfter}
         and not exists (select 1 from directory_tokens t where t.organization_id = d.organization_id)
       limit $2`,
    [shard.name, piece],
  )
  const ids = offered.map((row) => row.organization_id)
  const { rows: made } = await shard.pool.query<{ organization_id: string }>(
    'select o.organization_id from organizations o where o.organization_id = any($1)',
    [ids],
  )
  const there = new Set(made.map((row) => row.organization_id))
  await directory.query('delete from directory_organizations d where d.organization_id = any($1)', [
    ids.filter((id) => !there.has(id)),
  ])
}
