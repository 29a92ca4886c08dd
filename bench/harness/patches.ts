/** Changes customers one after another. */
import type { Pool } from 'pg'
import { newPatch, type Patch } from './bare-commit.ts'
import type { Organization } from './installation.ts'
import type { PlainRequest } from './plain-client.ts'

/** By organization. */
export async function customerIds(databases: readonly Pool[]): Promise<Map<string, string[]>> {
  const found = await Promise.all(
    databases.map((pool) =>
      pool.query<{ organization_id: string; ids: string[] }>(
        'select c.organization_id, array_agg(c.id::text order by c.id) as ids from customers c group by 1',
      ),
    ),
  )
  return new Map(found.flatMap(({ rows }) => rows.map((row) => [row.organization_id, row.ids] as const)))
}

/** Each client has rows of its own, in all organizations in turn. */
export function patches(
  organizations: readonly Organization[],
  ids: ReadonlyMap<string, readonly string[]>,
  clients: number,
  patch: Patch = newPatch,
): (client: number) => PlainRequest {
  const turns = Array.from({ length: clients }, (_, client) => client)
  return (client) => {
    const turn = turns[client] ?? 0
    turns[client] = turn + clients
    const organization = organizations[turn % organizations.length] as Organization
    const own = ids.get(organization.organizationId) ?? []
    const id = own[Math.floor(turn / organizations.length) % own.length]
    return {
      method: 'PATCH',
      path: `/v1/customers/${id}`,
      headers: headersOf(organization),
      body: JSON.stringify(patch()),
    }
  }
}

export function headersOf({ token }: Organization): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
}
