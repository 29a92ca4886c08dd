/** What must hold of deliveries when no work is left. Returns what does not. */
import type { Pool } from 'pg'
import { type Arrival, faultOf, type Hook } from './arrivals.ts'
import { eventsOf } from './audit.ts'
import { recordOf } from './follower.ts'
import type { Acknowledged } from './load.ts'

/** Stores every committed representation in a table of the test's own, as events lose those of removed objects. */
export async function witness(pool: Pool): Promise<void> {
  await pool.query(
    `create table witnessed (event_id uuid not null, subject_id uuid not null, body text not null)`,
  )
  await pool.query(`create function witness() returns trigger language plpgsql as $$ begin
    insert into witnessed values (new.id, new.subject_id, new.body); return new; end $$`)
  await pool.query(`create trigger witness after insert on events for each row execute function witness()`)
}

interface DeliveryState {
  readonly webhook_id: string
  readonly event_id: string
  readonly status: string
  readonly last_error_code: string | null
  readonly attempt_count: number
  readonly attempts: number
}

/** Of one organization with these endpoints. */
export async function auditDeliveries(
  pool: Pool,
  seen: {
    readonly organizationId: string
    readonly hooks: readonly Hook[]
    readonly arrivals: readonly Arrival[]
    readonly acknowledged: readonly Acknowledged[]
  },
): Promise<string[]> {
  const { organizationId, hooks, acknowledged } = seen
  const arrivals = seen.arrivals.filter(({ endpoint }) => hooks.some(({ name }) => name === endpoint))
  const [events, deliveries, removed, bodies] = await Promise.all([
    eventsOf(pool, organizationId),
    deliveriesOf(pool, organizationId),
    removedOf(pool, organizationId),
    witnessed(pool),
  ])
  const arrived = new Set(arrivals.filter(succeeded).map(({ endpoint, eventId }) => `${endpoint} ${eventId}`))
  const known = new Map(events.map((event) => [event.id, event]))
  const problems: string[] = []

  // Every subscribed event has one delivery for each endpoint, and it arrived.
  const places = new Set<string>()
  for (const event of events) {
    for (const hook of hooks.filter((one) => one.events.includes(event.type))) {
      const key = `${hook.id} ${event.id}`
      places.add(key)
      const found = deliveries.get(key)
      const unavailable = found?.status === 'failed' && found.last_error_code === 'subject_unavailable'
      if (unavailable && removed.has(event.subject_id) && !event.type.endsWith('.deleted')) continue
      if (found?.status !== 'succeeded')
        problems.push(`${event.type} for ${hook.name}: ${JSON.stringify(found)}`)
      else if (!arrived.has(`${hook.name} ${event.id}`))
        problems.push(`${event.id} never arrived at ${hook.name}`)
    }
  }
  for (const [key, { attempt_count, attempts }] of deliveries) {
    if (!places.has(key)) problems.push(`a delivery without its event or subscription: ${key}`)
    if (attempt_count !== attempts)
      problems.push(`${key}: ${attempt_count} attempts counted, ${attempts} logged`)
  }

  // Every acknowledged change has such an event.
  const told = new Set(
    events.map(({ subject_id, type, at }) => `${subject_id} ${type.endsWith('.deleted') ? 'removed' : at}`),
  )
  for (const { id, body } of acknowledged) {
    const version = `${id} ${body === null ? 'removed' : recordOf(body).at}`
    if (!told.has(version)) problems.push(`no event of ${version}`)
  }

  // Every arrival is signed, was committed, and shows its subject as it was at some time.
  for (const arrival of arrivals) {
    const hook = hooks.find(({ name }) => name === arrival.endpoint)
    const event = known.get(arrival.eventId)
    if (hook === undefined || event === undefined) {
      problems.push(`${arrival.eventId} at ${arrival.endpoint} was never committed`)
      continue
    }
    const fault = await faultOf(arrival, hook)
    if (fault !== null) problems.push(fault)
    const data =
      /^\{"id":"[^"]+","type":"([^"]+)","apiVersion":"v1","createdAt":"([^"]+)","organizationId":"([^"]+)","data":(.*)\}$/s.exec(
        arrival.body.toString('utf8'),
      )
    if (data?.[1] !== event.type || data[2] !== event.at || data[3] !== organizationId)
      problems.push(`${arrival.eventId} is in another envelope: ${data?.slice(1, 4)}`)
    if (!bodies.has(`${event.subject_id} ${data?.[4]}`))
      problems.push(`${arrival.eventId} shows ${data?.[4]}`)
  }
  return problems
}

function succeeded({ status }: Arrival): boolean {
  return status !== null && status < 300
}

/** All attempts: the last of a delivery is in its own row, earlier ones in theirs. */
const attemptsMade = `(select organization_id, delivery_id, number from attempts
  union select organization_id, id, attempt_count from deliveries where attempt_count > 0)`

async function deliveriesOf(pool: Pool, organizationId: string): Promise<Map<string, DeliveryState>> {
  const { rows } = await pool.query<DeliveryState>(
    `select d.webhook_id, d.event_id, d.status, d.last_error_code, d.attempt_count,
        (select count(*)::int from ${attemptsMade} a where a.organization_id = $1 and a.delivery_id = d.id) as attempts
       from deliveries d where d.organization_id = $1`,
    [organizationId],
  )
  return new Map(rows.map((row) => [`${row.webhook_id} ${row.event_id}`, row]))
}

async function removedOf(pool: Pool, organizationId: string): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>(
    `select c.id from customers c where c.organization_id = $1 and c.removed_at is not null
     union all select t.id from tickets t where t.organization_id = $1 and t.removed_at is not null`,
    [organizationId],
  )
  return new Set(rows.map(({ id }) => id))
}

async function witnessed(pool: Pool): Promise<Set<string>> {
  const { rows } = await pool.query<{ subject_id: string; body: string }>(
    'select w.subject_id, w.body from witnessed w',
  )
  return new Set(rows.map(({ subject_id, body }) => `${subject_id} ${body}`))
}

/** Arrivals of each delivery without an attempt in the log: sent by a worker that could not complete them. */
export async function unsettled(
  pool: Pool,
  seen: {
    readonly organizationId: string
    readonly hooks: readonly Hook[]
    readonly arrivals: readonly Arrival[]
  },
): Promise<Map<string, number>> {
  const left = new Map<string, number>()
  for (const [key, { attempts }] of await deliveriesOf(pool, seen.organizationId)) left.set(key, attempts)
  const beyond = new Map<string, number>()
  for (const { endpoint, eventId } of seen.arrivals) {
    const hook = seen.hooks.find(({ name }) => name === endpoint)
    if (hook === undefined) continue
    const key = `${hook.id} ${eventId}`
    const attempts = left.get(key) ?? 0
    if (attempts === 0) beyond.set(key, (beyond.get(key) ?? 0) + 1)
    else left.set(key, attempts - 1)
  }
  return beyond
}

/** Endpoint queues that are leased or due. */
export async function busyEndpointQueues(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ busy: number }>(
    'select count(*)::int as busy from endpoint_queues l where l.lease_id is not null or l.due_at is not null',
  )
  return rows[0]!.busy
}

/** Deliveries by status, and leased endpoint queues. */
export async function standing(pool: Pool) {
  const { rows } = await pool.query<{ status: string; count: number; attempts: number }>(
    `select d.status, count(*)::int as count, sum(d.attempt_count)::int as attempts from deliveries d group by d.status`,
  )
  const endpoint_queues = await pool.query(
    'select l.webhook_id from endpoint_queues l where l.lease_id is not null',
  )
  const of = (status: string) => rows.find((row) => row.status === status) ?? { count: 0, attempts: 0 }
  return {
    succeeded: of('succeeded').count,
    pending: of('pending').count,
    attempts: rows.reduce((sum, { attempts }) => sum + attempts, 0),
    leased: endpoint_queues.rows.length,
  }
}
