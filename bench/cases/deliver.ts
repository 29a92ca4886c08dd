/** Delivery: a backlog for healthy endpoints, compared with a bare signing loop, and the time from 2xx to receiver. */
import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@deskwire/sdk'
import { installFor, type Organization } from '../harness/installation.ts'
import { percentiles } from '../harness/load.ts'
import { type BenchReceiver, startReceiver } from '../harness/receiver.ts'
import { register } from '../harness/register.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'

const endpointsEach = 50
const organizations = 2
export const endpoints = endpointsEach * organizations
const bareRequests = 30_000
const events = ['customer.created']

export async function* deliver({ runs, deliveries }: Scale): AsyncGenerator<Result> {
  const drains: Run[] = []
  for (let run = 0; run < runs; run++) drains.push(await drain(deliveries))
  yield summarize('deliver: drain a backlog', 'deliveries/s', drainConditions(deliveries), drains)
}

export function drainConditions(deliveries: number): Result['conditions'] {
  const bare = 'undici pool of 128 connections, signing, same receiver, same run'
  return { endpoints, deliveries, body: '1 KB', workers: 1, bare }
}

/** Fills the backlog without a worker, then starts one and watches the receiver. */
export async function drain(deliveries: number): Promise<Run> {
  await using installation = await installFor(startReceiver, ['--role', 'api'])
  const { receiver, service } = installation
  for (let n = 0; n < organizations; n++) {
    const organization = await installation.newOrganization()
    await register(service.url, organization, receiver, { count: endpointsEach, events })
    await change(service.url, organization, deliveries / endpoints)
  }
  const baseline = await bareLoop(receiver)
  await receiver.reset(false)
  const worker = await installation.startWorker()
  try {
    return { value: await drained(receiver, deliveries), baseline }
  } finally {
    await worker.stop()
  }
}

/** Waits until the whole backlog has arrived; returns deliveries a second. */
export async function drained(receiver: BenchReceiver, deliveries: number): Promise<number> {
  const { firstAt, lastAt } = await until(receiver, deliveries)
  return deliveries / ((lastAt - firstAt) / 1000)
}

const rate = 100
const seconds = 10

export async function* latency({ runs }: Scale): AsyncGenerator<Result> {
  await using installation = await installFor(startReceiver, ['--role', 'all'])
  const { receiver, service } = installation
  const organization = await installation.newOrganization()
  await register(service.url, organization, receiver, { count: 1, events })
  const client = createClient({ baseUrl: `${service.url}/v1`, apiKey: organization.token })
  // Keeps connections and plans.
  await receiver.reset(true)
  for (let n = 0; n < 50; n++) await client.customers.create(customer())
  await until(receiver, 50)
  const measured: Run[] = []
  for (let run = 0; run < runs; run++) {
    await receiver.reset(true)
    const answered = new Map<string, number>()
    const began = performance.now()
    const pending: Promise<void>[] = []
    for (let n = 0; n < rate * seconds; n++) {
      const due = began + (n * 1000) / rate
      // A load that spins until it is due would use one of the measured cores.
      await delay(Math.max(0, due - performance.now()))
      const made = client.customers.create(customer()).then(({ id }) => {
        answered.set(id, performance.timeOrigin + performance.now())
      })
      pending.push(made)
    }
    await Promise.all(pending)
    const { arrivals } = await until(receiver, rate * seconds)
    const waits = arrivals.map(([id, at]) => at - (answered.get(id) ?? Number.NaN))
    const { p50, p99 } = percentiles(waits)
    measured.push({ value: p50, p50, p99 })
  }
  const conditions = { 'events/s': rate, seconds, endpoints: 1 }
  yield summarize('latency: 2xx of the change to request at the receiver', 'ms', conditions, measured)
}

async function change(url: string, organization: Organization, count: number): Promise<void> {
  const client = createClient({ baseUrl: `${url}/v1`, apiKey: organization.token })
  let made = 0
  const make = async () => {
    while (made++ < count) await client.customers.create(customer())
  }
  await Promise.all(Array.from({ length: 16 }, make))
}

/** A delivery of about 1 KB. */
function customer() {
  return { name: 'Ada Lovelace', customAttributes: { notes: 'x'.repeat(430) } }
}

async function until(receiver: BenchReceiver, count: number) {
  const deadline = performance.now() + 110_000
  for (;;) {
    const told = await receiver.tell()
    if (told.received >= count) return told
    if (performance.now() > deadline) throw new Error(`only ${told.received} of ${count} deliveries came`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Requests a second of a bare signing loop. */
export async function bareLoop(receiver: BenchReceiver): Promise<number> {
  const program = fileURLToPath(new URL('../harness/bare-sender.ts', import.meta.url))
  const args = [program, receiver.origin, receiver.caFile, String(bareRequests), String(endpoints)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return Number(stdout)
}
