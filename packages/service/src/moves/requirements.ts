/** The conditions for moving an organization. */
import type { Pool } from 'pg'
import { appliedMigrations } from '../backup/tables.ts'
import { readNamedKeys } from '../delivery/endpoint/vault.ts'

/** The move cannot continue; the message says why and what to do. */
export class MoveError extends Error {}

export interface Names {
  readonly from: string
  readonly to: string
}

/** @throws MoveError with the condition that is not met. */
export async function requireMovable(
  source: Pool,
  target: Pool,
  organizationId: string,
  { from, to }: Names,
): Promise<void> {
  const statusOf = async (pool: Pool) => {
    const { rows } = await pool.query<{ suspended: boolean; deleting: boolean; away: string | null }>(
      `select o.suspended_at is not null as suspended, o.deletion_began_at is not null as deleting, o.away
         from organizations o where o.organization_id = $1`,
      [organizationId],
    )
    return rows[0] ?? null
  }
  const here = await statusOf(source)
  if (here === null)
    throw new MoveError(`the directory has organization ${organizationId} in ${from}, which does not have it`)
  if (here.deleting)
    throw new MoveError(`organization ${organizationId} is being deleted: finish that instead`)
  if (here.suspended)
    throw new MoveError(
      `organization ${organizationId} is suspended: resume it, move it, and suspend it again`,
    )
  if (here.away !== null)
    throw new MoveError(
      `${from} does not serve organization ${organizationId}, though the directory says so (${here.away}): see the guide on several databases`,
    )
  if ((await statusOf(target)) !== null)
    throw new MoveError(
      `${to} holds what an earlier move of organization ${organizationId} has left behind: remove it with deskwire organizations drop-source ${organizationId} --from ${to}`,
    )
  await requireSameSchema(source, target, { from, to })
  await requireSameKey(source, target, { from, to })
}

async function requireSameSchema(source: Pool, target: Pool, { from, to }: Names): Promise<void> {
  const [here, there] = [(await appliedMigrations(source)) ?? [], (await appliedMigrations(target)) ?? []]
  for (const [name, missing] of [
    [to, here.find((id) => !there.includes(id))],
    [from, there.find((id) => !here.includes(id))],
  ]) {
    if (missing !== undefined)
      throw new MoveError(
        `${name} has an older schema, without the migration ${missing}: run deskwire migrate on it`,
      )
  }
}

/** Both databases must have one encryption key. @throws MoveError */
export async function requireSameKey(
  source: Pick<Pool, 'query'>,
  target: Pick<Pool, 'query'>,
  { from, to }: Names,
): Promise<void> {
  const [ours, theirs] = await Promise.all([source, target].map(readNamedKeys))
  const named = (keys: typeof ours) => keys?.current ?? Buffer.alloc(0)
  if (ours?.previous != null || theirs?.previous != null)
    throw new MoveError(
      'the encryption key is being replaced: finish deskwire encryption-key rotate in both databases first',
    )
  if (!named(ours).equals(named(theirs)))
    throw new MoveError(
      `${from} and ${to} do not name the same encryption key, so what is sealed here could not be opened there: give the services of both the same key; one without organizations takes another with deskwire encryption-key rotate`,
    )
}
