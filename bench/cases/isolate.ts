/**
 * Isolation: what healthy endpoints see while nine of ten hang or refuse, and in the first second of many new
 * endpoints, compared with the same load without those.
 */
import { createClient } from '@deskwire/sdk'
import type { Pool } from 'pg'
import { plant } from '../../packages/testbed/planted.ts'
import { type DeliveringInstallation, installFor, type Organization } from '../harness/installation.ts'
import { percentiles } from '../harness/load.ts'
import { type BenchReceiver, startReceiver } from '../harness/receiver.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'

const organizations = 20
const healthyEach = 2
const sickEach = 18
const rate = 40
const warmUpSeconds = 15
const seconds = 15
/** Nothing listens there. */
const refusing = 'https://127.0.0.1:9'

/** Endpoints that one commit sends first deliveries to, how many of them hang, how often, and how far apart. */
const newcomers = 45
const hangingNewcomers = 40
const arrivalsOfNewcomers = 6
const apartSeconds = 3

interface Waits {
  readonly p50: number
  readonly p99: number
}

export async function* isolate({ runs }: Scale): AsyncGenerator<Result> {
  const measured: Run[] = []
  for (let run = 0; run < runs; run++) {
    const alone = await measure(false)
    const crowded = await measure(true)
    measured.push({ value: crowded.p99, ...crowded, baseline: alone.p99 })
  }
  const conditions = {
    organizations,
    'healthy endpoints': organizations * healthyEach,
    'sick endpoints, half of them hanging, half refusing': organizations * sickEach,
    'events/s': rate,
    'warm-up s': warmUpSeconds,
    seconds,
    bare: 'p99 of the same without the sick',
  }
  yield summarize('isolate: 2xx to a healthy receiver, 90 % sick', 'ms', conditions, measured)
}

export async function* newcoming({ runs }: Scale): AsyncGenerator<Result> {
  const welcomed: Run[] = []
  for (let run = 0; run < runs; run++) welcomed.push(await measureNewcomers())
  yield summarize(
    'newcomers: 2xx to a healthy receiver, first second of 45 new endpoints',
    'ms',
    {
      'healthy endpoints': organizations * healthyEach,
      'new endpoints': newcomers,
      'of them hanging': hangingNewcomers,
      times: arrivalsOfNewcomers,
      'events/s': rate,
      bare: 'p99 of as many seconds without',
    },
    welcomed,
  )
}

/** First without them, as hanging attempts last longer than a second. */
async function measureNewcomers(): Promise<Run> {
  await using installation = await installFor(startReceiver, ['--role', 'all'])
  const { receiver, pool, service } = installation
  await using elsewhere = await receiver.another()
  const owners: Organization[] = []
  for (let n = 0; n < organizations; n++) {
    const owner = await installation.newOrganization()
    owners.push(owner)
    await addEndpoints(installation, owner, null)
  }
  const encryptionKey = await installation.encryptionKey()
  const arriving: Organization[] = []
  for (let n = 0; n < arrivalsOfNewcomers; n++) {
    const owner = await installation.newOrganization()
    arriving.push(owner)
    const { organizationId } = owner
    const urls = Array.from(
      { length: newcomers },
      (_, at) => `${elsewhere.origin}/${at < hangingNewcomers ? 'hang' : 'well'}/${organizationId}/${at}`,
    )
    await plant(pool, { organizationId, encryptionKey, urls, backlog: 0, now: Date.now() })
  }
  await receiver.reset(true)
  await makeEvents(installation, owners, warmUpSeconds)
  await receiver.reset(true)
  const without = percentiles(
    await waitsOf(receiver, await makeEvents(installation, owners, arrivalsOfNewcomers)),
  )
  const waits: number[] = []
  for (const { token } of arriving) {
    await receiver.reset(true)
    const client = createClient({ baseUrl: `${service.url}/v1`, apiKey: token })
    const [answered] = await Promise.all([
      makeEvents(installation, owners, 1),
      client.customers.create({ name: 'Grace Hopper' }),
    ])
    waits.push(...(await waitsOf(receiver, answered)))
    await makeEvents(installation, owners, apartSeconds)
  }
  const measured = percentiles(waits)
  return { value: measured.p99, ...measured, baseline: without.p99 }
}

async function measure(withSick: boolean): Promise<Waits> {
  await using installation = await installFor(startReceiver, ['--role', 'all'])
  const { receiver } = installation
  // Failing endpoints are on another machine in reality, so their receiver is another process.
  await using hanging = await receiver.another()
  const owners: Organization[] = []
  for (let n = 0; n < organizations; n++) {
    const owner = await installation.newOrganization()
    owners.push(owner)
    await addEndpoints(installation, owner, withSick ? hanging : null)
  }
  await receiver.reset(true)
  await makeEvents(installation, owners, warmUpSeconds)
  await receiver.reset(true)
  const answered = await makeEvents(installation, owners, seconds)
  return percentiles(await waitsOf(receiver, answered))
}

async function addEndpoints(
  installation: DeliveringInstallation<BenchReceiver>,
  { organizationId }: Organization,
  hanging: BenchReceiver | null,
): Promise<void> {
  const { receiver } = installation
  const well = Array.from({ length: healthyEach }, (_, n) => `${receiver.origin}/well/${n}`)
  const sickUrl = ({ origin }: BenchReceiver, n: number) =>
    n % 2 === 0 ? `${origin}/hang/${organizationId}/${n}` : `${refusing}/${n}`
  const sick = hanging === null ? [] : Array.from({ length: sickEach }, (_, n) => sickUrl(hanging, n))
  const pool: Pool = installation.pool
  const encryptionKey = await installation.encryptionKey()
  await plant(pool, { organizationId, encryptionKey, urls: [...well, ...sick], backlog: 0, now: Date.now() })
}

/** Creates customers at this rate, in all organizations in turn; returns when each was answered. */
async function makeEvents(
  { service }: DeliveringInstallation<BenchReceiver>,
  owners: readonly Organization[],
  forSeconds: number,
): Promise<Map<string, number>> {
  const clients = owners.map(({ token }) => createClient({ baseUrl: `${service.url}/v1`, apiKey: token }))
  const answered = new Map<string, number>()
  const began = performance.now()
  const pending: Promise<void>[] = []
  for (let n = 0; n < rate * forSeconds; n++) {
    const wait = began + (n * 1000) / rate - performance.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    const client = clients[n % clients.length] as (typeof clients)[number]
    pending.push(
      client.customers.create({ name: 'Ada Lovelace' }).then(({ id }) => {
        answered.set(id, performance.timeOrigin + performance.now())
      }),
    )
  }
  await Promise.all(pending)
  return answered
}

/** From each response to each of its arrivals, without the warm-up's. */
async function waitsOf(receiver: BenchReceiver, answered: ReadonlyMap<string, number>): Promise<number[]> {
  const count = answered.size * healthyEach
  const deadline = performance.now() + 30_000
  for (;;) {
    const { arrivals } = await receiver.tell()
    const waits = arrivals
      .flatMap(([id, at]) => at - (answered.get(id) ?? Number.NaN))
      .filter(Number.isFinite)
    if (waits.length >= count) return waits
    if (performance.now() > deadline)
      throw new Error(`only ${waits.length} of ${count} healthy deliveries came`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
