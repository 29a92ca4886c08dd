/** Waiting readers: what a thousand cost while nothing happens, and how soon a commit wakes those concerned. */
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@deskwire/sdk'
import { type Installation, install, type Organization } from '../harness/installation.ts'
import { percentiles } from '../harness/load.ts'
import { processorSeconds, serverPid } from '../harness/processor-time.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { type BenchWaiters, type Reader, startWaiters } from '../harness/waiters.ts'

const readers = 1_000
const organizations = 10
/** One reader in so many waits for changes of all kinds. */
const ofAllKinds = 5
/** How late an idle connection may report its statistics, in milliseconds. */
const statisticsDelay = 11_000
const crowdCommits = 10
const singleCommits = 50

export async function* waiters({ runs, full }: Scale): AsyncGenerator<Result> {
  yield* idle(runs, full)
  yield* crowd(runs)
  yield* single(runs)
  yield* streaming(runs)
}

/** No changes; with `full` for a whole wait, so that all of them ask again once. */
async function* idle(runs: number, full: boolean): AsyncGenerator<Result> {
  const seconds = full ? 50 : 10
  await using installation = await install(['--role', 'api'])
  const owners = await newOrganizations(installation, organizations)
  const all = Array.from({ length: readers }, (_, n) =>
    reader(owners[n % organizations] as Organization, Math.floor(n / organizations) % ofAllKinds === 0),
  )
  await using _waiting = await startWaiters(installation.service.url, all)
  const pid = await serverPid(installation.pool)
  const used = async () => ({
    service: await processorSeconds(installation.service.pid),
    database: await processorSeconds(pid, true),
    transactions: await transactions(installation),
  })
  await delay(statisticsDelay)
  const service: Run[] = []
  const database: Run[] = []
  const rates: number[] = []
  for (let run = 0; run < runs; run++) {
    const before = await used()
    await delay(seconds * 1_000)
    const after = await used()
    service.push({ value: ((after.service - before.service) / seconds) * 100 })
    database.push({ value: ((after.database - before.database) / seconds) * 100 })
    rates.push((after.transactions - before.transactions) / seconds)
  }
  const conditions = {
    readers,
    organizations,
    'of them on /v1/changes': readers / ofAllKinds,
    wait: 50,
    seconds,
    'transactions/s': Math.max(...rates),
  }
  yield summarize('waiters: idle, processor time of the API', '% of a core', conditions, service)
  yield summarize('waiters: idle, processor time of PostgreSQL', '% of a core', conditions, database)
}

/** All wait for the same change. */
async function* crowd(runs: number): AsyncGenerator<Result> {
  await using installation = await install(['--role', 'api'])
  const [owner] = (await newOrganizations(installation, 1)) as [Organization]
  const all = Array.from({ length: readers }, () => reader(owner, false))
  await using waiting = await startWaiters(installation.service.url, all)
  await wakings(installation, owner, waiting, { answers: readers, commits: 2 })
  const everyone: Run[] = []
  const first: Run[] = []
  for (let run = 0; run < runs; run++) {
    const waits = await wakings(installation, owner, waiting, { answers: readers, commits: crowdCommits })
    const { p50, p99 } = percentiles(waits.flat())
    everyone.push({ value: p50, p50, p99 })
    const firsts = percentiles(waits.map(([earliest = Number.NaN]) => earliest))
    first.push({ value: firsts.p50, ...firsts })
  }
  const conditions = { readers, organizations: 1, commits: crowdCommits }
  yield summarize('waiters: 2xx of a commit to 1,000 of one organization', 'ms', conditions, everyone)
  yield summarize('waiters: 2xx of a commit to the first of these', 'ms', conditions, first)
}

/** One is woken, in an organization of its own; the others sleep on. */
async function* single(runs: number): AsyncGenerator<Result> {
  await using installation = await install(['--role', 'api'])
  const [owner, ...others] = (await newOrganizations(installation, organizations)) as [
    Organization,
    ...Organization[],
  ]
  const asleep = Array.from({ length: readers - 1 }, (_, n) =>
    reader(others[n % others.length] as Organization, Math.floor(n / others.length) % ofAllKinds === 0),
  )
  await using _asleep = await startWaiters(installation.service.url, asleep)
  await using waiting = await startWaiters(installation.service.url, [reader(owner, false)])
  await wakings(installation, owner, waiting, { answers: 1, commits: 5 })
  const measured: Run[] = []
  for (let run = 0; run < runs; run++) {
    const waits = await wakings(installation, owner, waiting, { answers: 1, commits: singleCommits })
    const { p50, p99 } = percentiles(waits.flat())
    measured.push({ value: p50, p50, p99 })
  }
  const conditions = { readers, organizations, commits: singleCommits }
  yield summarize('waiters: 2xx of a commit to one, 999 asleep', 'ms', conditions, measured)
}

/**
 * Streams of events: what a listener costs, and how soon it has a change, beside one that waits for changes. Both are
 * on `/v1/changes`, while the other listeners see nothing.
 */
async function* streaming(runs: number): AsyncGenerator<Result> {
  await using installation = await install(['--role', 'api'])
  const [owner, ...others] = (await newOrganizations(installation, organizations + 1)) as [
    Organization,
    ...Organization[],
  ]
  await using waiting = await startWaiters(installation.service.url, [reader(owner, true)])
  await wakings(installation, owner, waiting, { answers: 1, commits: 5 })
  const before = await installation.service.residentMegabytes()
  const listeners = Array.from({ length: readers }, (_, n) => ({
    ...reader(others[n % others.length] as Organization, true),
    streams: true,
  }))
  await using _listening = await startWaiters(installation.service.url, listeners)
  const memory = ((await installation.service.residentMegabytes()) - before) * (1_000 / readers)
  const conditions = { readers, organizations }
  yield summarize('waiters: memory of a stream of events', 'kB', conditions, [{ value: memory }])
  await using streaming = await startWaiters(installation.service.url, [
    { ...reader(owner, true), streams: true },
  ])
  for (const [name, listener] of [
    ['an open stream of events', streaming],
    ['one that waits beside it', waiting],
  ] as const) {
    const measured: Run[] = []
    for (let run = 0; run < runs; run++) {
      const waits = await wakings(installation, owner, listener, { answers: 1, commits: singleCommits })
      const { p50, p99 } = percentiles(waits.flat())
      measured.push({ value: p50, p50, p99 })
    }
    const all = { ...conditions, commits: singleCommits }
    yield summarize(`waiters: 2xx of a commit to ${name}`, 'ms', all, measured)
  }
}

/** For each commit the times from its 2xx to each response with it, earliest first. */
async function wakings(
  { service }: Installation,
  { token }: Organization,
  waiting: BenchWaiters,
  { answers, commits }: { readonly answers: number; readonly commits: number },
): Promise<number[][]> {
  const client = createClient({ baseUrl: `${service.url}/v1`, apiKey: token })
  const waits: number[][] = []
  for (let n = 0; n < commits; n++) {
    await waiting.expect(answers)
    const { id } = await client.customers.create({ name: 'Ada Lovelace' })
    const since = performance.timeOrigin + performance.now()
    const { at, ids } = await waiting.tell()
    if (ids.length !== 1 || ids[0] !== id)
      throw new Error(`readers were told of ${ids.join(', ')}, not of ${id}`)
    waits.push(at.map((came) => came - since))
  }
  return waits
}

function reader({ token }: Organization, ofAll: boolean): Reader {
  return { token, path: ofAll ? '/v1/changes' : '/v1/customers' }
}

async function newOrganizations(installation: Installation, count: number): Promise<Organization[]> {
  const made: Organization[] = []
  for (let n = 0; n < count; n++) made.push(await installation.newOrganization())
  return made
}

/** Each statement is a transaction here. */
async function transactions({ pool }: Installation): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(
    'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
  )
  return Number(rows[0]?.count)
}
