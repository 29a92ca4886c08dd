/** A page costs the same however long the stream is. */
import { drive } from '../harness/load.ts'
import { type Result, runOf, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { pageLength, pageRequests } from '../harness/stream.ts'

const clients = 2
const requests = 3000

export async function* pages({ runs, full, shelf }: Scale): AsyncGenerator<Result> {
  const { url } = (await shelf.installation()).service
  const sizes = [10_000, 100_000, 1_000_000, ...(full ? [10_000_000] : [])]
  // All sizes exist before any is measured, as they share a table.
  const loads = []
  for (const size of sizes) {
    const seeded = await shelf.organization(size)
    loads.push({ url, clients, seconds: 20, requests, status: 200, request: pageRequests(seeded) })
  }
  for (const load of loads) await drive(load)

  // By turns, so that load on the machine affects all alike.
  const results = loads.map((): { value: number; p50: number; p99: number; baseline: number }[] => [])
  for (let run = 0; run < runs; run++) {
    let smallest = Number.NaN
    for (const [n, load] of loads.entries()) {
      const measured = runOf(await drive(load))
      const p99 = measured.p99 ?? Number.NaN
      if (n === 0) smallest = p99
      results[n]?.push({ value: p99, p50: measured.p50 ?? Number.NaN, p99, baseline: smallest })
    }
  }
  for (const [n, rows] of sizes.entries()) {
    const conditions = { clients, rows, limit: pageLength, requests, bare: `p99 at ${sizes[0]} rows` }
    yield summarize(
      `pages: p99 of a page at ${rows.toExponential(0)} rows`,
      'ms',
      conditions,
      results[n] ?? [],
    )
  }
}
