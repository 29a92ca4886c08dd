/** Checks the database, without changing it; it may have no schema yet. */
import { EmbeddedDatabaseError } from '@deskwire/embedded-postgres'
import type { Pool } from 'pg'
import { differingSettings } from '../db/client.ts'
import { explainDatabaseFailure } from '../db/failure.ts'
import { encodingAdvice, oldestServer, wrongEncoding } from '../db/migrate.ts'
import { unknownMigrations, unreleasedAdvice } from '../db/migration.ts'
import { connections, type DatabaseSettings } from '../db/open.ts'
import { judgeSessions, observeSessions, PoolerError, requireSessions } from '../db/pooler.ts'
import { storedForMilliseconds } from '../idempotency/stored-responses.ts'
import { type Clock, formatTimestamp, stopwatch } from '../kernel/timestamps.ts'
import { endedLogWeeks, missingLogWeeks, weeksText } from '../retention/log-weeks.ts'
import { schemaOf } from '../schema.ts'
import { type Finding, failedAsTheStart, findingsOf } from './finding.ts'

/** Milliseconds: each request makes several round trips. */
const farAway = 5

/** Address, identity and durability of the server. @throws when the first statement fails. */
export async function checkServer(pool: Pool): Promise<readonly Finding[]> {
  const finding = findingsOf('database')
  const { rows } = await pool.query<{
    number: string
    version: string
    standby: boolean
    read_only: string
    fsync: string
    synchronous: string
    full_pages: string
    encoding: string
    name: string
    bytes: string
  }>(
    `select current_setting('server_version_num') as number, current_setting('server_version') as version,
       pg_is_in_recovery() as standby, current_setting('transaction_read_only') as read_only,
       current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous,
       current_setting('full_page_writes') as full_pages, current_database() as name,
       current_setting('server_encoding') as encoding, pg_size_pretty(pg_database_size(current_database())) as bytes`,
  )
  const [server] = rows
  if (server === undefined) throw new Error('the server said nothing of itself')
  const findings: Finding[] = []
  if (Number(server.number) < oldestServer * 10_000) {
    return [
      finding.failed(
        `the server is PostgreSQL ${server.version}`,
        `upgrade it to ${oldestServer} or later, or use another`,
      ),
    ]
  }
  if (server.standby || server.read_only === 'on') {
    findings.push(
      finding.failed(
        server.standby ? 'it is a standby' : 'its sessions may only read',
        'name the primary in DESKWIRE_DATABASE_URL, with a role whose default_transaction_read_only is off',
      ),
    )
  }
  if (server.encoding !== 'UTF8')
    findings.push(finding.failed(wrongEncoding(server.encoding), encodingAdvice))
  const off = [
    ['fsync', server.fsync],
    ['synchronous_commit', server.synchronous],
    ['full_page_writes', server.full_pages],
  ].flatMap(([name, value]) => (value === 'off' ? [name] : []))
  if (off.length > 0) {
    findings.push(
      finding.warning(
        `${off.join(' and ')} ${off.length === 1 ? 'is' : 'are'} off: what was acknowledged can be lost with the machine`,
        'set to on for this role and database; a copy outside can have what the database lost then',
      ),
    )
  }
  for (const { name, value, needed } of await differingSettings(pool)) {
    findings.push(
      finding.failed(
        `${name} is ${value} in its sessions, and Deskwire needs ${needed}`,
        `alter role … reset ${name}, or alter database … reset ${name}, wherever it is set; no connection can set it otherwise`,
      ),
    )
  }
  const took = await roundTrip(pool)
  const seen = `PostgreSQL ${server.version}, database ${server.name} of ${server.bytes}, answers within ${took.toFixed(1)} ms`
  if (took > farAway) {
    findings.push(
      finding.warning(
        seen,
        'run the service closer to it: each request asks it several times, one after the other',
      ),
    )
  }
  return findings.length === 0 ? [finding.ok(seen)] : findings
}

async function roundTrip(pool: Pool): Promise<number> {
  const elapsed = stopwatch()
  let best = Number.POSITIVE_INFINITY
  for (let n = 0; n < 5; n++) {
    const began = elapsed()
    await pool.query('select 1')
    best = Math.min(best, elapsed() - began)
  }
  return best
}

/** A pooler between service and server; null for the embedded database. A failure here also prevents a start. */
export async function checkPooler(config: DatabaseSettings): Promise<Finding | null> {
  const { databaseUrl: url, databaseDirectUrl } = config
  if (url === null) return null
  const finding = findingsOf('pooler')
  try {
    await requireSessions({ url, directUrl: databaseDirectUrl ?? undefined })
    const sessions = judgeSessions(await observeSessions({ url }))
    if (sessions === 'direct') return finding.ok('none: DESKWIRE_DATABASE_URL leads to PostgreSQL itself')
    return sessions === 'kept'
      ? finding.ok('something stands in between that keeps sessions')
      : finding.ok('one that keeps no sessions, and DESKWIRE_DATABASE_DIRECT_URL leads past it')
  } catch (error) {
    if (!(error instanceof PoolerError)) throw error
    return failedAsTheStart('pooler', error.message)
  }
}

/** Maximum connections of a process in each role: API and worker. */
const ofAProcess = connections + 7 + 15

export async function checkConnections(pool: Pool): Promise<Finding> {
  const finding = findingsOf('connections')
  const { rows } = await pool.query<{ most: number; used: number; own: number }>(
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
       (select sum(d.numbackends)::int - 1 from pg_stat_database d) as used,
       (select count(*)::int from pg_stat_activity a where a.application_name like 'deskwire%'
          and a.datname = current_database() and a.pid <> pg_backend_pid()) as own`,
  )
  const { most, used, own } = rows[0] ?? { most: 0, used: 0, own: 0 }
  const seen = `${used} of ${most} are in use, ${own} by Deskwire`
  return most - used < ofAProcess
    ? finding.warning(
        seen,
        `raise max_connections: an API with a worker beside it opens up to ${ofAProcess}, and one that finds none answers 503`,
      )
    : finding.ok(seen)
}

export async function checkRole(pool: Pool): Promise<Finding> {
  const finding = findingsOf('role')
  const { rows } = await pool.query<{
    role: string
    is_super: boolean
    schema: string | null
    may_create: boolean | null
    foreign: string[]
  }>(
    `select current_user::text as role, current_setting('is_superuser') = 'on' as is_super, current_schema()::text as schema,
       has_schema_privilege(current_schema()::text, 'create')
         and has_schema_privilege(current_schema()::text, 'usage') as may_create,
       array(select c.relname::text from pg_class c where c.relnamespace = current_schema()::regnamespace
           and c.relkind in ('r', 'p') and not pg_has_role(c.relowner, 'usage') order by c.relname limit 3) as foreign`,
  )
  const [row] = rows
  if (row === undefined || row.schema === null)
    return finding.failed(
      'no schema is there that the role may use',
      'grant usage, create on schema public to the role in DESKWIRE_DATABASE_URL, or have it own the database',
    )
  const { role, schema } = row
  if (!row.may_create)
    return finding.failed(
      `${role} may not create in the schema ${schema}`,
      `grant usage, create on schema ${schema} to ${role}, or have it own the database`,
    )
  if (row.foreign.length > 0)
    return finding.failed(
      `${row.foreign.join(', ')} in the schema ${schema} belong to another role than ${role}`,
      `have ${role} own all tables and functions of it (reassign owned by …), or use a schema or database of its own`,
    )
  if (row.is_super)
    return finding.warning(
      `${role} is a superuser`,
      'give the service a role of its own that owns the database and nothing else',
    )
  return finding.ok(`${role} may create in the schema ${schema} and owns what is there`)
}

export async function checkMigrations(pool: Pool): Promise<Finding> {
  const finding = findingsOf('migrations')
  const { migrations } = schemaOf()
  if (!(await hasSchema(pool)))
    return finding.warning('there is no schema yet', 'start the service, or run deskwire migrate')
  const { rows } = await pool.query<{ id: string }>('select m.id from schema_migrations m order by m.id')
  const applied = new Set(rows.map(({ id }) => id))
  const unknown = unknownMigrations({ migrations }, applied)
  if (unknown?.areUnreleased)
    return finding.failed('the database was made before the first release', unreleasedAdvice)
  if (unknown !== null)
    return finding.failed(
      `the database is newer than this release: it holds ${unknown.ids.join(', ')}`,
      'use the release that made it, or a newer one',
    )
  const missing = migrations.map(({ id }) => id).filter((id) => !applied.has(id))
  if (missing.length > 0)
    return finding.warning(
      `${missing.length} of ${migrations.length} are still to be applied, ${missing.sort()[0]} first`,
      'start the service, or run deskwire migrate beforehand: see docs/guides/upgrading.md',
    )
  return finding.ok(`all ${migrations.length} are applied`)
}

export async function checkLog(pool: Pool, clock: Clock): Promise<Finding> {
  const finding = findingsOf('log')
  const missing = await missingLogWeeks(pool, clock.now())
  return missing.length === 0
    ? finding.ok('its partitions are there, for this week and the next two')
    : finding.warning(
        `partitions are missing: ${weeksText(missing)}`,
        'start the service, which makes them and tries again every ten minutes; if they stay missing, its log says so',
      )
}

/** How long maintenance may take for what is due, in milliseconds: it runs every ten minutes. */
const maintenanceWithin = 24 * 60 * 60 * 1000

/** `retention`: how far back the delivery log goes, in milliseconds. */
export async function checkMaintenance(pool: Pool, clock: Clock, retention: number): Promise<Finding> {
  const finding = findingsOf('maintenance')
  const since = clock.now() - maintenanceWithin
  const { rows } = await pool.query<{ what: string }>(
    `select 'payloads of removed objects' as what where exists (select 1 from erasures e where e.removed_at <= $1)
     union all select 'responses' where exists (select 1 from idempotency_keys k where k.created_at <= $2)`,
    [formatTimestamp(since), formatTimestamp(since - storedForMilliseconds)],
  )
  const weeks = weeksText(await endedLogWeeks(pool, since, retention))
  const overdue = [...rows.map(({ what }) => what), ...(weeks === '' ? [] : [weeks])]
  return overdue.length === 0
    ? finding.ok('nothing is stored for longer than it should be')
    : finding.warning(
        `still stored, a day after it was due to be removed: ${overdue.join(', ')}`,
        'start the service, which removes it; if it stays, the log says which step of maintenance fails, and why',
      )
}

export async function hasSchema(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ there: boolean }>(
    `select to_regclass('schema_migrations') is not null and to_regclass('installation') is not null as there`,
  )
  return rows[0]?.there === true
}

/** Milliseconds. Receivers accept signatures that are up to five minutes off; half of that is for their own clocks. */
const clockLimits = { warning: 2_000, failed: 120_000 }

/** Compares the database's clock, which the service uses, with this machine's; `clock` is the database's. */
export function checkClock(clock: Clock, machine: Clock): Finding {
  const finding = findingsOf('clock')
  const skew = clock.now() - machine.now()
  const seen = `the database's is ${seconds(skew)} s ${skew < 0 ? 'behind' : 'ahead of'} this machine's`
  const advice =
    'have a time service set both: the database server stamps changes and signatures, and receivers refuse what is five minutes off'
  if (Math.abs(skew) >= clockLimits.failed) return finding.failed(seen, advice)
  if (Math.abs(skew) >= clockLimits.warning) return finding.warning(seen, advice)
  return finding.ok(seen)
}

/** The lead that the alert DeskwireClockAhead reports. Milliseconds. */
const streamLead = 5_000

/** Whether stamps are ahead of the database's clock, as after it was set back; null when they are not. */
export async function checkStreamClock(pool: Pool, clock: Clock): Promise<Finding | null> {
  const { rows } = await pool.query<{ organizations: number; ahead: number }>(
    `select count(*)::int as organizations, max(extract(epoch from c.last_stamp) * 1000)::float8 as ahead
      from clocks c where c.last_stamp > to_timestamp($1::float8 / 1000)`,
    [clock.now() + streamLead],
  )
  const { organizations = 0, ahead = 0 } = rows[0] ?? {}
  if (organizations === 0) return null
  return findingsOf('clock').warning(
    `changes of ${organizations === 1 ? '1 organization' : `${organizations} organizations`} have times up to ${seconds(ahead - clock.now())} s ahead of the database's clock, which was set back or restored`,
    'see that a time service sets it; nothing is lost: until it has caught up, changes get times a millisecond apart',
  )
}

function seconds(milliseconds: number): string {
  return (Math.abs(milliseconds) / 1000).toFixed(1)
}

/** A finding for an error that the operator can fix; null for others. */
export function findingOfFailure(error: unknown): Finding | null {
  if (error instanceof PoolerError) return failedAsTheStart('pooler', error.message)
  const line = error instanceof EmbeddedDatabaseError ? error.message : explainDatabaseFailure(error)
  return line === null ? null : failedAsTheStart('database', line)
}
