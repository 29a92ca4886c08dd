/** A replay of many events, and its effect on another organization that delivers meanwhile. */
import { createClient } from '@deskwire/sdk'
import { type DeliveringInstallation, installFor, type Organization } from '../harness/installation.ts'
import { percentiles } from '../harness/load.ts'
import { type BenchReceiver, startReceiver } from '../harness/receiver.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'

const eventsASecond = 20
const secondsAlone = 5
const patience = 120_000

type Installed = DeliveringInstallation<BenchReceiver>

export async function* recover({ runs, full }: Scale): AsyncGenerator<Result> {
  const events = full ? 1_000_000 : 50_000
  const recoveries: Run[] = []
  const latencies: Run[] = []
  for (let run = 0; run < runs; run++) {
    const { recovery, latency } = await recoverBeside(events)
    recoveries.push(recovery)
    latencies.push(latency)
  }
  yield summarize('recover: all made and delivered', 's', { events, endpoints: 1, workers: 1 }, recoveries)
  const conditions = { 'events/s': eventsASecond, events, bare: `p50 before it, ${secondsAlone} s` }
  yield summarize('recover: latency of another organization meanwhile', 'ms', conditions, latencies)
}

async function recoverBeside(events: number): Promise<{ recovery: Run; latency: Run }> {
  await using installation = await installFor(startReceiver, ['--role', 'all'])
  const { receiver, service } = installation
  const missing = await installation.newOrganization()
  const other = await installation.newOrganization()
  const { recoveries, webhooks } = createClient({ baseUrl: `${service.url}/v1`, apiKey: missing.token })
  await missed(installation, missing, events)
  const { id } = await webhooks.create({ url: `${receiver.origin}/missed`, events: ['customer.updated'] })
  const beside = createClient({ baseUrl: `${service.url}/v1`, apiKey: other.token })
  await beside.webhooks.create({ url: `${receiver.origin}/other`, events: ['customer.created'] })
  await latencyUntil(beside, receiver, () => false, 1)
  const alone = await latencyUntil(beside, receiver, () => false, secondsAlone)

  const began = performance.now()
  const { id: recoveryId } = await webhooks.recover(id, {
    since: new Date(Date.now() - 24 * 3_600_000).toISOString(),
    includeBeforeCreation: true,
  })
  let done = false
  let took = 0
  const finished = (async () => {
    while (!done && performance.now() - began < patience) {
      const { status } = await recoveries.get(id, recoveryId)
      const { pagination } = await webhooks.deliveries(id, { status: 'pending', limit: 1 }).page()
      done = status === 'done' && pagination.total === 0
      if (!done) await new Promise((resolve) => setTimeout(resolve, 100))
    }
    took = (performance.now() - began) / 1000
  })()
  const meanwhile = await latencyUntil(beside, receiver, () => done, patience / 1000)
  await finished
  const { created } = await recoveries.get(id, recoveryId)
  if (!done || created !== events) throw new Error(`${created} of ${events} events were recovered`)
  return {
    recovery: { value: took },
    latency: { value: meanwhile.p50, p50: meanwhile.p50, p99: meanwhile.p99, baseline: alone.p50 },
  }
}

/** So many changes of one customer without an endpoint, as the service would have written them. */
async function missed({ pool, service }: Installed, { organizationId, token }: Organization, events: number) {
  const client = createClient({ baseUrl: `${service.url}/v1`, apiKey: token })
  const { id } = await client.customers.create({ name: 'Ada Lovelace' })
  await pool.query(
    `insert into events (organization_id, id, type, created_at, subject_kind, subject_id, body)
       select $1, new_uuid_v7(m.at), 'customer.updated', m.at, 'customer', $2, '{}'
         from (select to_timestamp($3::float8 / 1000) - n * interval '50 milliseconds' as at from generate_series(1, $4) as n) m`,
    [organizationId, id, Date.now(), Math.min(events, 1_000_000)],
  )
}

/** Creates customers at a steady rate; returns the times from response to arrival. */
async function latencyUntil(
  client: ReturnType<typeof createClient>,
  receiver: BenchReceiver,
  over: () => boolean,
  seconds: number,
) {
  await receiver.reset(true)
  const answered = new Map<string, number>()
  const began = performance.now()
  for (let n = 0; n < eventsASecond * seconds && !over(); n++) {
    const { id } = await client.customers.create({ name: 'Grace Hopper' })
    answered.set(id, performance.timeOrigin + performance.now())
    const due = began + ((n + 1) * 1000) / eventsASecond
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
  }
  const deadline = performance.now() + patience
  for (;;) {
    const arrived = new Map((await receiver.tell()).arrivals)
    const waits = [...answered].map(([id, at]) => (arrived.get(id) ?? Number.NaN) - at)
    if (waits.every((wait) => !Number.isNaN(wait))) return percentiles(waits)
    if (performance.now() > deadline) throw new Error('not all deliveries came')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
