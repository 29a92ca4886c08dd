/** The delivery log of an endpoint with many deliveries: the first page with its total, with and without filters. */
import { installFor } from '../harness/installation.ts'
import { drive } from '../harness/load.ts'
import { seedLog } from '../harness/log-seed.ts'
import { startReceiver } from '../harness/receiver.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'

const requests = 200

const queries = {
  'no filter': '',
  'the 10,000th row on': '&offset=10000',
  'status succeeded': '&status=succeeded',
  'status failed, 1 in 200': '&status=failed',
  'status pending, 1 in 1,000': '&status=pending',
  'eventType, 1 in 9': '&eventType=customer.updated',
  'eventType, 1 in 20,000': '&eventType=ticket.deleted',
  'eventType and status, none': '&eventType=ticket.deleted&status=failed',
}

export async function* log({ runs, full }: Scale): AsyncGenerator<Result> {
  // Without a worker, pending deliveries stay pending.
  await using installation = await installFor(startReceiver, ['--role', 'api'])
  const { webhookId, token, rows } = await seedLog(
    installation,
    installation.receiver.origin,
    full ? 10_000_000 : 1_000_000,
  )
  const { url } = installation.service
  const headers = { authorization: `Bearer ${token}` }
  for (const [name, query] of Object.entries(queries)) {
    const path = `/v1/webhooks/${webhookId}/deliveries?limit=20${query}`
    const load = {
      url,
      clients: 1,
      seconds: 20,
      status: 200,
      request: () => ({ method: 'GET', path, headers }) as const,
    }
    await drive({ ...load, requests: 20 })
    const results: Run[] = []
    for (let run = 0; run < runs; run++) {
      const { p50, p99 } = await drive({ ...load, requests })
      results.push({ value: p50, p50, p99 })
    }
    const conditions = { clients: 1, rows, days: 30, endpoints: 1, limit: 20, requests }
    yield summarize(`log: ${name}`, 'ms', conditions, results)
  }
}
