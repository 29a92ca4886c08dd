/** Releases of a desk beside each other on one database, and what tests ask of them. */
import type { Pool } from 'pg'
import { type TestDatabase, testDatabase } from '../../../testbed/database.ts'
import { type Follower, follow, recordOf } from '../../../testbed/follower.ts'
import { type Api, type TestService, testService } from '../../../testbed/service.ts'
import { migrate } from '../../src/db/migrate.ts'
import { systemClock } from '../../src/kernel/timestamps.ts'
import { type Backfill, createBackfill } from '../../src/kinds/model/backfill.ts'
import type { Kind } from '../../src/kinds/model/kind.ts'
import { schemaOf } from '../../src/schema.ts'
import { deskWith, parcel } from './parcel.fixture.ts'

interface Releases extends AsyncDisposable {
  readonly database: TestDatabase
  /** The first release, with an organization. */
  readonly older: TestService
  readonly api: Api
  /** Another release, which brings the schema to what it needs. */
  upgradeTo(release: Kind): Promise<Release>
}

interface Release {
  readonly service: TestService
  /** The first organization's key, at this release. */
  readonly api: Api
  readonly backfill: Backfill
  /** The lines that the backfill logged. */
  readonly logged: readonly string[]
}

/** `await using releases = await startRelease()`: the first release of the kind, serving. */
export async function startRelease(): Promise<Releases> {
  const database = await testDatabase()
  await migrate(database.pool, schemaOf(deskWith(parcel)))
  const older = await testService({ database, kinds: deskWith(parcel) })
  const stack = new AsyncDisposableStack()
  stack.use(database)
  stack.use(older)
  return {
    database,
    older,
    api: older.api,
    async upgradeTo(release) {
      const kinds = deskWith(release)
      await migrate(database.pool, schemaOf(kinds))
      const service = stack.use(await testService({ database, kinds }))
      const logged: string[] = []
      return {
        service,
        api: service.withToken(older.api.token),
        backfill: backfillOf(database.pool, kinds, logged),
        logged,
      }
    },
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  }
}

/** A backfill of these kinds, on a database that has what they need. */
export function backfillOf(pool: Pool, kinds: readonly Kind[], logged: string[] = []): Backfill {
  const line = (_: object, message: string) => logged.push(message)
  const log = { info: line, warn: line } as unknown as Parameters<typeof createBackfill>[0]['log']
  return createBackfill({
    pool,
    kinds,
    commitFunction: schemaOf(kinds).commitFunction,
    clock: systemClock,
    log,
  })
}

/** So many parcels of an organization, made in batches; their ids. */
export async function makeParcels(
  api: Api,
  count: number,
  body: (n: number) => object = (n) => ({ title: `Parcel ${n}`, colour: 'red' }),
): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) {
    const size = Math.min(1_000, count - ids.length)
    const items = Array.from({ length: size }, (_, n) => body(ids.length + n))
    const { status, json, text } = await api.post('/v1/parcels/batch', { items })
    if (status !== 200 || json.created !== size) throw new Error(text)
    ids.push(...json.data.map(({ id }: { id: string }) => id))
  }
  return ids
}

/** How many rows there are of each version that exist. */
export async function versionsOf(pool: Pool): Promise<Record<number, number>> {
  const { rows } = await pool.query<{ body_version: number; count: number }>(
    `select p.body_version, count(*)::int as count from parcels p
       where p.removed_at is null group by p.body_version order by p.body_version`,
  )
  return Object.fromEntries(rows.map(({ body_version, count }) => [body_version, count]))
}

/** A client that keeps a copy of all parcels, and says what is wrong with what it is sent. */
export function followParcels(api: Api, limit = 100): Follower {
  return follow<string>(async (cursor) => {
    const from = cursor === null ? 'updatedAfter=1970-01-01T00:00:00Z' : `cursor=${cursor}`
    const { status, json, text } = await api.get(`/v1/parcels?limit=${limit}&${from}`)
    if (status !== 200) throw new Error(text)
    const { nextCursor, checkpoint } = json.pagination
    const records = (json.data as object[]).map((shown) => recordOf(JSON.stringify(shown)))
    return { records, next: nextCursor, checkpoint: checkpoint ?? null }
  })
}

/** Faults in what readers saw: the same stamp of an object with other bytes. */
export function bytesWithoutStamp(
  seen: Iterable<{ readonly id: string; readonly at: string; readonly body: string }>,
) {
  const bodies = new Map<string, string>()
  const faults: string[] = []
  for (const { id, at, body } of seen) {
    const known = bodies.get(`${id} ${at}`)
    if (known !== undefined && known !== body) faults.push(`${known} became ${body}`)
    bodies.set(`${id} ${at}`, body)
  }
  return faults
}

/** Rows, digest and bytes as they are counted, and as they are. */
export async function counted(pool: Pool, organizationId: string) {
  const { rows } = await pool.query<{ live: string; bytes: string; liveReal: string; bytesReal: string }>(
    `select k.live_count as live, k.stored_bytes as bytes, r.live as "liveReal", r.bytes as "bytesReal"
       from kind_counters k cross join (select count(*) as live, sum(octet_length(p.body)) as bytes from parcels p
         where p.organization_id = $1 and p.removed_at is null) r
       where k.organization_id = $1 and k.kind = 'parcel'`,
    [organizationId],
  )
  return rows[0]
}
