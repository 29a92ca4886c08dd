/**
 * Organizations over several databases: what a second one brings, what the others see when one is killed, the cost of a
 * hundred, and that of a directory of a million organizations.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Pool as Connections } from 'undici'
import { plant } from '../../packages/testbed/planted.ts'
import { fillDirectory } from '../harness/filled-directory.ts'
import {
  type Organization,
  type RunningService,
  startService,
  temporaryDirectory,
} from '../harness/installation.ts'
import { type Limited, type LimitedDatabases, openLimited } from '../harness/limited-databases.ts'
import { drive, percentiles } from '../harness/load.ts'
import { openMany } from '../harness/many-databases.ts'
import { createNeighbour, deliveriesOf, live, type Neighbour } from '../harness/neighbour.ts'
import { customerIds, headersOf, patches } from '../harness/patches.ts'
import { connectPlain } from '../harness/plain-client.ts'
import { NoControlGroup } from '../harness/processor-share.ts'
import { processorSeconds } from '../harness/processor-time.ts'
import { type BenchReceiver, startReceiver } from '../harness/receiver.ts'
import { register } from '../harness/register.ts'
import { median, type Result, type Run, type Skipped, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { seed } from '../harness/seed.ts'
import {
  type DatabaseOfMany,
  databasesFlag,
  encryptionKey,
  keyFlag,
  newOrganizationIn,
  openNamed,
} from '../harness/several-databases.ts'
import { drained } from './deliver.ts'

export async function* databases({ runs, only }: Scale): AsyncGenerator<Result | Skipped> {
  if ('spread'.includes(only)) yield* spread(runs)
  if ('killed'.includes(only)) yield* killed(runs)
  if ('hundred'.includes(only)) yield* hundred(runs)
  if ('directory'.includes(only)) yield* directory(runs)
}

/**
 * In percent of a core: little enough that service, worker, load and receiver are not limited, and enough that a change
 * does not wait for the next period between its statements.
 */
const shares = { patch: 30, deliveries: 15 }
const organizations = 64
const rowsEach = 200
const patchers = 64
const patchSeconds = 10
const backlogEach = 500
const patchCase = 'databases: PATCH, 64 organizations on two databases instead of one'
const deliveryCase = 'databases: deliveries, 64 organizations on two databases instead of one'

/** All organizations on one of the two databases, or half on each. */
type Arrangement = 'together' | 'apart'

async function* spread(runs: number): AsyncGenerator<Result | Skipped> {
  await using stack = new AsyncDisposableStack()
  let limited: LimitedDatabases
  try {
    limited = stack.use(await openLimited())
  } catch (error) {
    if (!(error instanceof NoControlGroup)) throw error
    for (const name of [patchCase, deliveryCase]) yield { case: name, skipped: error.message }
    return
  }
  const { one, two, dataDir } = limited
  const receiver = stack.use(await startReceiver(dataDir))
  const flags = [...databasesFlag([one, two]), ...keyFlag, ...targetFlags(receiver)]
  const api = await startService(dataDir, [...flags, '--role', 'api'])
  stack.defer(() => api.stop())
  const homeOf = (n: number, arrangement: Arrangement) => (arrangement === 'apart' && n % 2 === 1 ? two : one)
  const numbers = Array.from({ length: organizations }, (_, n) => n)

  const seeded = { together: [] as Organization[], apart: [] as Organization[] }
  for (const [arrangement, held] of Object.entries(seeded))
    for (const n of numbers) {
      const home = homeOf(n, arrangement as Arrangement)
      const newOrganization = () => newOrganizationIn([one], home)
      held.push(await seed({ connection: home.server.connection, newOrganization }, { live: rowsEach }))
    }
  const ids = await customerIds([one.server.pool, two.server.pool])
  yield await compare(
    { name: patchCase, unit: 'changes/s', share: shares.patch, runs },
    { clients: patchers, seconds: patchSeconds },
    (arrangement) => {
      const request = patches(seeded[arrangement], ids, patchers)
      const load = { url: api.url, clients: patchers, status: 200, request }
      return limited.limited(shares.patch, async () => {
        const { perSecond, p50, p99 } = await drive({ ...load, seconds: patchSeconds })
        return { value: perSecond, p50, p99 }
      })
    },
  )

  const deliveries = organizations * backlogEach
  const delivering = { name: deliveryCase, unit: 'deliveries/s', share: shares.deliveries, runs }
  yield await compare(delivering, { deliveries, workers: 1 }, async (arrangement) => {
    for (const n of numbers) {
      const home = homeOf(n, arrangement)
      const { organizationId } = await newOrganizationIn([one], home)
      const urls = [`${receiver.origin}/${organizationId}`]
      const { pool } = home.server
      await plant(pool, {
        organizationId,
        encryptionKey,
        urls,
        backlog: backlogEach,
        now: Date.now(),
        bytes: 800,
      })
    }
    await receiver.reset(false)
    return limited.limited(shares.deliveries, async () => {
      const worker = await startService(dataDir, [...flags, '--role', 'worker'])
      try {
        return { value: await drained(receiver, deliveries) }
      } finally {
        await worker.stop()
      }
    })
  })
}

/** One and two databases, in alternating order, so that load on the machine affects both. */
async function compare(
  { name, unit, share, runs }: { name: string; unit: string; share: number; runs: number },
  conditions: Result['conditions'],
  measure: (arrangement: Arrangement) => Promise<Limited<Run>>,
): Promise<Result> {
  const measured: Record<Arrangement, Limited<Run>[]> = { together: [], apart: [] }
  for (let run = 0; run < runs; run++)
    for (const each of run % 2 === 0 ? (['together', 'apart'] as const) : (['apart', 'together'] as const))
      measured[each].push(await measure(each))
  const { together, apart } = measured
  const percent = (parts: readonly number[]) => `${Math.round(median(parts) * 100)} %`
  const all = {
    organizations,
    ...conditions,
    'share of each database': `${share} % of a core`,
    'used of it': `${percent(together.map(({ used }) => used[0] ?? 0))} by one, ${percent(apart.map(({ used }) => Math.min(...used)))} by each of two`,
    'idle of all cores': `${percent(together.map(({ idle }) => idle))} with one, ${percent(apart.map(({ idle }) => idle))} with two`,
    bare: 'all of them on one of the two',
  }
  return summarize(
    name,
    unit,
    all,
    apart.map(({ done }, run) => ({ ...done, baseline: together[run]?.done.value ?? 0 })),
  )
}

const organizationsEach = 4
const requestsEach = 20
const windowSeconds = 30
const awaySeconds = 30
/** Before the measurement, and before the kill within its window. */
const warmUpSeconds = 3
const killAfter = 1

const windows = ['before', 'while the other is away', 'after it is back'] as const
type Window = (typeof windows)[number]

interface Seen {
  readonly request: number[]
  readonly delivery: number[]
  readonly refused: number
  /** Of requests to organizations of the killed database. */
  readonly refusedThere: number
}

async function* killed(runs: number): AsyncGenerator<Result> {
  const measured: Record<Window, Seen>[] = []
  for (let run = 0; run < runs; run++) measured.push(await killing())
  for (const what of ['request', 'delivery'] as const)
    for (const window of windows) {
      const conditions = {
        'organizations of each database': organizationsEach,
        'requests/s of each organization': requestsEach,
        seconds: window === windows[1] ? killAfter + awaySeconds : windowSeconds,
        'refused of the others': measured.map((run) => run[window].refused).join(', '),
        'refused of those of the database that is killed': measured
          .map((run) => run[window].refusedThere)
          .join(', '),
        bare: 'p99 before',
      }
      const found = measured.map((run) => {
        const { p50, p99 } = percentiles(run[window][what])
        return { value: p99, p50, p99, baseline: percentiles(run.before[what]).p99 }
      })
      yield summarize(`databases: one killed: a ${what} of the other's, ${window}`, 'ms', conditions, found)
    }
}

async function killing(): Promise<Record<Window, Seen>> {
  await using stack = new AsyncDisposableStack()
  const { dataDir, remove } = await temporaryDirectory()
  stack.defer(remove)
  const [one, two] = [await openNamed(stack, dataDir, 'one'), await openNamed(stack, dataDir, 'two')]
  const receiver = stack.use(await startReceiver(dataDir))
  const flags = [...databasesFlag([one, two]), ...keyFlag, ...targetFlags(receiver)]
  const service = await startService(dataDir, [...flags, '--role', 'all'])
  stack.defer(() => service.stop())
  const of = async (home: DatabaseOfMany) => {
    const made: Organization[] = []
    for (let n = 0; n < organizationsEach; n++) {
      const organization = await newOrganizationIn([one], home)
      await register(service.url, organization, receiver, { count: 2, events: ['customer.created'] })
      made.push(organization)
    }
    return made
  }
  const [others, lost] = [await of(one), await of(two)]

  const see = async (seconds: number, meanwhile: () => Promise<void> = async () => {}): Promise<Seen> => {
    await receiver.reset(true)
    // Requests for the missing database hold up no others here.
    const connections = [others, lost].map(() => new Connections(service.url, { connections: 64 }))
    const lives = [others, lost].map((some, at) =>
      some.map(({ token }) => createNeighbour(connections[at] as Connections, token)),
    ) as [Neighbour[], Neighbour[]]
    const [here, there] = lives
    try {
      await Promise.all([live([...here, ...there], requestsEach, seconds), meanwhile()])
      const refused = (some: readonly Neighbour[]) => some.reduce((sum, each) => sum + each.refused(), 0)
      return {
        request: here.flatMap(({ waits }) => waits),
        delivery: await deliveriesOf(receiver, here, 2),
        refused: refused(here),
        refusedThere: refused(there),
      }
    } finally {
      for (const each of connections) await each.close()
    }
  }
  await see(warmUpSeconds)
  return {
    before: await see(windowSeconds),
    'while the other is away': await see(killAfter + awaySeconds, async () => {
      await delay(killAfter * 1_000)
      await two.server.kill()
    }),
    'after it is back': await see(windowSeconds, () => two.server.start()),
  }
}

const counts = [1, 10, 100]
const restSeconds = 10
const atRestSeconds = 20
/** Fewer than a process looks up at once for one network. */
const newTokens = 40
/** How often each is looked up again. */
const again = 5

/** Of the API, the worker and PostgreSQL at rest, and of the first requests. */
interface Cost {
  readonly listening: number
  readonly memory: Readonly<Record<'API' | 'worker', number>>
  /** In percent of a core. */
  readonly processor: Readonly<Record<'API' | 'worker' | 'PostgreSQL', number>>
  readonly connections: number
  readonly firstLookUps: readonly number[]
  readonly knownLookUps: readonly number[]
}

async function* hundred(runs: number): AsyncGenerator<Result> {
  let ofOne: readonly Cost[] | null = null
  for (const count of counts) {
    const costs = await costsOf(count, runs)
    ofOne ??= costs
    const one = ofOne
    const told = (
      what: string,
      unit: string,
      of: (cost: Cost) => Omit<Run, 'baseline'>,
      more: Result['conditions'] = {},
    ) => {
      const conditions = {
        databases: count,
        'PostgreSQL servers': 1,
        ...more,
        ...(count === 1 ? {} : { bare: 'with one database' }),
      }
      const measured = costs.map((cost, run) =>
        count === 1 ? of(cost) : { ...of(cost), baseline: of(one[run] as Cost).value },
      )
      return summarize(`databases: ${count === 1 ? 'one' : count}: ${what}`, unit, conditions, measured)
    }
    yield told('to listening', 's', (cost) => ({ value: cost.listening }))
    for (const name of ['API', 'worker'] as const)
      yield told(`resident memory of the ${name} at rest`, 'MB', (cost) => ({ value: cost.memory[name] }))
    for (const name of ['API', 'worker', 'PostgreSQL'] as const)
      yield told(
        `processor time of ${name === 'PostgreSQL' ? name : `the ${name}`} at rest`,
        '% of a core',
        (cost) => ({
          value: cost.processor[name],
        }),
      )
    yield told('connections at rest', 'connections', (cost) => ({ value: cost.connections }))
    const asked = (waits: readonly number[]) => ({ value: percentiles(waits).p50, ...percentiles(waits) })
    const looksUp =
      count === 1
        ? 'looked up in the one database, which is the directory too'
        : 'looked up in the directory, then in the database that this names'
    yield told(
      'a request with a token that is new to the process',
      'ms',
      (cost) => asked(cost.firstLookUps),
      { tokens: newTokens, 'each token': looksUp, pace: 'none: they come after a rest, one after the other' },
    )
    yield told('a request with a token that it knows', 'ms', (cost) => asked(cost.knownLookUps), {
      tokens: newTokens,
      requests: newTokens * again,
    })
  }
}

async function costsOf(count: number, runs: number): Promise<Cost[]> {
  await using many = await openMany(count)
  const flags = [...databasesFlag(many.databases), ...keyFlag]
  const startBoth = async () => {
    const api = await startService(many.dataDir, [...flags, '--role', 'api'])
    return { api, worker: await startService(many.dataDir, [...flags, '--role', 'worker']) }
  }
  const stop = ({ api, worker }: { api: RunningService; worker: RunningService }) =>
    Promise.all([api.stop(), worker.stop()])
  // The first start migrates each database.
  await stop(await startBoth())
  const costs: Cost[] = []
  for (let run = 0; run < runs; run++) {
    const both = await startBoth()
    try {
      costs.push(await costOf(many, both))
    } finally {
      await stop(both)
    }
  }
  return costs
}

async function costOf(
  { databases, connections, pid }: Awaited<ReturnType<typeof openMany>>,
  { api, worker }: { readonly api: RunningService; readonly worker: RunningService },
): Promise<Cost> {
  await delay(restSeconds * 1_000)
  const spent = () =>
    Promise.all([processorSeconds(api.pid), processorSeconds(worker.pid), processorSeconds(pid, true)])
  const before = await spent()
  await delay(atRestSeconds * 1_000)
  const after = await spent()
  const [ofApi = 0, ofWorker = 0, ofServer = 0] = after.map(
    (each, at) => ((each - (before[at] ?? 0)) / atRestSeconds) * 100,
  )
  const atRest = {
    listening: api.startedIn / 1_000,
    memory: { API: await api.residentMegabytes(), worker: await worker.residentMegabytes() },
    processor: { API: ofApi, worker: ofWorker, PostgreSQL: ofServer },
    connections: await connections(),
  }
  // Opens connections and makes plans before the measurement.
  await lookUps(api.url, databases, databases.length * 2)
  return { ...atRest, ...(await lookUps(api.url, databases, newTokens)) }
}

/** Requests one after another, with so many new tokens of all databases in turn, and then with the same tokens. */
async function lookUps(url: string, all: readonly [DatabaseOfMany, ...DatabaseOfMany[]], count: number) {
  const made: Organization[] = []
  for (let n = 0; n < count; n++)
    made.push(await newOrganizationIn(all, all[n % all.length] as DatabaseOfMany))
  const client = await connectPlain(url)
  const ask = async (organizations: readonly Organization[]) => {
    const waits: number[] = []
    for (const organization of organizations) {
      const since = performance.now()
      const status = await client.send({
        method: 'GET',
        path: '/v1/api-keys/self',
        headers: headersOf(organization),
      })
      waits.push(performance.now() - since)
      if (status !== 200) throw new Error(`a token was answered ${status}`)
    }
    return waits
  }
  try {
    return { firstLookUps: await ask(made), knownLookUps: await ask(Array(again).fill(made).flat()) }
  } finally {
    client.destroy()
  }
}

const inDirectory = 1_000_000
const lookUpSeconds = 5

async function* directory(runs: number): AsyncGenerator<Result> {
  await using filled = await fillDirectory(inDirectory)
  const held = { organizations: inDirectory, tokens: inDirectory }
  const sizes = {
    'an organization': await filled.bytesOfOrganization(),
    'a token': await filled.bytesOfToken(),
  }
  for (const [what, value] of Object.entries(sizes))
    yield summarize(`databases: directory: ${what}, with its indexes`, 'bytes', held, [{ value }])
  for (const together of [1, 20]) {
    const measured: Run[] = []
    for (let run = 0; run < runs; run++) measured.push(await filled.lookUps(together, lookUpSeconds))
    const how = together === 1 ? 'one token at a time' : `${together} tokens at a time`
    const conditions = { ...held, seconds: lookUpSeconds, connections: 1, 'p50 and p99': 'of a question' }
    yield summarize(
      `databases: directory: look-ups, ${how}`,
      '/s of a core of PostgreSQL',
      conditions,
      measured,
    )
  }
}

function targetFlags({ caFile }: BenchReceiver): readonly string[] {
  return ['--trusted-targets', '127.0.0.0/8', '--target-ca', caFile]
}
