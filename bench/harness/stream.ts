/** Pages of a seeded organization's stream: over HTTP, and by the page's own statement alone. */
import { Client } from 'pg'
import { Client as HttpClient } from 'undici'
import { customer } from '../../packages/service/src/desk/customer/index.ts'
import { pageStatements, pageValues } from '../../packages/service/src/journal/feed.ts'
import { encodeCursor, highestId } from '../../packages/service/src/kernel/cursor.ts'
import { formatTimestamp } from '../../packages/service/src/kernel/timestamps.ts'
import type { Installation, Organization } from './installation.ts'
import type { PlainRequest } from './plain-client.ts'
import type { Seeded } from './seed.ts'

/** The most that a client can request. */
export const pageLength = 100

/** Cursors anywhere in the stream but on its last page. */
export function pageRequests(seeded: Seeded): () => PlainRequest {
  const { organizationId, token } = seeded
  const headers = { authorization: `Bearer ${token}` }
  const paths = Array.from({ length: 2000 }, () => {
    const position = { at: anywhere(seeded), id: highestId }
    const cursor = encodeCursor({
      resource: 'customer',
      organizationId,
      epoch: 1,
      position,
      removalsAfter: null,
    })
    return `/v1/customers?limit=${pageLength}&cursor=${cursor}`
  })
  let n = 0
  return () => ({ method: 'GET', path: paths[n++ % paths.length] as string, headers })
}

/** A time with at least a page after it: seeded rows are a millisecond apart. */
function anywhere({ began, live, removed }: Seeded): number {
  return began + Math.floor(Math.random() * (live + removed - pageLength - 1))
}

/** Pages a second of the page's own statement in a loop on each connection. */
export async function readBare(
  installation: Installation,
  seeded: Seeded,
  connections: number,
  seconds: number,
): Promise<number> {
  const statement = pageStatements(customer.table, pageLength).whole
  const types = { getTypeParser: () => (text: string) => text }
  const positions = Array.from({ length: 2000 }, () => formatTimestamp(anywhere(seeded)))
  const clients = Array.from({ length: connections }, () => new Client(installation.connection))
  await Promise.all(clients.map((client) => client.connect()))
  try {
    let pages = 0
    const since = performance.now()
    await Promise.all(
      clients.map(async (client) => {
        while (performance.now() - since < seconds * 1000) {
          const at = positions[pages++ % positions.length] as string
          const values = pageValues({
            organizationId: seeded.organizationId,
            after: [at, highestId],
            limit: pageLength,
          })
          const { rows } = await client.query<{ records: string }>({ ...statement, values, types })
          if (rows[0]?.records === undefined) throw new Error('a bare page came without records')
        }
      }),
    )
    return pages / ((performance.now() - since) / 1000)
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}

interface PageBody {
  readonly data: readonly unknown[]
  readonly pagination: { readonly nextCursor: string; readonly hasMore: boolean; readonly total: number }
}

/** A whole first sync with every page parsed, in seconds. */
export async function syncFromEpoch(url: string, { token, live }: Organization & Seeded): Promise<number> {
  const client = new HttpClient(url)
  const headers = { authorization: `Bearer ${token}` }
  const since = performance.now()
  try {
    let from = 'updatedAfter=1970-01-01T00:00:00Z'
    let rows = 0
    for (;;) {
      const path = `/v1/customers?limit=${pageLength}&${from}`
      const answer = await client.request({ method: 'GET', path, headers })
      if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}`)
      const { data, pagination } = (await answer.body.json()) as PageBody
      rows += data.length
      if (!pagination.hasMore) {
        if (rows !== live) throw new Error(`a first sync of ${live} rows brought ${rows}`)
        return (performance.now() - since) / 1000
      }
      from = `cursor=${pagination.nextCursor}`
    }
  } finally {
    await client.close()
  }
}
