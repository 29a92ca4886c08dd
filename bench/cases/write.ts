/** Changes over HTTP, compared with the bare commit function on the same database. */
import { maxClockSkew } from '../../packages/service/src/journal/commit-protocol.ts'
import {
  bareBatch,
  bareCalls,
  bareCreations,
  bareUpdates,
  commitBare,
  newPatch,
  newSearchedPatch,
} from '../harness/bare-commit.ts'
import { install, type Organization } from '../harness/installation.ts'
import { drive } from '../harness/load.ts'
import { customerIds, headersOf, patches } from '../harness/patches.ts'
import type { PlainRequest } from '../harness/plain-client.ts'
import { type Result, type Run, runOf, summarize } from '../harness/report.ts'
import type { Scale } from '../harness/scale.ts'
import { type Seeded, seed } from '../harness/seed.ts'
import { changeWithoutHttp } from '../harness/without-http.ts'

const seconds = 3
/** Changes in a run of the bare loop. */
const bareChanges = 30_000
const bare = `commit function, calls of ${bareBatch}, ${bareCalls} at once`

export async function* write({ runs }: Scale): AsyncGenerator<Result> {
  await using installation = await install()
  const { url } = installation.service
  const one = await seed(installation, { live: 40_000 })
  const many: Seeded[] = []
  for (let n = 0; n < 64; n++) many.push(await seed(installation, { live: 500 }))
  const ids = await customerIds([installation.pool])

  for (const [clients, patch, what] of [
    [64, newPatch, 'PATCH'],
    [16, newPatch, 'PATCH'],
    [64, newSearchedPatch, 'PATCH of an attribute'],
  ] as const) {
    const load = { url, clients, status: 200, request: patches([one], ids, clients, patch) }
    await drive({ ...load, seconds: 1 })
    const results: Run[] = []
    for (let run = 0; run < runs; run++) {
      const changes = await bareUpdates(installation, one.organizationId, bareChanges, patch)
      const baseline = await commitBare(installation, one.organizationId, changes)
      results.push(runOf(await drive({ ...load, seconds }), baseline))
    }
    const conditions = { organizations: 1, clients, rows: one.live, seconds, bare }
    yield summarize(`write: ${what}, one organization, ${clients} clients`, 'changes/s', conditions, results)
  }

  for (const [organizations, callers] of [
    [[one], 64],
    [[one], 16],
    [many, 64],
  ] as const) {
    const results: Run[] = []
    for (let run = 0; run < runs; run++) {
      const value = await changeWithoutHttp(installation, organizations, ids, { callers, seconds })
      const changes = await bareUpdates(installation, one.organizationId, bareChanges)
      const baseline = await commitBare(installation, one.organizationId, changes)
      results.push({ value, baseline })
    }
    const what = organizations.length === 1 ? 'one organization' : `${organizations.length} organizations`
    const conditions = { organizations: organizations.length, callers, seconds, bare }
    yield summarize(
      `write: PATCH without HTTP, ${what}, ${callers} callers`,
      'changes/s',
      conditions,
      results,
    )
  }

  {
    const clients = 64
    const load = { url, clients, status: 200, request: patches(many, ids, clients) }
    await drive({ ...load, seconds: 1 })
    const results: Run[] = []
    for (let run = 0; run < runs; run++) results.push(runOf(await drive({ ...load, seconds })))
    const conditions = { organizations: many.length, clients, rows: 500 * many.length, seconds, endpoints: 0 }
    yield summarize('write: PATCH, 64 organizations, 64 clients', 'changes/s', conditions, results)
  }

  {
    const clients = 64
    const load = { url, clients, status: 201, request: () => creation(one) }
    await drive({ ...load, seconds: 1 })
    const results: Run[] = []
    for (let run = 0; run < runs; run++) {
      const changes = bareCreations(one.organizationId, bareChanges / 2, newCustomer)
      const baseline = await commitBare(installation, one.organizationId, changes)
      results.push(runOf(await drive({ ...load, seconds }), baseline))
    }
    const conditions = { organizations: 1, clients, rows: one.live, seconds, bare }
    yield summarize('write: POST, one organization, 64 clients', 'changes/s', conditions, results)
  }

  {
    const results: Run[] = []
    for (let run = 0; run < runs; run++) {
      const commit = async (lead: number | null) => {
        const changes = await bareUpdates(installation, one.organizationId, bareChanges)
        return commitBare(installation, one.organizationId, changes, lead)
      }
      // In alternating order, so that the table's state affects both alike.
      const first = run % 2 === 0 ? maxClockSkew : null
      const [before, after] = [await commit(first), await commit(first === null ? maxClockSkew : null)]
      const [value, baseline] = first === null ? [after, before] : [before, after]
      results.push({ value, baseline })
    }
    const conditions = { changes: bareChanges, calls: `of ${bareBatch}`, bare: 'the same without asking' }
    yield summarize('write: bare commits that ask for the lead', 'changes/s', conditions, results)
  }

  const resident = await installation.service.residentMegabytes()
  yield summarize('memory: resident after the write cases', 'MB', { database: 'apart' }, [
    { value: resident },
  ])
}

function creation(organization: Organization): PlainRequest {
  const body = JSON.stringify(newCustomer())
  return { method: 'POST', path: '/v1/customers', headers: headersOf(organization), body }
}

let customers = 0

function newCustomer() {
  const n = ++customers
  return {
    name: `Grace Hopper ${n}`,
    company: 'Compilers Limited',
    email: `grace.${n}@example.com`,
    phone: null,
    locale: 'en-US',
    timezone: 'America/New_York',
    externalId: `new-${n}`,
    tags: ['vip', 'newsletter'],
    customAttributes: { plan: 'team', seats: 25 },
  }
}
