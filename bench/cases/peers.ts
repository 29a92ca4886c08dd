/** The drain of `deliver` by alternatives that a team could have built, in the same run. */
import { dirname } from 'node:path'
import { installFor } from '../harness/installation.ts'
import { drive } from '../harness/load.ts'
import { installPeers, startPeer, startRedis } from '../harness/peer.ts'
import { type BenchReceiver, startReceiver } from '../harness/receiver.ts'
import { type Result, type Run, type Skipped, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { bareLoop, drain, drainConditions, drained, endpoints } from './deliver.ts'

const kinds = {
  'fastify, BullMQ, Redis, undici': bullmq,
  'fastify, graphile-worker, PostgreSQL, undici': graphile,
}

export async function* peers({ runs, deliveries }: Scale): AsyncGenerator<Result | Skipped> {
  const measures = { deskwire: drain, ...kinds }
  const measured = new Map<string, Run[]>()
  const missing = new Map<string, string>()
  const noPackages = await installPeers().then(() => undefined, reasonOf)
  // By turns, so that load on the machine affects all alike.
  for (let run = 0; run < runs; run++) {
    for (const [name, measure] of Object.entries(measures)) {
      if (missing.has(name)) continue
      try {
        if (name in kinds && noPackages !== undefined) throw new Error(noPackages)
        measured.set(name, [...(measured.get(name) ?? []), await measure(deliveries)])
      } catch (error) {
        if (!(name in kinds)) throw error
        missing.set(name, reasonOf(error))
      }
    }
  }
  for (const name of Object.keys(measures)) {
    const title = `peers: drain a backlog, ${name}`
    const skipped = missing.get(name)
    if (skipped !== undefined) yield { case: title, skipped }
    else yield summarize(title, 'deliveries/s', drainConditions(deliveries), measured.get(name) ?? [])
  }
}

async function bullmq(deliveries: number): Promise<Run> {
  await using installation = await installFor(startReceiver, ['--role', 'api'])
  const { receiver } = installation
  await using redis = await startRedis(dirname(receiver.caFile))
  return await drainPeer('bullmq.ts', redis.socket, receiver, deliveries)
}

async function graphile(deliveries: number): Promise<Run> {
  await using installation = await installFor(startReceiver, ['--role', 'api'])
  const { host, port, user } = installation.connection
  await installation.pool.query('create database peer')
  const url = `postgres://${user}@/peer?host=${encodeURIComponent(host)}&port=${port}`
  return await drainPeer('graphile.ts', url, installation.receiver, deliveries)
}

/** Fills the backlog over HTTP without a worker, then starts one and watches the receiver. */
async function drainPeer(
  file: string,
  store: string,
  receiver: BenchReceiver,
  deliveries: number,
): Promise<Run> {
  const args = [store, String(endpoints), receiver.origin, receiver.caFile]
  await using api = await startPeer(file, ['api', ...args])
  const body = JSON.stringify({ name: 'Ada Lovelace', notes: 'x'.repeat(870) })
  await drive({
    url: api.said,
    clients: 16,
    seconds: 600,
    requests: deliveries / endpoints,
    status: 202,
    request: () => ({
      method: 'POST',
      path: '/events',
      headers: { 'content-type': 'application/json' },
      body,
    }),
  })
  const baseline = await bareLoop(receiver)
  await receiver.reset(false)
  await using _worker = await startPeer(file, ['worker', ...args])
  return { value: await drained(receiver, deliveries), baseline }
}

/** One line: the standard error of a failed command, or the message. */
function reasonOf(error: unknown): string {
  const { message } = error as Error
  const lines = message.split('\n').filter((line) => line !== '' && !line.startsWith('npm warn'))
  return lines.slice(0, 2).join(': ')
}
