/** Single changes right after an import: plans of the service's connections were made when the tables were empty, and nobody has analyzed them since. */
import { install } from '../harness/installation.ts'
import { drive } from '../harness/load.ts'
import { headersOf, patches } from '../harness/patches.ts'
import { type Result, type Run, runOf, summarize } from '../harness/report.ts'
import type { Scale } from '../run.ts'

const batches = 110
const batch = 1_000
const clients = 16
const seconds = 3

export async function* grown({ runs }: Scale): AsyncGenerator<Result> {
  const atOnce: Run[] = []
  const after: Run[] = []
  for (let run = 0; run < runs; run++) {
    await using installation = await install()
    const { url } = installation.service
    const organization = await installation.newOrganization()
    const headers = headersOf(organization)
    const ids: string[] = []
    for (let n = 0; n < batches; n++) {
      const items = Array.from({ length: batch }, (_, i) => customer(n * batch + i))
      const body = JSON.stringify({ items })
      const response = await fetch(`${url}/v1/customers/batch`, { method: 'POST', headers, body })
      if (!response.ok) throw new Error(`a batch was answered ${response.status}`)
      const { data } = (await response.json()) as { data: { id: string }[] }
      ids.push(...data.map(({ id }) => id))
    }
    const request = patches([organization], new Map([[organization.organizationId, ids]]), clients)
    const load = { url, clients, seconds, status: 200, request }
    atOnce.push(runOf(await drive(load)))
    after.push(runOf(await drive(load)))
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
