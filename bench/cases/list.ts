/** Browsing a large organization: the first page with its total, with and without filters. */
import { drive } from '../harness/load.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'

const maxRequests = 500
/** All matches are counted and sorted. With all rows, a busy machine would reach the search's time limit. */
const broad = 'filter q, one row in nine'

export async function* list({ runs, full, shelf }: Scale): AsyncGenerator<Result> {
  const { url } = (await shelf.installation()).service
  const seeded = await shelf.organization(full ? 10_000_000 : 1_000_000)
  const headers = { authorization: `Bearer ${seeded.token}` }
  const queries = {
    'no filter': '',
    'filter email': '&email=ada.777%40example.com',
    'filter q, one match': '&q=777777',
    [broad]: '&q=ada+1',
    'filter createdAfter, the last 1,000': `&createdAfter=${new Date(seeded.began + seeded.live - 1000).toISOString()}`,
  }
  for (const [name, query] of Object.entries(queries)) {
    const requests = name === broad ? 10 : maxRequests
    const path = `/v1/customers?limit=20${query}`
    const load = {
      url,
      clients: 1,
      seconds: 10,
      status: 200,
      request: () => ({ method: 'GET', path, headers }) as const,
    }
    await drive({ ...load, requests: requests / 10 })
    const results: Run[] = []
    for (let run = 0; run < runs; run++) {
      const { p50, p99 } = await drive({ ...load, requests })
      results.push({ value: p50, p50, p99 })
    }
    const conditions = { clients: 1, rows: seeded.live, limit: 20, requests }
    yield summarize(`list: with total, ${name}`, 'ms', conditions, results)
  }
}
