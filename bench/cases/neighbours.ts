/**
 * What five organizations see of a sixth that does all it can, with and without it; and what the sixth achieves next to
 * one of them, to all, and alone. Each of the five makes 20 requests and has 20 deliveries a second; a request's time
 * counts from when it was due. The five and their process take half of two cores.
 */
import { execFile } from 'node:child_process'
import { open, rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Pool as Connections } from 'undici'
import { startAttacker } from '../harness/attacker.ts'
import { type Arms, type AttackName, attackNames, attackOf } from '../harness/attacks.ts'
import { type DeliveringInstallation, installFor, type Organization } from '../harness/installation.ts'
import { percentiles } from '../harness/load.ts'
import { createNeighbour, deliveriesOf, live } from '../harness/neighbour.ts'
import { type BenchReceiver, startReceiver } from '../harness/receiver.ts'
import { register } from '../harness/register.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { seed } from '../harness/seed.ts'

const organizations = 5
const requestsEach = 20
/** Each creation, every other request, goes to both. */
const endpointsEach = 2
const searchable = 100_000
/** Enough that the 99th percentile is not a single pause. */
const samples = 3_000
const fullSamples = 10_000
/** For sums. */
const briefSeconds = 10
const warmUpSeconds = 3
const keys = 8
/** Shows how much is load on the machine and not the service. */
const loads: readonly AttackName[] = ['a foreign load']

interface Measured {
  readonly request: number[]
  readonly delivery: number[]
  /** Responses of 429 or 5xx, and requests without a response. */
  readonly refused: number
  /** Of the API's process, in MB. */
  readonly memory: number
  /** Of the disk, in milliseconds: no service could be faster. */
  readonly slowestSync: number
}

export async function* neighbours({ runs, full, only }: Scale): AsyncGenerator<Result> {
  const seconds = (full ? fullSamples : samples) / (organizations * requestsEach)
  const together = attackNames.filter((name) => !loads.includes(name))
  for (const [name, attacks] of [
    ...attackNames.map((one) => [one, [one]] as const),
    ['all together', together] as const,
  ]) {
    if (!name.includes(only)) continue
    const requests: Run[] = []
    const deliveries: Run[] = []
    const done: Run[] = []
    const memory: Run[] = []
    const refused: number[] = []
    const answered: string[] = []
    const nextToAll: number[] = []
    const slowestSyncs: number[] = []
    for (let run = 0; run < (full ? 1 : runs); run++) {
      const { without, next, done: share } = await measure(attacks, seconds)
      requests.push(runOf(next.came.request, without.request))
      deliveries.push(runOf(next.came.delivery, without.delivery))
      if (share !== null) done.push(share)
      nextToAll.push(next.donePerSecond)
      slowestSyncs.push(Math.round(next.came.slowestSync))
      memory.push({ value: next.came.memory })
      refused.push(next.came.refused + without.refused)
      answered.push(spelled(next.answers))
    }
    const conditions = {
      neighbours: organizations,
      'requests/s of each': requestsEach,
      'deliveries/s of each': requestsEach,
      seconds,
      'refused of the neighbours': refused.join(', '),
      'the load was answered': answered.join('; '),
      "slowest fsync of the benchmark's own file, ms": slowestSyncs.join(', '),
      bare: 'p99 without the load',
    }
    yield summarize(`neighbours: ${name}: a request of another's`, 'ms', conditions, requests)
    yield summarize(`neighbours: ${name}: a delivery of another's`, 'ms', conditions, deliveries)
    if (done.length > 0) {
      yield summarize(
        `neighbours: ${name}: done`,
        '/s',
        {
          neighbours: 1,
          seconds: briefSeconds,
          'next to five': nextToAll.join(', '),
          bare: 'as the only active organization',
        },
        done,
      )
    }
    yield summarize(`neighbours: ${name}: memory of the API, at its most`, 'MB', { seconds }, memory)
  }
}

function isLawful(attacks: readonly AttackName[]): boolean {
  return attacks.every((attack) => attackOf(attack).lawful === true)
}

/** How much of what was asked for has been done. */
function doneOf(answers: Readonly<Record<string, number>>): number {
  return Object.entries(answers).reduce(
    (sum, [what, times]) => sum + (/^(2|deleted)/.test(what) ? times : 0),
    0,
  )
}

function spelled(answers: Readonly<Record<string, number>>): string {
  return Object.entries(answers)
    .map(([what, times]) => `${what} ${times} times`)
    .join(', ')
}

function runOf(during: readonly number[], without: readonly number[]): Run {
  const { p50, p99 } = percentiles(during)
  return { value: p99, p50, p99, baseline: percentiles(without).p99 }
}

async function measure(attacks: readonly AttackName[], seconds: number) {
  await using installation = await installFor(startReceiver, [
    '--role',
    'all',
    '--rate-limit',
    isLawful(attacks) ? '0' : '100/s, burst 500',
  ])
  const { receiver, service } = installation
  // Another process, as in reality it is another machine.
  await using theirs = await receiver.another(constants.priority.PRIORITY_LOW)
  const others: Organization[] = []
  for (let n = 0; n < organizations; n++) {
    const one = await installation.newOrganization()
    others.push(one)
    await register(service.url, one, receiver, { count: endpointsEach, events: ['customer.created'] })
  }
  const arms = await prepareAttacker(installation, theirs, attacks)
  // The seeds' writes are no part of the load.
  await promisify(execFile)('sync')
  await observe(installation, others, warmUpSeconds)
  const without = await observe(installation, others, briefSeconds)
  const alone = () => loadFor(attacks, arms, () => delay(briefSeconds * 1_000))
  const before = isLawful(attacks) ? await alone() : null
  // Neighbours are there when it begins, so its first second is measured too.
  const next = await loadFor(attacks, arms, () => observe(installation, others, seconds))
  if (before === null) return { without, next, done: null }
  const nextToOne = await loadFor(attacks, arms, () =>
    observe(installation, others.slice(0, 1), briefSeconds),
  )
  // Before and after, as what it has written slows what follows.
  const after = await alone()
  const done = {
    value: nextToOne.donePerSecond,
    baseline: (before.donePerSecond + after.donePerSecond) / 2,
  }
  return { without, next, done }
}

/** The responses to the load while `meanwhile` runs. */
async function loadFor<A>(attacks: readonly AttackName[], arms: Arms, meanwhile: () => Promise<A>) {
  await using attacker = await startAttacker(attacks, arms)
  const began = performance.now()
  const came = await meanwhile()
  const took = (performance.now() - began) / 1_000
  const answers = await attacker.stop()
  return { came, answers, donePerSecond: Math.round((doneOf(answers) / took) * 10) / 10 }
}

/** An organization with keys, endpoints at a receiver of its own, and objects for its attacks. */
async function prepareAttacker(
  installation: DeliveringInstallation<BenchReceiver>,
  receiver: BenchReceiver,
  attacks: readonly AttackName[],
): Promise<Arms> {
  const { url } = installation.service
  const organization = attacks.includes('searches')
    ? await seed(installation, { live: searchable })
    : await installation.newOrganization()
  const call = caller(url, organization.token)
  const tokens: string[] = []
  for (let n = 0; n < keys; n++) {
    const made = await call<{ token: string }>('POST', '/v1/api-keys', { name: `key ${n}`, scopes: ['*'] })
    tokens.push(made.token)
  }
  if (attacks.includes('a deletion and pings')) {
    const events = ['customer.deleted', 'ticket.deleted']
    await register(url, organization, receiver, { count: 50, events })
  }
  if (attacks.includes('unread answers')) {
    const { id: customerId } = await call<{ id: string }>('POST', '/v1/customers', { name: 'Ada' })
    const description = 'z'.repeat(60_000)
    const items = Array.from({ length: 100 }, (_, n) => ({ customerId, subject: `Ticket ${n}`, description }))
    await call('POST', '/v1/tickets/batch', { items })
  }
  const { data } = await call<{ data: { id: string }[] }>('GET', '/v1/webhooks?limit=100')
  const customers = await call<{ data: { id: string }[] }>('POST', '/v1/customers/batch', {
    items: Array.from({ length: 500 }, (_, n) => ({ name: `Ada ${n}` })),
  })
  const { connection } = installation
  const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)
  return { url, tokens, webhookIds: ids(data), customerIds: ids(customers.data), connection }
}

function caller(url: string, token: string) {
  return async <A = unknown>(method: string, path: string, body?: unknown): Promise<A> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text) as A
  }
}

/** What the neighbours see in so many seconds. */
async function observe(
  installation: DeliveringInstallation<BenchReceiver>,
  others: readonly Organization[],
  seconds: number,
): Promise<Measured> {
  const { receiver, service } = installation
  await receiver.reset(true)
  const connections = new Connections(service.url, { connections: 64 })
  const lives = others.map(({ token }) => createNeighbour(connections, token))
  let memory = 0
  const watch = setInterval(async () => {
    memory = Math.max(memory, await service.residentMegabytes())
  }, 200)
  const syncs = await startSyncs()
  try {
    await live(lives, requestsEach, seconds)
    const slowestSync = await syncs.stop()
    const delivery = await deliveriesOf(receiver, lives, endpointsEach)
    return {
      request: lives.flatMap((one) => one.waits),
      delivery,
      refused: lives.reduce((sum, one) => sum + one.refused(), 0),
      memory,
      slowestSync,
    }
  } finally {
    await syncs.stop()
    clearInterval(watch)
    await connections.close()
  }
}

/** Writes a block to a file of its own and syncs it, ten times a second. */
async function startSyncs() {
  const path = join(tmpdir(), `deskwire-bench-sync-${process.pid}`)
  const block = new Uint8Array(8_192)
  let slowest = 0
  let isStopped = false
  const under = (async () => {
    await using file = await open(path, 'w')
    await file.write(block)
    while (!isStopped) {
      await file.write(block, 0, block.length, 0)
      const began = performance.now()
      await file.datasync()
      slowest = Math.max(slowest, performance.now() - began)
      await delay(100)
    }
    await rm(path)
  })()
  return {
    /** Returns the slowest, in milliseconds. */
    async stop(): Promise<number> {
      isStopped = true
      await under
      return slowest
    },
  }
}
