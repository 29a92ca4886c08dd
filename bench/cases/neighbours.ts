/**
 * Neighbours, from both sides: what five organizations see of a sixth that does all it can, with and without it; and what the sixth gets
 * done, next to the five and as the only active one. Each of the five makes 20 requests and has 20 deliveries a second; a request's time counts
 * from when it was due.
 */
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { Pool as Connections } from 'undici'
import { startAttacker } from '../harness/attacker.ts'
import { type Arms, type AttackName, attackNames, attackOf } from '../harness/attacks.ts'
import { type DeliveringInstallation, installFor, type Organization } from '../harness/installation.ts'
import { percentiles } from '../harness/load.ts'
import { createNeighbour, deliveriesOf, live } from '../harness/neighbour.ts'
import { type BenchReceiver, startReceiver } from '../harness/receiver.ts'
import { register } from '../harness/register.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import { seed } from '../harness/seed.ts'
import type { Scale } from '../run.ts'

const organizations = 5
const requestsEach = 20
/** Each creation, every other request, goes to both. */
const endpointsEach = 2
const searchable = 100_000
/** With them the slowest in a hundred is no matter of single requests. */
const fullSamples = 5_000
const warmUpSeconds = 3
const keys = 8
/** What shows how much of the rest is load on the machine, and none of the service's doing. */
const loads: readonly AttackName[] = ['a foreign load']

interface Measured {
  readonly request: number[]
  readonly delivery: number[]
  /** Answers of 429 or 5xx, and requests without an answer. */
  readonly refused: number
  /** Of the API's process, in MB. */
  readonly memory: number
}

export async function* neighbours({ runs, full, only }: Scale): AsyncGenerator<Result> {
  const seconds = full ? fullSamples / (organizations * requestsEach) : 10
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
    for (let run = 0; run < (full ? 1 : runs); run++) {
      const { without, during, alone, next } = await measure(attacks, seconds)
      requests.push(runOf(during.request, without.request))
      deliveries.push(runOf(during.delivery, without.delivery))
      done.push({ value: doneOf(next) / seconds, baseline: doneOf(alone) / seconds })
      memory.push({ value: during.memory })
      refused.push(during.refused + without.refused)
      answered.push(spelled(next))
    }
    const conditions = {
      neighbours: organizations,
      'requests/s of each': requestsEach,
      'deliveries/s of each': requestsEach,
      seconds,
      'refused of the neighbours': refused.join(', '),
      'the load was answered': answered.join('; '),
      bare: 'p99 without the load',
    }
    yield summarize(`neighbours: ${name}: a request of another's`, 'ms', conditions, requests)
    yield summarize(`neighbours: ${name}: a delivery of another's`, 'ms', conditions, deliveries)
    if (attacks.every((attack) => attackOf(attack).lawful === true)) {
      yield summarize(
        `neighbours: ${name}: done`,
        '/s',
        { seconds, bare: 'as the only active organization' },
        done,
      )
    }
    yield summarize(`neighbours: ${name}: memory of the API, at its most`, 'MB', { seconds }, memory)
  }
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
    attacks.every((attack) => attackOf(attack).lawful === true) ? '0' : '100/s, burst 500',
  ])
  const { receiver, service } = installation
  // As the attacker's own process: in life it would be another machine.
  await using theirs = await receiver.another(constants.priority.PRIORITY_LOW)
  const others: Organization[] = []
  for (let n = 0; n < organizations; n++) {
    const one = await installation.newOrganization()
    others.push(one)
    await register(service.url, one, receiver, { count: endpointsEach, events: ['customer.created'] })
  }
  const arms = await prepareAttacker(installation, theirs, attacks)
  await observe(installation, others, warmUpSeconds)
  const without = await observe(installation, others, seconds)
  const alone = await loadFor(attacks, arms, () => delay(seconds * 1_000))
  // What the first second brings is measured too: neighbours are there when it begins.
  const next = await loadFor(attacks, arms, () => observe(installation, others, seconds))
  return { without, during: next.came, alone: alone.answers, next: next.answers }
}

/** What the load was answered while something else went on. */
async function loadFor<A>(attacks: readonly AttackName[], arms: Arms, meanwhile: () => Promise<A>) {
  await using attacker = await startAttacker(attacks, arms)
  const came = await meanwhile()
  return { came, answers: await attacker.stop() }
}

/** An organization with keys, endpoints at a receiver of its own, and what its attacks are about. */
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
  try {
    await live(lives, requestsEach, seconds)
    const delivery = await deliveriesOf(receiver, lives, endpointsEach)
    return {
      request: lives.flatMap((one) => one.waits),
      delivery,
      refused: lives.reduce((sum, one) => sum + one.refused(), 0),
      memory,
    }
  } finally {
    clearInterval(watch)
    await connections.close()
  }
}
