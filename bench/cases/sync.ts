/** Pages for many clients, compared with their bare statement, and whole first syncs. */
import { drive } from '../harness/load.ts'
import { type Result, type Run, runOf, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { assertExact } from '../harness/seed.ts'
import { pageLength, pageRequests, readBare, syncFromEpoch } from '../harness/stream.ts'

const seconds = 3
const clients = 16
/** As many as the service's pool has. */
const connections = 12

export async function* sync({ runs, shelf }: Scale): AsyncGenerator<Result> {
  const installation = await shelf.installation()
  const { url } = installation.service
  await assertExact(installation, await shelf.organization(10_000))

  const middle = await shelf.organization(100_000)
  const load = { url, clients, status: 200, request: pageRequests(middle) }
  // Until the code of a page is compiled.
  await drive({ ...load, seconds: 10 })
  const pages: Run[] = []
  for (let run = 0; run < runs; run++) {
    const baseline = await readBare(installation, middle, connections, seconds)
    pages.push(runOf(await drive({ ...load, seconds }), baseline))
  }
  const bare = `the page's statement, ${connections} connections`
  const conditions = { clients, rows: middle.live, limit: pageLength, seconds, bare }
  yield summarize('sync: pages of 100, 16 clients', 'pages/s', conditions, pages)

  const large = await shelf.organization(1_000_000)
  const whole: Run[] = []
  for (let run = 0; run < runs; run++) whole.push({ value: await syncFromEpoch(url, large) })
  const first = { clients: 1, rows: large.live, limit: pageLength }
  yield summarize('sync: from epoch, one client, 1M rows', 's', first, whole)

  const without = await shelf.organization(10_000)
  const among = await shelf.organization(10_000, 1_000_000)
  const removals: Run[] = []
  for (let run = 0; run < runs; run++) {
    const baseline = await syncFromEpoch(url, without)
    removals.push({ value: await syncFromEpoch(url, among), baseline })
  }
  const old = { clients: 1, rows: among.live, removed: among.removed, bare: 'the same without removals' }
  yield summarize('sync: from epoch among 1M old removals', 's', old, removals)
}
