/**
 * Moves an organization between databases while it is written to: rows copied a second, its writer's longest wait, and
 * the effect on an organization of each database.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { deskwire } from '../../packages/testbed/services.ts'
import { type Organization, startService, temporaryDirectory } from '../harness/installation.ts'
import { percentiles } from '../harness/load.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { seed } from '../harness/seed.ts'
import { databasesFlag, keyFlag, newOrganizationIn, openNamed } from '../harness/several-databases.ts'

/** In milliseconds, between two requests, so that others do not use all capacity. */
const pause = 20
/** In seconds, for the others without a move. */
const beforehand = 10

export async function* move({ runs, full }: Scale): AsyncGenerator<Result> {
  for (const rows of full ? [100_000, 1_000_000] : [100_000]) {
    const [speeds, waits, turns, others]: Run[][] = [[], [], [], []]
    for (let run = 0; run < runs; run++) {
      const measured = await moving(rows)
      speeds?.push({ value: (rows / measured.milliseconds) * 1_000 })
      waits?.push({ value: measured.own.longest, ...percentiles(measured.own.waits) })
      turns?.push({ value: measured.paused })
      const [before, during] = [percentiles(measured.before), percentiles(measured.during)]
      others?.push({ value: during.p99, baseline: before.p99, ...during })
    }
    const conditions = { rows, 'asks of another a second': 1_000 / pause }
    const name = `move: an organization of ${rows / 1_000}k customers`
    yield summarize(name, 'rows/s', conditions, speeds ?? [])
    yield summarize(`${name}: longest wait of its writer`, 'ms', conditions, waits ?? [])
    yield summarize(`${name}: the fence`, 'ms', conditions, turns ?? [])
    yield summarize(`${name}: p99 of organizations of both databases`, 'ms', conditions, others ?? [])
  }
}

async function moving(rows: number) {
  await using stack = new AsyncDisposableStack()
  const { dataDir, remove } = await temporaryDirectory()
  stack.defer(remove)
  const [one, two] = [await openNamed(stack, dataDir, 'one'), await openNamed(stack, dataDir, 'two')]
  const databases = databasesFlag([one, two])
  const service = await startService(dataDir, [...databases, ...keyFlag, '--role', 'all'])
  stack.defer(() => service.stop())
  const [inOne, inTwo] = [await newOrganizationIn([one], one), await newOrganizationIn([one], two)]
  const { connection } = one.server
  const seeded = await seed(
    { connection, newOrganization: () => newOrganizationIn([one], one) },
    { live: rows },
  )

  const others = [await patching(service.url, inOne), await patching(service.url, inTwo)]
  await delay(2_000)
  for (const other of others) other.take()
  await delay(beforehand * 1_000)
  const before = others.flatMap((other) => other.take())
  const own = await patching(service.url, seeded)
  const since = performance.now()
  const said = await run([
    'organizations',
    'move',
    seeded.organizationId,
    '--to',
    'two',
    '--json',
    ...databases,
  ])
  const milliseconds = performance.now() - since
  const during = others.flatMap((other) => other.take())
  await delay(500)
  const waits = own.take()
  for (const one of [own, ...others]) await one.stop()
  const { paused } = JSON.parse(said) as { paused: number }
  return { milliseconds, paused, before, during, own: { waits, longest: Math.max(...waits) } }
}

async function run(args: readonly string[]): Promise<string> {
  const { code, stdout } = await deskwire(args, { shown: true })
  if (code !== 0) throw new Error(`deskwire ${args[0]} ${args[1]} ended with ${code}`)
  return stdout
}

/** Changes one customer repeatedly. */
async function patching(url: string, { token }: Organization) {
  const ask = async (method: string, path: string, body: unknown) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as { id: string }
  }
  const { id } = await ask('POST', '/v1/customers', { name: 'Ada' })
  let waits: number[] = []
  let stopped = false
  const done = (async () => {
    for (let n = 0; !stopped; n++) {
      const since = performance.now()
      await ask('PATCH', `/v1/customers/${id}`, { name: `Ada ${n}` })
      waits.push(performance.now() - since)
      await delay(pause)
    }
  })()
  // Reported by stop.
  done.catch(() => {})
  return {
    /** Waits since the last call, in milliseconds. */
    take() {
      const taken = waits
      waits = []
      return taken
    },
    async stop() {
      stopped = true
      await done
    },
  }
}
