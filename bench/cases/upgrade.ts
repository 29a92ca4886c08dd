/**
 * The backfill of 100,000 customers after a change of their kind, alone, and with writers of the same and of another
 * organization and a client that syncs. The API is of the release before.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { migrate } from '../../packages/service/src/db/migrate.ts'
import { schemaOf } from '../../packages/service/src/schema.ts'
import { type Installation, install, type Organization } from '../harness/installation.ts'
import { percentiles } from '../harness/load.ts'
import { type Result, type Run, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { assertExact, seed } from '../harness/seed.ts'
import { upgradedKinds } from '../harness/upgraded-customer.ts'

const live = 100_000
/** In milliseconds, for the others without the backfill. */
const quiet = 10_000

export async function* upgrade({ runs }: Scale): AsyncGenerator<Result> {
  const alone: Run[] = []
  const beside: Run[] = []
  const waits = new Map<string, Run[]>()
  const index: Run[] = []
  for (let run = 0; run < runs; run++) {
    for (const withOthers of [false, true]) {
      await using installation = await install(['--role', 'api'])
      const organization = await seed(installation, { live })
      index.push({ value: await prepare(installation) })
      const others = withOthers ? await startOthers(installation, organization) : null
      if (others !== null)
        for (const [who, waited] of await others.during(quiet)) add(`${who}, without it`, waited)
      const perSecond = await upgradeAll(installation)
      ;(withOthers ? beside : alone).push({ value: perSecond })
      if (others !== null) for (const [who, waited] of await others.stop()) add(who, waited)
      // The writer has a row of its own.
      await assertExact(installation, { ...organization, live: live + (withOthers ? 1 : 0) })
    }
  }
  const conditions = { rows: live }
  yield summarize('upgrade: the index that finds 100k rows', 'ms', conditions, index)
  yield summarize('upgrade: 100k customers', 'rows/s', conditions, alone)
  yield summarize('upgrade: 100k customers, beside writers and a reader', 'rows/s', conditions, beside)
  for (const [who, longest] of waits)
    yield summarize(`upgrade: longest wait of ${who}`, 'ms', conditions, longest)

  function add(who: string, waited: readonly number[]): void {
    const known = waits.get(who) ?? []
    waits.set(who, [...known, { value: Math.max(...waited), ...percentiles(waited) }])
  }
}

/** Migrates to the release; returns the migration's milliseconds. */
async function prepare({ pool }: Installation): Promise<number> {
  const since = performance.now()
  await migrate(pool, schemaOf(upgradedKinds))
  return performance.now() - since
}

const program = fileURLToPath(new URL('../harness/upgrade-process.ts', import.meta.url))

/** Rows a second. */
async function upgradeAll({ connection }: Installation): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(connection)])
  const { rows, milliseconds } = JSON.parse(stdout) as { rows: number; milliseconds: number }
  // The writers' release upgrades no rows.
  if (rows < live) throw new Error(`of ${live} rows ${rows} were upgraded`)
  return rows / (milliseconds / 1000)
}

type Waits = Iterable<readonly [who: string, waited: readonly number[]]>

/** Clients in a closed loop; each returns its waits since the last call, in milliseconds. */
async function startOthers({ service, newOrganization }: Installation, organization: Organization) {
  const another = await newOrganization()
  const clients = new Map([
    ["the organization's writer", await writer(service.url, organization)],
    ["another organization's writer", await writer(service.url, another)],
    ['a page of the sync', reader(service.url, organization)],
  ])
  const waits = new Map([...clients.keys()].map((who) => [who, [] as number[]]))
  let going = true
  const loops = [...clients].map(async ([who, ask]) => {
    while (going) {
      const since = performance.now()
      await ask()
      waits.get(who)?.push(performance.now() - since)
    }
  })
  const taken = (): Waits => [...waits].map(([who, waited]) => [who, waited.splice(0)] as const)
  return {
    async during(milliseconds: number): Promise<Waits> {
      taken()
      await new Promise((resolve) => setTimeout(resolve, milliseconds))
      return taken()
    },
    async stop(): Promise<Waits> {
      going = false
      await Promise.all(loops)
      return taken()
    },
  }
}

/** Changes a row of its own repeatedly. */
async function writer(url: string, organization: Organization): Promise<() => Promise<unknown>> {
  const { id } = await call(url, organization, 'POST', '/v1/customers', { name: 'Grace' })
  let n = 0
  const patch = () => call(url, organization, 'PATCH', `/v1/customers/${id}`, { name: `Grace ${n++}` })
  for (let warm = 0; warm < 50; warm++) await patch()
  return patch
}

/** Follows the organization's customers, and starts again when it has caught up. */
function reader(url: string, organization: Organization): () => Promise<unknown> {
  const first = 'updatedAfter=1970-01-01T00:00:00Z'
  let from = first
  return async () => {
    const { pagination } = await call(url, organization, 'GET', `/v1/customers?limit=100&${from}`)
    from = pagination.hasMore ? `cursor=${pagination.nextCursor}` : first
  }
}

interface Answer {
  readonly id: string
  readonly pagination: { readonly hasMore: boolean; readonly nextCursor: string }
}

async function call(
  url: string,
  { token }: Organization,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}
