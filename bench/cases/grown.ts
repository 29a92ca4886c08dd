/** Single changes right after an import: connections have plans from small tables, and no analyze has run since. */
import { install } from '../harness/installation.ts'
import { drive } from '../harness/load.ts'
import { headersOf, patches } from '../harness/patches.ts'
import { type Result, type Run, runOf, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'

const batches = 110
const batch = 1_000
const few = 20
const clients = 16
const seconds = 3

/** The time of an analyze decides the result; on most servers it comes a minute later. */
const analyzeNothing = `do $$ declare t regclass; begin
  for t in select c.oid from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace loop
    execute format('alter table %s set (autovacuum_enabled = off)', t);
  end loop;
end $$`

export async function* grown({ runs }: Scale): AsyncGenerator<Result> {
  const atOnce: Run[] = []
  const after: Run[] = []
  for (let run = 0; run < runs; run++) {
    await using installation = await install()
    const { url } = installation.service
    const organization = await installation.newOrganization()
    const headers = headersOf(organization)
    await installation.pool.query(analyzeNothing)
    const ids: string[] = []
    const load = () => {
      const request = patches([organization], new Map([[organization.organizationId, ids]]), clients)
      return drive({ url, clients, seconds, status: 200, request })
    }
    // Connections plan their statements for the few rows of the first batch.
    for (const [n, size] of [few, ...Array<number>(batches).fill(batch)].entries()) {
      if (n === 1) await load()
      const items = Array.from({ length: size }, (_, i) => customer(n * batch + i))
      const body = JSON.stringify({ items })
      const response = await fetch(`${url}/v1/customers/batch`, { method: 'POST', headers, body })
      if (!response.ok) throw new Error(`a batch was answered ${response.status}`)
      const { data } = (await response.json()) as { data: { id: string }[] }
      ids.push(...data.map(({ id }) => id))
    }
    atOnce.push(runOf(await load()))
    after.push(runOf(await load()))
  }
  const conditions = { rows: batches * batch, 'batches of': batch, clients, seconds }
  const name = `grown: PATCH after ${(batches * batch) / 1_000}k rows in batches, ${clients} clients`
  yield summarize(`${name}, at once`, 'changes/s', conditions, atOnce)
  yield summarize(`${name}, ${seconds} s later`, 'changes/s', conditions, after)
}

function customer(n: number) {
  return {
    name: `Customer ${n}`,
    email: `customer-${n}@example.com`,
    externalId: `crm-${n}`,
    tags: ['import'],
  }
}
